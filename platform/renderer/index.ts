import { availableParallelism } from 'node:os';
import type { Logger } from '../logger.ts';
import { FixedMails } from './fixed.ts';
import type { MailSources } from './mail.ts';
import { Pool } from './pool.ts';
import type { Rendered, Variables } from './protocol.ts';
import type { ProcessLimits } from './renderer-process.ts';

export { bodyEnd } from './body-end.ts';
export { fixedSubject } from './fixed.ts';
export { escapeHtml } from './language/escape.ts';
export { marksIn, putTogether, takeApart } from './language/marks.ts';
export type { TemplateViolation } from './language/syntax-error.ts';
export { checkTemplate } from './language/template.ts';
export type { Mail } from './mail.ts';
export type { Outline, Outlined } from './outline.ts';
export { plainMail } from './plain-mail.ts';
export type { Refusal, RefusalReason, Rendered, Variables } from './protocol.ts';

export interface RenderItem extends Variables {
  /** A template, written at the end of the body. */
  footer?: string;
}

/** Mails of one template: a transactional mail alone, or hundreds of a campaign. */
export interface RenderJob extends MailSources {
  items: RenderItem[];
}

export interface Renderer {
  /**
   * One result per item, in their order. A text that is no template has its variables replaced; a mail that breaks a
   * limit is refused, alone. Fails only when nothing can be rendered at all: then it is worth trying again.
   */
  render(job: RenderJob): Promise<Rendered[]>;
  /** Of the processes that there are now. */
  readonly pids: number[];
  close(): Promise<void>;
}

export interface RendererOptions {
  log: Logger;
  processes?: number;
  limits?: Partial<ProcessLimits>;
}

/** No template is known that comes near these: what it may do is counted while it does it. They are the net below. */
const LIMITS: ProcessLimits = { silenceMs: 5_000, heapMb: 256 };

/** Starts nothing yet; processes come with the first work. */
export function createRenderer({ log, processes, limits }: RendererOptions): Renderer {
  const pool = new Pool({
    processes: processes ?? Math.min(2, availableParallelism()),
    limits: { ...LIMITS, ...limits },
    log,
  });
  const fixed = new FixedMails();
  return {
    render: async ({ subject, html, plain = false, items }) => {
      const mayBeFixed = !plain && items.every(({ footer }) => !footer);
      const known = mayBeFixed ? fixed.find({ subject, html }) : undefined;
      if (known) return items.map(() => known);
      const results = await pool.render(
        { subject, html, plain },
        items.map(({ data, builtIn, footer = '' }) => ({ footer, variables: JSON.stringify({ data, builtIn }) })),
      );
      if (mayBeFixed) fixed.keep({ subject, html }, results[0]);
      return results;
    },
    get pids() {
      return pool.pids;
    },
    close: () => pool.close(),
  };
}
