import { en } from './en/index.ts';

/** A language has every text of English, with the same parameters. */
export type Texts = typeof en;

/** The texts of the application in the user's language. */
export const t: Texts = en;
