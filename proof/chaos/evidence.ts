// Keeps what explains violations: a run removes its servers and their data at its end.
import { copyFileSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDirectory } from '../../test/support/cleanup.ts';
import type { CheckContext, CheckRow } from './check.ts';

const TABLES = [
  'emails',
  'campaigns',
  'executions',
  'execution_steps',
  'jobs',
  'outbox',
  'outgoing_mails',
  'senders',
  'webhook_deliveries',
  'workflow_moves',
];
/** The newest: the first column is the id. */
const MAX_ROWS = 20_000;

/** Copies logs and records into a new folder, which it returns. */
export async function keepEvidence({ db, stack, recorder }: CheckContext, rows: CheckRow[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'everpost-proof-'));
  const write = (name: string, values: readonly unknown[]) =>
    writeFileSync(join(folder, name), values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  for (const name of readdirSync(runDirectory()))
    if (name.endsWith('.log')) copyFileSync(join(runDirectory(), name), join(folder, name));
  write(
    'violations.jsonl',
    rows.flatMap(({ what, violations }) => violations.map((violation) => ({ what, violation }))),
  );
  write('smtp.jsonl', stack.sink.taken);
  write(
    'webhooks.jsonl',
    stack.receiver.calls.map(({ body, ...call }) => call),
  );
  for (const name of ['sends', 'tracks', 'campaigns', 'imports', 'bulks'] as const)
    write(`${name}.jsonl`, recorder[name]);
  for (const table of TABLES)
    await db
      .raw(`select to_jsonb(t) as row from ${table} t order by 1 desc limit ${MAX_ROWS}`)
      .then(({ rows: found }) =>
        write(
          `${table}.jsonl`,
          found.map(({ row }: { row: unknown }) => row),
        ),
      )
      .catch((error: Error) => write(`${table}.jsonl`, [error.message]));
  return folder;
}
