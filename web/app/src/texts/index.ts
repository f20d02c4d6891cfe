import type { audit } from './en/audit.ts';
import type { basics } from './en/basics.ts';
import type { brand, savedBlocks } from './en/brand.ts';
import type { canvas } from './en/canvas.ts';
import type { common } from './en/common.ts';
import type { details } from './en/details.ts';
import type { editor } from './en/editor.ts';
import type { everyday } from './en/everyday.ts';
import type { forms, hostedPages } from './en/forms.ts';
import type { en } from './en/index.ts';
import type { palette } from './en/palette.ts';
import type { playback } from './en/playback.ts';
import type { topics } from './en/topics.ts';
import type { workflows } from './en/workflows.ts';
import type { Language } from './language.ts';

/** The same texts with any words: a function that returns one of two texts has a narrower type than a string. */
type AnyWords<T> = T extends (...given: infer Given) => string
  ? (...given: Given) => string
  : T extends string
    ? string
    : { [Key in keyof T]: AnyWords<T[Key]> };

/** Texts that are loaded apart, by the part that they are loaded with. */
interface PartTexts {
  /** Of the pages of workflows. */
  workflows: { workflows: typeof workflows; canvas: typeof canvas; playback: typeof playback };
  /** Of the visual editor, and the pages that share fields with it. */
  editor: { editor: typeof editor; brand: typeof brand; savedBlocks: typeof savedBlocks };
  /** Of the pages of topics, and of what other pages show about topics. */
  topics: { topics: typeof topics };
  /** Of the pages of forms, and of the settings of hosted pages. */
  forms: { topics: typeof topics; forms: typeof forms; hostedPages: typeof hostedPages };
  /** Of the command palette. */
  palette: { palette: typeof palette };
  audit: { audit: typeof audit };
}
type Part = keyof PartTexts;
/** Texts that are in no other. */
export type AllParts = PartTexts['workflows'] &
  PartTexts['editor'] &
  PartTexts['forms'] &
  PartTexts['palette'] &
  PartTexts['audit'];

/** A language has every text of English, with the same parameters. A missing one is a compile error. */
export type Texts = AnyWords<typeof en & typeof details & AllParts>;
export type FrameTopic = keyof typeof common;
export type EverydayTopic = keyof typeof everyday;
export type BasicTopic = keyof typeof basics;
export type DetailTopic = keyof typeof details;

/** Texts are loaded in parts, because those of all pages would be a tenth of what a first visit loads. */
type Catalogue = { [Name in Part]: () => Promise<Pick<Texts, keyof PartTexts[Name] & keyof Texts>> } & {
  frame(): Promise<Pick<Texts, FrameTopic>>;
  everyday(): Promise<Pick<Texts, EverydayTopic>>;
  whole(): Promise<Omit<Texts, keyof AllParts | DetailTopic>>;
  details(): Promise<Pick<Texts, DetailTopic>>;
};

const catalogues: Record<Language, Catalogue> = {
  en: {
    frame: async () => (await import('./en/common.ts')).common,
    everyday: async () => (await import('./en/everyday.ts')).everyday,
    whole: async () => (await import('./en/index.ts')).en,
    details: async () => (await import('./en/details.ts')).details,
    workflows: async () => ({
      ...(await import('./en/workflows.ts')),
      ...(await import('./en/canvas.ts')),
      ...(await import('./en/playback.ts')),
    }),
    editor: async () => ({ ...(await import('./en/editor.ts')), ...(await import('./en/brand.ts')) }),
    topics: () => import('./en/topics.ts'),
    forms: () => import('./en/forms.ts'),
    palette: () => import('./en/palette.ts'),
    audit: () => import('./en/audit.ts'),
  },
  de: {
    frame: async () => (await import('./de/common.ts')).common,
    everyday: async () => (await import('./de/everyday.ts')).everyday,
    whole: async () => (await import('./de/index.ts')).de,
    details: async () => (await import('./de/details.ts')).details,
    workflows: async () => ({
      ...(await import('./de/workflows.ts')),
      ...(await import('./de/canvas.ts')),
      ...(await import('./de/playback.ts')),
    }),
    editor: async () => ({ ...(await import('./de/editor.ts')), ...(await import('./de/brand.ts')) }),
    topics: () => import('./de/topics.ts'),
    forms: () => import('./de/forms.ts'),
    palette: () => import('./de/palette.ts'),
    audit: () => import('./de/audit.ts'),
  },
};

/**
 * The texts of the application in the user's language. `main.ts` loads those of the frame before anything reads them, and
 * the router waits for those of a page before it loads the page. `test/unit/texts.test.ts` checks who may use which.
 */
export let t: Texts;

let catalogue: Catalogue | undefined;
let pages: { everyday: Promise<void>; whole: Promise<void> } | undefined;

const add = (texts: Partial<Texts> | undefined): void => {
  t = { ...t, ...texts };
};

export async function loadTexts(language: Language): Promise<void> {
  catalogue = catalogues[language];
  const frame = catalogue.frame().then(add);
  pages = {
    everyday: Promise.all([catalogue.everyday(), frame]).then(([texts]) => add(texts)),
    whole: Promise.all([catalogue.whole(), frame]).then(([texts]) => add(texts)),
  };
  // The router waits for them, and shows the error.
  for (const part of [pages.everyday, pages.whole]) part.catch(() => {});
  await frame;
}

const EVERYDAY =
  /^\/(?:sign-in|sign-up|forgot-password|p\/[^/]+\/?(?:$|(?:contacts|segments|templates|campaigns|emails|domains)(?:\/|$)))/;

const pagesOfParts: [path: RegExp, part: Part][] = [
  [/^\/p\/[^/]+\/(?:workflows|executions)(?:\/|$)/, 'workflows'],
  // Pages that edit emails, or share fields with their editor.
  [/^\/p\/[^/]+\/(?:(?:templates|campaigns)\/.|brand$|saved-blocks)/, 'editor'],
  [/^\/p\/[^/]+\/(?:topics|contacts\/import)/, 'topics'],
  [/^\/p\/[^/]+\/forms/, 'forms'],
  // The page about security shows the actions of its account.
  [/^\/p\/[^/]+\/(?:audit|security)/, 'audit'],
];

/** Resolves when the texts of the page at a path are loaded. */
export async function textsOf(pathname: string): Promise<void> {
  await (EVERYDAY.test(pathname) ? pages?.everyday : pages?.whole);
  for (const [path, part] of pagesOfParts) if (path.test(pathname)) await partTexts(part);
}

/** Resolves when the texts of a part are loaded; components that other pages show too load them with their code. */
export async function partTexts(part: Part): Promise<void> {
  if (part === 'workflows' || part === 'editor') add(await catalogue?.details());
  add(await catalogue?.[part]());
}
