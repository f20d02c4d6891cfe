// The process that templates are rendered in: it knows no files, no network and no secrets, has little memory, and can be
// killed at any moment without harm to anybody else's mail.
import { LimitError } from './language/budget.ts';
import { type MailSources, renderMail } from './mail.ts';
import type { Batch, Order, Rendered, Results, Variables } from './protocol.ts';

/** Results go out after so much of them, and after so much time, since the parent takes silence for an endless loop. */
const FLUSH_CHARACTERS = 256 * 1024;
const FLUSH_MS = 100;

function render(sources: MailSources, { footer, variables }: Order): Rendered {
  try {
    const { data, builtIn } = JSON.parse(variables) as Variables;
    // Without a prototype: a name that was not given is not there.
    const names: Record<string, unknown> = Object.assign(Object.create(null), data, builtIn, { data });
    return { ok: true, ...renderMail(sources, footer, names) };
  } catch (error) {
    const reason = error instanceof LimitError ? error.reason : 'error';
    return { ok: false, reason, message: error instanceof Error ? error.message : String(error) };
  }
}

async function work(batch: Batch): Promise<void> {
  let results: Results = [];
  let size = 0;
  let since = performance.now();
  for (const group of batch) {
    let tooMuch = false;
    for (const order of group.orders) {
      const result: Rendered | null = tooMuch ? null : render(group, order);
      results.push(result);
      if (result?.ok) size += result.html.length + result.text.length;
      else if (result) tooMuch = result.reason !== 'error';
      if (size < FLUSH_CHARACTERS && performance.now() - since < FLUSH_MS) continue;
      await send(results);
      results = [];
      size = 0;
      since = performance.now();
    }
  }
  if (results.length > 0) await send(results);
}

/** Waits until it is written: the parent's memory is its own to fill. */
function send(results: Results): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(results, undefined, {}, () => resolve());
    else resolve();
  });
}

// Ctrl-C in a terminal reaches every process; the parent decides when this one ends.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', (batch: Batch) => void work(batch));
void send([]);
