import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { type Removed, type RetentionSettings, runRetention } from '../services/retention/run.ts';

const HEARTBEAT_MS = 2_000;

export interface RetentionDeps {
  db: Db;
  retention: RetentionSettings;
}

export const retentionActivities = ({ db, retention }: RetentionDeps) => ({
  async removeOld(): Promise<Removed> {
    const heartbeats = setInterval(Context.current().heartbeat, HEARTBEAT_MS);
    try {
      return await runRetention(db, retention);
    } finally {
      clearInterval(heartbeats);
    }
  },
});

export type RetentionActivities = ReturnType<typeof retentionActivities>;
