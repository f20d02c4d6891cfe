import type { LimitReason } from './language/budget.ts';
import type { Mail } from './mail.ts';
import type { TemplateSkeleton } from './skeleton.ts';

/** The inputs of one mail. */
export interface RenderInput {
  /** A template, rendered at the end of the body. */
  footer: string;
  /** JSON, which the child parses one mail at a time to save memory. */
  variables: string;
}

/** Mails of one template. */
export interface TemplateGroup {
  subject: string;
  html: string;
  plain: boolean;
  /** Distinct footers; mails refer to them by index. */
  footers: string[];
  mails: { footer: number; variables: string }[];
}

/** The message from the parent, which sends one batch at a time. */
export type RenderBatch = TemplateGroup[];

export type RefusalReason = LimitReason | 'memory' | 'error';

export interface Refusal {
  ok: false;
  reason: RefusalReason;
  message: string;
}

export type Rendered = ({ ok: true } & Mail) | Refusal;

/** From the child: results in batch order, streamed; an empty list says that it is ready. */
export interface EncodedResults {
  /** Distinct skeletons; results refer to them by index. */
  skeletons: TemplateSkeleton[];
  /** Null for a mail that was not tried because another mail of its template broke a limit. */
  results: (EncodedResult | null)[];
}

/** A mail as the index of its skeleton and its values, or whole. */
export type EncodedResult = { ok: true; subject: string; skeleton: number; values: string[] } | Rendered;

/** The variables of a mail. */
export interface Variables {
  /** Available as `key` and as `data.key`. */
  data: Record<string, unknown>;
  /** Built-in variables; they take precedence over the keys of `data`. */
  builtIn: Record<string, unknown>;
}
