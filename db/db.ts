import type { Knex } from 'knex';

/** A handle on the database: the pool itself, or a transaction. Services take either. */
export type Db = Knex;
