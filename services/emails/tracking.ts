import type { Db } from '../../db/connect.ts';
import { coalesced } from '../../platform/coalesce.ts';
import type { Logger } from '../../platform/logger.ts';
import { type Notice, recordNotices } from './notices.ts';

/** How long somebody who clicked waits for us at most. */
const PATIENCE_MS = 1_000;
/** Beyond this the database is in such trouble that counting would only be more of it. */
const MOST_WAITING = 5_000;
const AT_ONCE = 200;

/** Counts opens and clicks. They come in bursts, and share their writes then. */
export class Tracking {
  private readonly write: (notice: Notice) => Promise<void>;
  private readonly log: Logger;
  private waiting = 0;

  constructor(db: Db, log: Logger) {
    this.log = log;
    this.write = coalesced(
      async (notices) => {
        await recordNotices(db, notices);
        return notices.map(() => undefined);
      },
      { maxItems: AT_ONCE },
    );
  }

  /** Never fails, and never takes long: whoever clicks wants to get there. */
  async count(notice: Notice): Promise<void> {
    if (this.waiting >= MOST_WAITING) return;
    this.waiting++;
    const written = this.write({ ...notice, at: new Date() })
      .catch((err: unknown) => this.log.warn({ err, kind: notice.kind }, 'an open or click could not be counted'))
      .finally(() => this.waiting--);
    await withPatience(written);
  }
}

function withPatience(work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Where a click leads: into the web, and nowhere else. */
export function webAddress(target: string): string | undefined {
  if (!URL.canParse(target)) return undefined;
  const { protocol, href } = new URL(target);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
