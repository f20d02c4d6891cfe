import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import type { Listener } from '../../db/listener.ts';
import { findByKey, KEYS_CHANNEL, type ProjectAccess } from './keys.ts';

/**
 * What each key opens, from memory. Notices empty it when keys or the state of a project change; while the listening
 * connection has no heartbeat the database is asked every time. Unknown keys are never remembered.
 */
export class KeyCache {
  private readonly known = new LRUCache<string, ProjectAccess>({ max: 50_000 });
  /** Raised by every notice, so that an answer that was on its way meanwhile is not kept. */
  private epoch = 0;
  private readonly db: Db;
  private readonly listener: Listener;

  constructor(db: Db, listener: Listener) {
    this.db = db;
    this.listener = listener;
    listener.on(KEYS_CHANNEL, (projectId) => this.forget(projectId));
    listener.onReset(() => this.clear());
  }

  /** For whoever compares the generation with what is written: a notice of a change is some milliseconds late. */
  async find(key: string): Promise<ProjectAccess | undefined> {
    const known = this.listener.healthy ? this.known.get(key) : undefined;
    return known ?? this.ask(key);
  }

  /** For everybody else: a key that is replaced ends at that very moment, in every process. */
  async ask(key: string): Promise<ProjectAccess | undefined> {
    const epoch = this.epoch;
    const access = await findByKey(this.db, key);
    if (access && epoch === this.epoch && this.listener.healthy) this.known.set(key, access);
    return access;
  }

  private forget(projectId: string): void {
    this.epoch++;
    for (const [key, access] of this.known.entries()) if (access.projectId === projectId) this.known.delete(key);
  }

  private clear(): void {
    this.epoch++;
    this.known.clear();
  }
}
