import type { LimitReason } from './language/budget.ts';
import type { Mail } from './mail.ts';
import type { Outline } from './outline.ts';

/** One mail to be made. */
export interface Order {
  /** A template, written at the end of the body. */
  footer: string;
  /** JSON: of what it needs, the child reads one at a time. */
  variables: string;
}

/** Mails of one template. */
export interface Group {
  subject: string;
  html: string;
  plain: boolean;
  /** Each is told once; orders name them by number. */
  footers: string[];
  orders: { footer: number; variables: string }[];
}

/** From the parent: one batch at a time. */
export type Batch = Group[];

export type RefusalReason = LimitReason | 'memory' | 'error';

export interface Refusal {
  ok: false;
  reason: RefusalReason;
  message: string;
}

export type Rendered = ({ ok: true } & Mail) | Refusal;

/** From the child: results in the order of the batch, as they are there; an empty list says that it is ready. */
export interface Results {
  /** Each is told once, however many results name it. */
  outlines: Outline[];
  /** Null stands for a mail that was not tried, because one of the same template broke a limit. */
  results: (Result | null)[];
}

/** A mail by the number of its outline and its values, where it has one. */
export type Result = { ok: true; subject: string; outline: number; values: string[] } | Rendered;

/** What the variables of a mail are made of. */
export interface Variables {
  /** Seen as `key` and as `data.key`. */
  data: Record<string, unknown>;
  /** Names of the service; they win over the keys of `data`. */
  builtIn: Record<string, unknown>;
}
