import type { canvas } from './en/canvas.ts';
import type { common } from './en/common.ts';
import type { everyday } from './en/everyday.ts';
import type { en } from './en/index.ts';
import type { playback } from './en/playback.ts';
import type { workflows } from './en/workflows.ts';
import type { Language } from './language.ts';

/** The same texts with any words: a function that returns one of two texts has a narrower type than a string. */
type AnyWords<T> = T extends (...given: infer Given) => string
  ? (...given: Given) => string
  : T extends string
    ? string
    : { [Key in keyof T]: AnyWords<T[Key]> };

/** Texts that only the pages of workflows show. */
interface WorkflowTexts {
  workflows: typeof workflows;
  canvas: typeof canvas;
  playback: typeof playback;
}

/** A language has every text of English, with the same parameters. A missing one is a compile error. */
export type Texts = AnyWords<typeof en & WorkflowTexts>;
export type FrameTopic = keyof typeof common;
export type EverydayTopic = keyof typeof everyday;

/** Texts are loaded in parts, because those of all pages would be a tenth of what a first visit loads. */
interface Catalogue {
  frame(): Promise<Pick<Texts, FrameTopic>>;
  everyday(): Promise<Pick<Texts, EverydayTopic>>;
  whole(): Promise<Omit<Texts, keyof WorkflowTexts>>;
  workflows(): Promise<Pick<Texts, keyof WorkflowTexts>>;
}

const catalogues: Record<Language, Catalogue> = {
  en: {
    frame: async () => (await import('./en/common.ts')).common,
    everyday: async () => (await import('./en/everyday.ts')).everyday,
    whole: async () => (await import('./en/index.ts')).en,
    workflows: async () => ({
      ...(await import('./en/workflows.ts')),
      ...(await import('./en/canvas.ts')),
      ...(await import('./en/playback.ts')),
    }),
  },
  de: {
    frame: async () => (await import('./de/common.ts')).common,
    everyday: async () => (await import('./de/everyday.ts')).everyday,
    whole: async () => (await import('./de/index.ts')).de,
    workflows: async () => ({
      ...(await import('./de/workflows.ts')),
      ...(await import('./de/canvas.ts')),
      ...(await import('./de/playback.ts')),
    }),
  },
};

/**
 * The texts of the application in the user's language. `main.ts` loads those of the frame before anything reads them, and
 * the router waits for those of a page before it loads the page. `test/unit/texts.test.ts` checks who may use which.
 */
export let t: Texts;

let parts: { everyday: Promise<void>; whole: Promise<void>; workflows(): Promise<void> } | undefined;

export async function loadTexts(language: Language): Promise<void> {
  const catalogue = catalogues[language];
  const add = (texts: Partial<Texts>) => {
    t = { ...t, ...texts };
  };
  const frame = catalogue.frame().then(add);
  parts = {
    everyday: Promise.all([catalogue.everyday(), frame]).then(([texts]) => add(texts)),
    whole: Promise.all([catalogue.whole(), frame]).then(([texts]) => add(texts)),
    workflows: async () => add(await catalogue.workflows()),
  };
  // The router waits for them, and shows the error.
  for (const part of [parts.everyday, parts.whole]) part.catch(() => {});
  await frame;
}

const EVERYDAY =
  /^\/(?:sign-in|sign-up|forgot-password|p\/[^/]+\/?(?:$|(?:contacts|segments|templates|campaigns|emails|domains)(?:\/|$)))/;

const WORKFLOWS = /^\/p\/[^/]+\/(?:workflows|executions)(?:\/|$)/;

/** Resolves when the texts of the page at a path are loaded. */
export async function textsOf(pathname: string): Promise<void> {
  await (EVERYDAY.test(pathname) ? parts?.everyday : parts?.whole);
  if (WORKFLOWS.test(pathname)) await parts?.workflows();
}
