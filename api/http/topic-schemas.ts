import joi from 'joi';
import type { TopicState, TopicTranslation } from '../../db/models/topic.ts';
import type { ConsentEvidence } from '../../services/access/consent-context.ts';
import { confirmationModes } from '../../services/topics/choices.ts';
import { topicDefaults, topicStates } from '../../services/topics/save.ts';
import { namedType, object, oneOf, optional, text } from './schemas.ts';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

const MAX_TOPICS = 100;
const MAX_LOCALES = 50;
const MAX_TEXT = 5_000;
const MAX_SHORT = 500;

/** A key or an id. */
export const topicKeyOrId = (): Typed<string> =>
  joi
    .string()
    .pattern(/^[A-Za-z0-9_-]+$/)
    .max(50)
    .required();

const statesByTopic = <State extends TopicState>(...states: readonly State[]): Typed<Record<string, State>> =>
  documented(
    joi
      .object()
      .pattern(/^/, oneOf(...states))
      .max(MAX_TOPICS)
      .required(),
    {
      maxProperties: MAX_TOPICS,
    },
  );

/** Choices by key or id of the topic. */
export const topicChoices = () => statesByTopic(...topicDefaults);

/** States by key or id of the topic, PENDING included. */
export const statesOfTopics = () => statesByTopic(...topicStates);

/** Hours until a reminder or an expiry; whole ones in production. */
export const hours = (): Typed<number> => joi.number().min(0.001).max(2_160).required();

export const confirmationMode = () => oneOf(...confirmationModes);

const pastTime = (): Typed<string> =>
  documented(
    joi
      .string()
      .isoDate()
      .custom((value: string, helpers) => {
        const at = Date.parse(value);
        if (Number.isNaN(at)) return refuse(helpers, 'custom', 'must be an ISO 8601 date-time with its offset');
        return at > Date.now() ? refuse(helpers, 'custom', 'must not be in the future') : value;
      })
      .required(),
    { format: 'date-time' },
  );

/** Proof of consent that the caller obtained. */
export const givenConsent = (): Typed<ConsentEvidence> =>
  namedType('GivenConsent', 'Proof of consent that you obtained; stored with the consent record.', {
    at: optional(pastTime()).description('When the contact agreed; not in the future.').example('2026-01-31T09:00:00Z'),
    ip: optional(text({ max: MAX_SHORT })).description('IP address of the contact.'),
    source: optional(text({ max: MAX_SHORT }))
      .description('Where the contact agreed.')
      .example('Order form'),
    text: optional(text({ max: MAX_TEXT })).description('What the contact agreed to, word for word.'),
    note: optional(text({ max: MAX_SHORT })).description('Anything else.'),
  });

/** Texts of a topic by BCP 47 tag. */
export const topicTranslations = (): Typed<Record<string, TopicTranslation>> => {
  const translation = object({
    name: optional(text({ max: 100 })).description('Name in this language.'),
    description: optional(text({ min: 0, max: MAX_SHORT })).description('Description in this language.'),
    consentText: optional(text({ min: 0, max: MAX_TEXT })).description('Consent text in this language.'),
  });
  return byLocale(translation);
};

/** Values by BCP 47 tag. */
export const byLocale = <T>(value: Typed<T>): Typed<Record<string, T>> =>
  documented(
    joi
      .object()
      .pattern(/^/, value)
      .max(MAX_LOCALES)
      .custom((given: Record<string, unknown>, helpers) => {
        const broken = Object.keys(given).find((locale) => !isLocale(locale));
        return broken === undefined
          ? given
          : refuse(helpers, 'custom', `must not have "${broken.slice(0, 40)}", which is no BCP 47 language tag`);
      })
      .required(),
    {
      maxProperties: MAX_LOCALES,
      propertyNames: { pattern: '^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$' },
    },
  );

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
