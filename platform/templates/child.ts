// The process that renders templates. It has no files, no network, no secrets and little memory, so that it can be killed
// at any time without harm to mail of other templates.
import { LimitError } from './language/budget.ts';
import { type MailSources, renderMail } from './mail.ts';
import type { EncodedResults, Refusal, RenderBatch, Variables } from './protocol.ts';
import type { SkeletonMail, TemplateSkeleton } from './skeleton.ts';

/** Results are flushed by size, and by time because the parent takes silence for an endless loop. */
const FLUSH_CHARACTERS = 256 * 1024;
const FLUSH_MS = 100;

type Outcome =
  | { ok: true; subject: string; skeletonMail: SkeletonMail }
  | { ok: true; subject: string; html: string; text: string; skeletonMail?: never }
  | Refusal;

function render(sources: MailSources, footer: string, variables: string): Outcome {
  try {
    const { data, builtIn } = JSON.parse(variables) as Variables;
    // Without a prototype, a name that was not given is undefined.
    const names: Record<string, unknown> = Object.assign(Object.create(null), data, builtIn, { data });
    const mail = renderMail(sources, footer, names);
    const { subject, skeletonMail } = mail;
    return skeletonMail ? { ok: true, subject, skeletonMail } : { ok: true, subject, html: mail.html, text: mail.text };
  } catch (error) {
    const reason = error instanceof LimitError ? error.reason : 'error';
    return { ok: false, reason, message: error instanceof Error ? error.message : String(error) };
  }
}

/** Holds results that are not sent to the parent yet. */
class ResultBuffer {
  private readonly results: EncodedResults['results'] = [];
  private readonly skeletons = new Map<TemplateSkeleton, number>();
  private size = 0;
  private readonly createdAt = performance.now();

  add(outcome: Outcome | null): void {
    if (!outcome?.ok) this.results.push(outcome);
    else if (outcome.skeletonMail) this.addSkeletonMail(outcome.subject, outcome.skeletonMail);
    else {
      this.results.push(outcome);
      this.size += outcome.html.length + outcome.text.length;
    }
  }

  private addSkeletonMail(subject: string, { skeleton, values }: SkeletonMail): void {
    let number = this.skeletons.get(skeleton);
    if (number === undefined) {
      number = this.skeletons.size;
      this.skeletons.set(skeleton, number);
      this.size += skeleton.html.length * 2;
    }
    this.results.push({ ok: true, subject, skeleton: number, values });
    for (const value of values) this.size += value.length;
  }

  get isDue(): boolean {
    return this.size >= FLUSH_CHARACTERS || performance.now() - this.createdAt >= FLUSH_MS;
  }

  get isEmpty(): boolean {
    return this.results.length === 0;
  }

  /** Waits until the message is written, so that messages do not pile up in this process. */
  send(): Promise<void> {
    const message: EncodedResults = { skeletons: [...this.skeletons.keys()], results: this.results };
    return new Promise((resolve) => {
      if (process.send) process.send(message, undefined, {}, () => resolve());
      else resolve();
    });
  }
}

async function work(batch: RenderBatch): Promise<void> {
  let buffer = new ResultBuffer();
  for (const group of batch) {
    let limitBroken = false;
    for (const { footer, variables } of group.mails) {
      const outcome: Outcome | null = limitBroken ? null : render(group, group.footers[footer] ?? '', variables);
      buffer.add(outcome);
      if (outcome && !outcome.ok) limitBroken = outcome.reason !== 'error';
      if (!buffer.isDue) continue;
      await buffer.send();
      buffer = new ResultBuffer();
    }
  }
  if (!buffer.isEmpty) await buffer.send();
}

// Ctrl-C in a terminal reaches every process; the parent decides when this one ends.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', (batch: RenderBatch) => void work(batch));
void new ResultBuffer().send();
