import type { Knex } from 'knex';

/** The pool or a transaction. Services take either. */
export type Db = Knex;
