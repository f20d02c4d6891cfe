import type { Client, QueryArrayConfig, QueryArrayResult } from 'pg';
import type { Db } from './db.ts';

/**
 * A connection of the pool that is kept between statements. `query` sends its statement before it returns, so that the
 * database works while the caller continues.
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

  query(config: QueryArrayConfig): Promise<QueryArrayResult> {
    if (!this.connection) throw new Error('no connection is pinned: call take() first');
    return this.connection.query(config);
  }

  /** Call it after a failure too: the pool detects broken connections. */
  release(): void {
    const { connection } = this;
    this.connection = undefined;
    if (connection) void this.db.client.releaseConnection(connection);
  }
}
