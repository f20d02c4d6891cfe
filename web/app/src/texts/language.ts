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

/** Texts are read when modules are loaded, so another language begins with a new load. */
export function chooseLanguage(language: Language | undefined): void {
  if (language) localStorage.setItem(STORED, language);
  else localStorage.removeItem(STORED);
  window.location.reload();
}
