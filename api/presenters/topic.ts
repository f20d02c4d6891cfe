import joi from 'joi';
import { consentMethods } from '../../services/access/consent-context.ts';
import { type ContactTopics, frequencyUnits } from '../../services/topics/choices.ts';
import { type Consent, consentActions } from '../../services/topics/consents.ts';
import type { TopicView } from '../../services/topics/list.ts';
import { topicDefaults, topicKinds, topicStates, topicVisibilities } from '../../services/topics/save.ts';
import {
  dateTime,
  email,
  flag,
  list,
  namedType,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { hours } from '../http/topic-schemas.ts';
import type { Typed } from '../http/typed.ts';

const translation = object({
  name: optional(text()).description('Name in this language.'),
  description: optional(text({ min: 0 })).description('Description in this language.'),
  consentText: optional(text({ min: 0 })).description('Consent text in this language.'),
});

const translations = (): Typed<Record<string, object>> => joi.object().pattern(/^/, translation).required();

export const topicSchema = namedType('Topic', 'What contacts can join and leave on their own.', {
  id: uuid().description('Topic ID.'),
  key: text().description('Name in events, conditions and requests; fixed.'),
  name: text().description('Name of the topic.'),
  description: text({ min: 0 }).description('What the topic is about.'),
  kind: oneOf(...topicKinds).description('Whether marketing or transactional email goes with it; fixed.'),
  defaultState: oneOf(...topicDefaults).description('State of contacts without a choice that are created from now on.'),
  visibility: oneOf(...topicVisibilities).description('Whether the page of every contact shows it.'),
  doubleOptIn: flag().description('Whether SUBSCRIBED needs a confirmation by email.'),
  confirmation: nullable(
    object({
      templateId: nullable(uuid()).description('Template of the confirmation; null for the built-in one.'),
      from: nullable(email()).description('Sender address.'),
      fromName: nullable(text()).description('Sender name.'),
      reminderAfterHours: nullable(hours()).description('Hours until the reminder; null for none.'),
      expiresAfterHours: hours().description('Hours until the confirmation expires.'),
    }),
  ).description('How the choice is confirmed; null for the defaults.'),
  consentText: text({ min: 0 }).description('Wording that is shown with the choice.'),
  translations: translations().description('Texts by locale.'),
  position: wholeNumber({ min: 1 }).description('Place in the list.'),
  archived: flag().description('Whether it is hidden and refuses new use.'),
  counts: object({
    subscribed: wholeNumber({ min: 0 }).description('Contacts whose state is SUBSCRIBED.'),
    unsubscribed: wholeNumber({ min: 0 }).description('Contacts whose state is UNSUBSCRIBED.'),
    pending: wholeNumber({ min: 0 }).description('Contacts whose state is PENDING.'),
    estimated: flag().description('Whether the numbers are estimates.'),
  }).description('Effective states of all contacts, whatever their subscription.'),
  projectId: uuid().description('Project ID.'),
  createdAt: dateTime().description('When the topic was created.'),
  updatedAt: dateTime().description('When the topic last changed.'),
});

export const presentTopic = ({ topic, counts }: TopicView) => ({
  id: topic.id,
  key: topic.key,
  name: topic.name,
  description: topic.description,
  kind: topic.kind,
  defaultState: topic.defaultState,
  visibility: topic.visibility,
  doubleOptIn: topic.doubleOptIn,
  confirmation: topic.confirmation,
  consentText: topic.consentText,
  translations: topic.translations,
  position: topic.position,
  archived: topic.archived,
  counts,
  projectId: topic.projectId,
  createdAt: topic.createdAt.toISOString(),
  updatedAt: topic.updatedAt.toISOString(),
});

const contactTopic = namedType('ContactTopic', 'The state of a topic for a contact.', {
  topicId: uuid().description('Topic ID.'),
  key: text().description('Key of the topic.'),
  name: text().description('Name of the topic.'),
  kind: oneOf(...topicKinds).description('Whether marketing or transactional email goes with it.'),
  state: oneOf(...topicStates).description('Effective state; PENDING waits for a confirmation.'),
  source: oneOf('CHOICE', 'DEFAULT').description('Whether the contact chose it, or has the default.'),
  since: dateTime().description('Since when the state holds.'),
  consentId: nullable(uuid()).description('Consent record of the choice.'),
});

export const contactTopicsSchema = namedType('ContactTopics', 'What a contact receives.', {
  subscribed: flag().description('Whether the contact receives marketing email at all.'),
  snoozedUntil: nullable(dateTime()).description('Until when marketing email is skipped.'),
  frequency: nullable(
    object({
      count: wholeNumber({ min: 1, max: 31 }).description('Most emails in the period.'),
      per: oneOf(...frequencyUnits).description('The period.'),
    }),
  ).description("The contact's own limit; null for none."),
  data: list(contactTopic).description('Topics by position.'),
});

export const presentContactTopics = ({ subscribed, snoozedUntil, frequency, topics }: ContactTopics) => ({
  subscribed,
  snoozedUntil: snoozedUntil?.toISOString() ?? null,
  frequency,
  data: topics.map(({ since, ...topic }) => ({ ...topic, since: since.toISOString() })),
});

export const consentSchema = namedType('Consent', 'A record of what a contact agreed to or withdrew.', {
  id: uuid().description('Record ID.'),
  at: dateTime().description('When it happened.'),
  contactId: uuid().description('Contact ID.'),
  email: nullable(email()).description('Address; null where only its hash is stored.'),
  topicId: nullable(uuid()).description('Topic ID; null for all email.'),
  action: oneOf(...consentActions).description('What happened.'),
  method: oneOf(...consentMethods).description('How it happened.'),
  ip: nullable(text()).description('IP address of the contact.'),
  userAgent: nullable(text({ min: 0 })).description('Browser or mail program of the contact.'),
  pageUrl: nullable(text()).description('Page with the form.'),
  locale: nullable(text()).description('Language of the text.'),
  formId: nullable(uuid()).description('Form ID.'),
  formVersion: nullable(wholeNumber({ min: 1 })).description('Version of the form.'),
  textId: nullable(uuid()).description('ID of the wording.'),
  text: nullable(text({ min: 0 })).description('What was shown, word for word.'),
  emailId: nullable(uuid()).description('Email whose link was used.'),
  actor: nullable(
    object({
      type: oneOf('USER', 'KEY', 'SYSTEM').description('Kind of actor.'),
      id: nullable(uuid()).description('ID of the user or key.'),
    }),
  ).description('User or key that changed it.'),
  requestId: nullable(text()).description('ID of the request.'),
  evidence: nullable(record()).description('What the caller gave as `consent`.').example({ source: 'Order form' }),
});

export const presentConsent = ({ at, ...consent }: Consent) => ({ ...consent, at: at.toISOString() });
