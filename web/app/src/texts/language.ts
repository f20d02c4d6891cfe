// Which language the application speaks. It is known before the first module with texts is loaded.

/** The languages that have a catalogue, each named in itself. */
export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

const STORED = 'everpost.language';

const known = (tag: string | null): Language | undefined => {
  const language = tag?.toLowerCase().split('-')[0] ?? '';
  return Object.hasOwn(languages, language) ? (language as Language) : undefined;
};

/** What the user has chosen; undefined follows the browser. */
export const chosenLanguage = (): Language | undefined => known(localStorage.getItem(STORED));

/** The user's choice, or else the first language of the browser that has a catalogue. */
export const currentLanguage = (): Language =>
  chosenLanguage() ?? navigator.languages.map(known).find((language) => language !== undefined) ?? 'en';

/**
 * Keeps the choice in this browser, where the pages before the sign-in find it, and begins anew: texts are read when modules
 * are loaded.
 */
export function chooseLanguage(language: Language | undefined): void {
  if (language) localStorage.setItem(STORED, language);
  else localStorage.removeItem(STORED);
  window.location.reload();
}

/** Takes over what the account has chosen, perhaps in another browser. Returns whether the page is loaded again for it. */
export function followAccount(language: Language | null): boolean {
  if (!language || language === chosenLanguage()) return false;
  const isShown = language === currentLanguage();
  localStorage.setItem(STORED, language);
  // Where the browser stores nothing, loading again would never end.
  if (isShown || chosenLanguage() !== language) return false;
  window.location.reload();
  return true;
}
