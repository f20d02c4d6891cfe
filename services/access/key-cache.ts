import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import type { Listener } from '../../db/listener.ts';
import { findByKey, KEYS_CHANNEL, type ProjectAccess } from './keys.ts';

/**
 * Caches the project of each key. Notifications invalidate it when keys or a project's state change; without a
 * heartbeat on the listening connection every call queries the database. Unknown keys are not cached.
 */
export class KeyCache {
  private readonly cache = new LRUCache<string, ProjectAccess>({ max: 50_000 });
  /** Raised by every notification, so that a result read before it is not cached. */
  private epoch = 0;
  private readonly db: Db;
  private readonly listener: Listener;

  constructor(db: Db, listener: Listener) {
    this.db = db;
    this.listener = listener;
    listener.on(KEYS_CHANNEL, (projectId) => this.invalidate(projectId));
    listener.onReset(() => this.clear());
  }

  /** For callers whose statements compare the key generation: a notification arrives some milliseconds late. */
  async find(key: string): Promise<ProjectAccess | undefined> {
    const cached = this.listener.healthy ? this.cache.get(key) : undefined;
    return cached ?? this.findCurrent(key);
  }

  /** For all other callers: always reads the database, so that a replaced key stops working at once. */
  async findCurrent(key: string): Promise<ProjectAccess | undefined> {
    const epoch = this.epoch;
    const access = await findByKey(this.db, key);
    if (access && epoch === this.epoch && this.listener.healthy) this.cache.set(key, access);
    return access;
  }

  private invalidate(projectId: string): void {
    this.epoch++;
    for (const [key, access] of this.cache.entries()) if (access.projectId === projectId) this.cache.delete(key);
  }

  private clear(): void {
    this.epoch++;
    this.cache.clear();
  }
}
