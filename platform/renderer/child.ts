// The process that templates are rendered in: it knows no files, no network and no secrets, has little memory, and can be
// killed at any moment without harm to anybody else's mail.
import { LimitError } from './language/budget.ts';
import { type MailSources, renderMail } from './mail.ts';
import type { Outline, Outlined } from './outline.ts';
import type { Batch, Refusal, Results, Variables } from './protocol.ts';

/** Results go out after so much of them, and after so much time, since the parent takes silence for an endless loop. */
const FLUSH_CHARACTERS = 256 * 1024;
const FLUSH_MS = 100;

type Made =
  | { ok: true; subject: string; outlined: Outlined }
  | { ok: true; subject: string; html: string; text: string; outlined?: never }
  | Refusal;

function render(sources: MailSources, footer: string, variables: string): Made {
  try {
    const { data, builtIn } = JSON.parse(variables) as Variables;
    // Without a prototype: a name that was not given is not there.
    const names: Record<string, unknown> = Object.assign(Object.create(null), data, builtIn, { data });
    const mail = renderMail(sources, footer, names);
    const { subject, outlined } = mail;
    return outlined ? { ok: true, subject, outlined } : { ok: true, subject, html: mail.html, text: mail.text };
  } catch (error) {
    const reason = error instanceof LimitError ? error.reason : 'error';
    return { ok: false, reason, message: error instanceof Error ? error.message : String(error) };
  }
}

/** What is there and not sent yet. */
class Answer {
  private readonly results: Results['results'] = [];
  private readonly outlines = new Map<Outline, number>();
  private size = 0;
  private readonly since = performance.now();

  add(made: Made | null): void {
    if (!made?.ok) this.results.push(made);
    else if (made.outlined) this.addOutlined(made.subject, made.outlined);
    else {
      this.results.push(made);
      this.size += made.html.length + made.text.length;
    }
  }

  private addOutlined(subject: string, { outline, values }: Outlined): void {
    let number = this.outlines.get(outline);
    if (number === undefined) {
      number = this.outlines.size;
      this.outlines.set(outline, number);
      this.size += outline.html.length * 2;
    }
    this.results.push({ ok: true, subject, outline: number, values });
    for (const value of values) this.size += value.length;
  }

  get isDue(): boolean {
    return this.size >= FLUSH_CHARACTERS || performance.now() - this.since >= FLUSH_MS;
  }

  get isEmpty(): boolean {
    return this.results.length === 0;
  }

  /** Waits until it is written: the parent's memory is its own to fill. */
  send(): Promise<void> {
    const message: Results = { outlines: [...this.outlines.keys()], results: this.results };
    return new Promise((resolve) => {
      if (process.send) process.send(message, undefined, {}, () => resolve());
      else resolve();
    });
  }
}

async function work(batch: Batch): Promise<void> {
  let answer = new Answer();
  for (const group of batch) {
    let tooMuch = false;
    for (const { footer, variables } of group.orders) {
      const made: Made | null = tooMuch ? null : render(group, group.footers[footer] ?? '', variables);
      answer.add(made);
      if (made && !made.ok) tooMuch = made.reason !== 'error';
      if (!answer.isDue) continue;
      await answer.send();
      answer = new Answer();
    }
  }
  if (!answer.isEmpty) await answer.send();
}

// Ctrl-C in a terminal reaches every process; the parent decides when this one ends.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', (batch: Batch) => void work(batch));
void new Answer().send();
