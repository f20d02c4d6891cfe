import { announceChanges } from '../../services/operators/announce-changes.ts';
import type { AppParts, Middleware } from '../http/context.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Announces changes to the workers, which poll less often while there are none (worker/idle-mode.ts). */
export function changeAnnouncer({ db, settings }: Pick<AppParts, 'db' | 'settings'>): Middleware {
  const { announce } = settings.timings.idleMode;
  let announcedAt = Number.NEGATIVE_INFINITY;
  return (ctx, next) => {
    const now = performance.now();
    if (!READING.has(ctx.method) && now - announcedAt >= announce) {
      announcedAt = now;
      announceChanges(db);
    }
    return next();
  };
}
