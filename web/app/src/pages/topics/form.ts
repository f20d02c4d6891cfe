// A topic as its editor has it.
import type { CreateTopicRequest, Topic } from '../../api/api-types.ts';

export interface TopicTexts {
  name: string;
  description: string;
  consentText: string;
}

/** Of the texts that have no language. */
export const DEFAULT = 'default';

export interface TopicForm {
  key: string;
  kind: Topic['kind'];
  defaultState: Topic['defaultState'];
  visibility: Topic['visibility'];
  doubleOptIn: boolean;
  templateId: string;
  from: string;
  fromName: string;
  reminderAfterHours: number | '';
  expiresAfterHours: number | '';
  /** By locale; the texts of the topic itself under DEFAULT. */
  texts: Record<string, TopicTexts>;
}

export const noTexts = (): TopicTexts => ({ name: '', description: '', consentText: '' });

export const REMINDER_HOURS = 48;
export const EXPIRY_HOURS = 168;

export const emptyForm = (): TopicForm => ({
  key: '',
  kind: 'MARKETING',
  defaultState: 'UNSUBSCRIBED',
  visibility: 'PUBLIC',
  doubleOptIn: false,
  templateId: '',
  from: '',
  fromName: '',
  reminderAfterHours: REMINDER_HOURS,
  expiresAfterHours: EXPIRY_HOURS,
  texts: { [DEFAULT]: noTexts() },
});

export function formOf(topic: Topic): TopicForm {
  const { key, kind, defaultState, visibility, doubleOptIn, confirmation, name, description, consentText } = topic;
  const translated = Object.entries(topic.translations).map(([locale, texts]) => [locale, { ...noTexts(), ...texts }]);
  return {
    key,
    kind,
    defaultState,
    visibility,
    doubleOptIn,
    templateId: confirmation?.templateId ?? '',
    from: confirmation?.from ?? '',
    fromName: confirmation?.fromName ?? '',
    reminderAfterHours: confirmation ? (confirmation.reminderAfterHours ?? '') : REMINDER_HOURS,
    expiresAfterHours: confirmation?.expiresAfterHours ?? EXPIRY_HOURS,
    texts: { [DEFAULT]: { name, description, consentText }, ...Object.fromEntries(translated) },
  };
}

/** The body of the API; key and kind are those of a new topic. */
export function requestOf(form: TopicForm): Omit<CreateTopicRequest, 'key' | 'kind'> {
  const { [DEFAULT]: own = noTexts(), ...translated } = form.texts;
  return {
    name: own.name.trim(),
    description: own.description.trim(),
    consentText: own.consentText.trim(),
    defaultState: form.doubleOptIn ? 'UNSUBSCRIBED' : form.defaultState,
    visibility: form.visibility,
    doubleOptIn: form.doubleOptIn,
    confirmation: form.doubleOptIn ? confirmationOf(form) : null,
    translations: Object.fromEntries(
      Object.entries(translated).map(([locale, texts]) => [locale, writtenTexts(texts)] as const),
    ),
  };
}

const confirmationOf = ({ templateId, from, fromName, reminderAfterHours, expiresAfterHours }: TopicForm) => ({
  templateId: templateId || null,
  from: from.trim() || null,
  fromName: fromName.trim() || null,
  reminderAfterHours: reminderAfterHours === '' ? null : reminderAfterHours,
  ...(expiresAfterHours !== '' && { expiresAfterHours }),
});

/** A text that is left empty is the default one. */
const writtenTexts = (texts: TopicTexts): Partial<TopicTexts> =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([name, text]) => [name, text.trim()])
      .filter(([, text]) => text !== ''),
  );

/** The texts of a locale, with the default ones where it has none. */
export function shownTexts(texts: TopicForm['texts'], locale: string): TopicTexts {
  const own = texts[DEFAULT] ?? noTexts();
  const translated = texts[locale] ?? own;
  return {
    name: translated.name || own.name,
    description: translated.description || own.description,
    consentText: translated.consentText || own.consentText,
  };
}

/** The canonical form of a language tag; undefined for what is none. */
export function localeOf(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.trim())[0];
  } catch {
    return undefined;
  }
}
