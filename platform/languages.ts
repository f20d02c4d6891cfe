/** Languages that what we write ourselves into mails and pages is there in. */
export const languages = ['en', 'de', 'fr', 'es', 'nl', 'pt', 'it'] as const;
export type Language = (typeof languages)[number];

/** The first of these that we speak, whether it is written `de`, `de-AT` or `DE_at`; English when there is none. */
export function languageOf(...wishes: unknown[]): Language {
  for (const wish of wishes) {
    const [tag] = typeof wish === 'string' ? wish.trim().toLowerCase().split(/[-_]/, 1) : [];
    const known = languages.find((language) => language === tag);
    if (known) return known;
  }
  return 'en';
}
