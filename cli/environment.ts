import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDb, type Db } from '../db/connect.ts';
import { readSettings, type Settings } from '../platform/settings.ts';

/**
 * Returns the environment. Where DATABASE_URL is unset, missing settings come from the stack that `npm start` runs in
 * this directory, so that commands work there without settings.
 */
export function environment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const stack = runningStack(env.EVERPOST_HOME || '.everpost');
  if (!stack || env.DATABASE_URL) return env;
  return {
    ...env,
    DATABASE_URL: stack.databaseUrl,
    TEMPORAL_ADDRESS: env.TEMPORAL_ADDRESS || stack.temporalAddress,
    SMTP_URL: env.SMTP_URL || stack.smtpUrl,
    BASE_URL: env.BASE_URL || stack.apiUrl,
  };
}

function runningStack(
  home: string,
): Record<'databaseUrl' | 'temporalAddress' | 'smtpUrl' | 'apiUrl', string> | undefined {
  try {
    return JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Runs `work` with a database connection and closes it afterwards. */
export async function withDb<T>(work: (db: Db, settings: Settings) => Promise<T>): Promise<T> {
  const settings = readSettings(environment(), ['DATABASE_URL']);
  const db = connectDb({
    databaseUrl: settings.databaseUrl ?? '',
    poolSize: 2,
    name: 'everpost-cli',
    timeouts: settings.databaseTimeouts.worker,
  });
  try {
    return await work(db, settings);
  } finally {
    await db.destroy();
  }
}
