import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { type Removed, type RetentionSettings, runRetention } from '../services/retention/run.ts';

const BEAT_MS = 2_000;

export interface RetentionDeps {
  db: Db;
  retention: RetentionSettings;
}

export const retentionActivities = ({ db, retention }: RetentionDeps) => ({
  async removeOld(): Promise<Removed> {
    const beating = setInterval(Context.current().heartbeat, BEAT_MS);
    try {
      return await runRetention(db, retention);
    } finally {
      clearInterval(beating);
    }
  },
});

export type RetentionActivities = ReturnType<typeof retentionActivities>;
