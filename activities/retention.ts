import type { Db } from '../db/connect.ts';
import { type Removed, type RetentionSettings, runRetention } from '../services/retention/run.ts';
import { withHeartbeats } from './heartbeats.ts';

export interface RetentionDeps {
  db: Db;
  retention: RetentionSettings;
}

export const retentionActivities = ({ db, retention }: RetentionDeps) => ({
  removeOld: (): Promise<Removed> => withHeartbeats(() => runRetention(db, retention)),
});

export type RetentionActivities = ReturnType<typeof retentionActivities>;
