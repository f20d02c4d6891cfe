import type { Topic } from '../../db/models/topic.ts';

/** The texts of a topic in one language. */
export interface TopicTexts {
  name: string;
  description: string;
  consentText: string;
}

type Translated = Pick<Topic, 'name' | 'description' | 'consentText' | 'translations'>;

/** Returns each text in the first of the languages that has it (`pt-BR`, else `pt`), else as it was written. */
export function topicTexts(topic: Translated, ...locales: unknown[]): TopicTexts {
  const found = translationsIn(topic.translations, ...locales);
  const textOf = (field: keyof TopicTexts): string => found.find((texts) => texts[field])?.[field] ?? topic[field];
  return { name: textOf('name'), description: textOf('description'), consentText: textOf('consentText') };
}

/** Returns the translations that fit the languages, the closest first. */
export function translationsIn<T>(translations: Record<string, T>, ...locales: unknown[]): T[] {
  const known = new Map(Object.entries(translations).map(([locale, texts]) => [normalized(locale), texts] as const));
  return locales.flatMap(candidates).flatMap((locale) => known.get(locale) ?? []);
}

const normalized = (locale: string): string => locale.trim().toLowerCase().replaceAll('_', '-');

/** The tag and what it begins with: `zh-hant-tw`, `zh-hant`, `zh`. */
function candidates(locale: unknown): string[] {
  if (typeof locale !== 'string' || locale.length > 100) return [];
  const parts = normalized(locale).split('-');
  return parts.map((_part, n) => parts.slice(0, parts.length - n).join('-'));
}
