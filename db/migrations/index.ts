import type { Knex } from 'knex';
import * as frame from './001-frame.ts';
import * as idempotency from './005-idempotency.ts';

/** By name, in order. Listed and not looked up in the folder, so that source and compiled program agree on the names. */
export const migrations: Record<string, Knex.Migration> = {
  '001-frame': frame,
  '005-idempotency': idempotency,
};
