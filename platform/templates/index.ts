import { availableParallelism } from 'node:os';
import type { ProcessLimits } from '../limited-process.ts';
import type { Logger } from '../logger.ts';
import { processTimings } from '../timings.ts';
import { FixedMails } from './fixed.ts';
import type { MailSources } from './mail.ts';
import { Pool } from './pool.ts';
import type { Rendered, Variables } from './protocol.ts';

export { bodyEnd } from './body-end.ts';
export { fixedSubject } from './fixed.ts';
export { escapeHtml } from './language/escape.ts';
export { fillPlaceholders, placeholdersIn, splitAtPlaceholders } from './language/placeholders.ts';
export type { TemplateViolation } from './language/syntax-error.ts';
export { splitAtTags } from './language/tags.ts';
export { checkExpression, checkTemplate } from './language/template.ts';
export { type UsedVariable, usedVariables } from './language/used-variables.ts';
export type { Mail } from './mail.ts';
export { plainMail } from './plain-mail.ts';
export type { Refusal, RefusalReason, Rendered, Variables } from './protocol.ts';
export type { SkeletonMail, TemplateSkeleton } from './skeleton.ts';

export interface RenderItem extends Variables {
  /** A template, rendered at the end of the body. */
  footer?: string;
}

/** Mails of one template: a single transactional mail, or hundreds of a campaign. */
export interface RenderJob extends MailSources {
  items: RenderItem[];
}

export interface Renderer {
  /**
   * Returns one result per item, in order. Replaces the variables of a text that is no valid template; refuses a mail
   * that breaks a limit. Rejects only when no process can be started, which is worth a retry.
   */
  render(job: RenderJob): Promise<Rendered[]>;
  /** Starts a process before there is a job, unless one runs. */
  warm(): void;
  /** Process ids of the running renderer processes. */
  readonly pids: number[];
  close(): Promise<void>;
}

export interface RendererOptions {
  log: Logger;
  processes?: number;
  limits?: Partial<ProcessLimits>;
  /** After which a process without work ends. */
  keepMs?: number;
}

/** A second line of defence: the budget (language/budget.ts) stops every known template long before these. */
const LIMITS: ProcessLimits = { silenceMs: 5_000, heapMb: 256 };

/** Processes start with the first job, and end when there is none for a while. */
export function createRenderer({ log, processes, limits, keepMs }: RendererOptions): Renderer {
  const pool = new Pool({
    processes: processes ?? Math.min(2, availableParallelism()),
    limits: { ...LIMITS, ...limits },
    keepMs: keepMs ?? processTimings.limitedProcess.keep,
    log,
  });
  const fixed = new FixedMails();
  return {
    render: async ({ subject, html, plain = false, items }) => {
      const mayBeFixed = !plain && items.every(({ footer }) => !footer);
      const cached = mayBeFixed ? fixed.find({ subject, html }) : undefined;
      if (cached) return items.map(() => cached);
      const results = await pool.render(
        { subject, html, plain },
        items.map(({ data, builtIn, footer = '' }) => ({ footer, variables: JSON.stringify({ data, builtIn }) })),
      );
      if (mayBeFixed) fixed.store({ subject, html }, results[0]);
      return results;
    },
    warm: () => pool.warm(),
    get pids() {
      return pool.pids;
    },
    close: () => pool.close(),
  };
}
