import type { Client, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { Db } from './db.ts';

/**
 * A connection out of the pool that is kept from one statement to the next. Once it is there a statement is on its way
 * before the call returns, and the database works while its caller goes on.
 */
export class PinnedConnection {
  private readonly db: Db;
  private connection: Client | undefined;

  constructor(db: Db) {
    this.db = db;
  }

  async take(): Promise<void> {
    this.connection ??= await this.db.client.acquireConnection();
  }

  get isThere(): boolean {
    return this.connection !== undefined;
  }

  query<Row extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<Row>> {
    if (!this.connection) throw new Error('there is no connection: take one first');
    return this.connection.query<Row>(config);
  }

  /** Also after a failure: the pool knows which ones are broken. */
  release(): void {
    const { connection } = this;
    this.connection = undefined;
    if (connection) void this.db.client.releaseConnection(connection);
  }
}
