import type { Db } from '../../db/connect.ts';
import { coalesced } from '../../platform/coalesce.ts';
import type { Logger } from '../../platform/logger.ts';
import { logFailure } from '../../platform/outages.ts';
import { type Notice, recordNotices } from './notices.ts';

/** The longest wait of a request for the write. */
const MAX_WAIT_MS = 1_000;
/** Drops opens and clicks beyond this, because the database is overloaded. */
const MAX_WAITING = 5_000;
const BATCH_SIZE = 200;

/** Records opens and clicks. Concurrent ones share a write, because they come in bursts. */
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
      { maxItems: BATCH_SIZE },
    );
  }

  /** Never fails and returns within MAX_WAIT_MS, because the recipient waits for the redirect. */
  async count(notice: Notice): Promise<void> {
    if (this.waiting >= MAX_WAITING) return;
    this.waiting++;
    const written = this.write({ ...notice, at: new Date() })
      .catch((err: unknown) => logFailure(this.log, { err, kind: notice.kind }, 'open or click could not be recorded'))
      .finally(() => this.waiting--);
    await waitBriefly(written);
  }
}

function waitBriefly(work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_WAIT_MS);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Returns the URL of a click target if it is http or https. */
export function webAddress(target: string): string | undefined {
  if (!URL.canParse(target)) return undefined;
  const { protocol, href } = new URL(target);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
