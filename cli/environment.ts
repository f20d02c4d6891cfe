import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { connectDb, type Db } from '../db/connect.ts';
import { readSettings, type Settings } from '../platform/settings.ts';

/**
 * Returns the environment. Where DATABASE_URL is unset, missing settings come from the stack that `npm start` runs in
 * this directory and from the `.env` that it reads, so that commands work there without settings.
 */
export function environment(given: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const stack = runningStack(given.EVERPOST_HOME || '.everpost');
  if (!stack || given.DATABASE_URL) return given;
  const env = { ...envFile(), ...given };
  return {
    ...env,
    DATABASE_URL: stack.databaseUrl,
    TEMPORAL_ADDRESS: env.TEMPORAL_ADDRESS || stack.temporalAddress,
    SMTP_URL: env.SMTP_URL || stack.smtpUrl,
    BASE_URL: env.BASE_URL || stack.apiUrl,
  };
}

const envFile = (): NodeJS.Dict<string> => (existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {});

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
