/** The languages of our own texts in mails and pages. */
export const languages = ['en', 'de', 'fr', 'es', 'nl', 'pt', 'it'] as const;
export type Language = (typeof languages)[number];

/** The languages of the web application and of mail to its users. */
export const accountLanguages = ['en', 'de'] as const;
export type AccountLanguage = (typeof accountLanguages)[number];

/** The chosen language of a user, who has chosen none in the case of null. */
export const accountLanguageOf = (chosen: string | null): AccountLanguage =>
  accountLanguages.find((language) => language === chosen) ?? 'en';

/** Returns the first supported language of the tags (`de`, `de-AT` or `DE_at`), or English. */
export function languageOf(...tags: unknown[]): Language {
  for (const tag of tags) {
    const [primary] = typeof tag === 'string' ? tag.trim().toLowerCase().split(/[-_]/, 1) : [];
    const supported = languages.find((language) => language === primary);
    if (supported) return supported;
  }
  return 'en';
}

/** The first supported language of an `Accept-Language` header, or English. */
export const spokenLanguage = (acceptLanguage = ''): Language =>
  languageOf(...acceptLanguage.split(',').map((tag) => tag.split(';')[0]));
