/** The languages of our own texts in mails and pages. */
export const languages = ['en', 'de', 'fr', 'es', 'nl', 'pt', 'it'] as const;
export type Language = (typeof languages)[number];

/** Returns the first supported language of the tags (`de`, `de-AT` or `DE_at`), or English. */
export function languageOf(...tags: unknown[]): Language {
  for (const tag of tags) {
    const [primary] = typeof tag === 'string' ? tag.trim().toLowerCase().split(/[-_]/, 1) : [];
    const supported = languages.find((language) => language === primary);
    if (supported) return supported;
  }
  return 'en';
}
