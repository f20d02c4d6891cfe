import pg from 'pg';
import type { SentStatement } from './statement-watcher.ts';

/**
 * Returns the texts of the statements about a project that this process sends during `work`. Every lookup names the project,
 * and what else the process does names it not.
 */
export async function statementsAbout(projectId: string, work: () => Promise<unknown>): Promise<string[]> {
  const statements = await statementsOf(work);
  return statements.filter(({ values }) => JSON.stringify(values)?.includes(projectId)).map(({ text }) => text);
}

/** Returns what this process sends to Postgres during `work`. */
export async function statementsOf(work: () => Promise<unknown>): Promise<SentStatement[]> {
  const statements: SentStatement[] = [];
  const { prototype } = pg.Client;
  const { query } = prototype;
  prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first, second] = args;
    const values = Array.isArray(second) ? second : undefined;
    statements.push(typeof first === 'string' ? { text: first, values } : { values, ...(first as SentStatement) });
    return (query as (...args: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return statements;
}
