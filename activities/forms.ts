import type { Db } from '../db/connect.ts';
import type { Settings } from '../platform/settings.ts';
import { carryOutDue } from '../services/forms/due.ts';
import { withHeartbeats } from './heartbeats.ts';

export interface FormActivityDeps {
  db: Db;
  formSettings: Pick<Settings, 'forms'>;
}

export const formActivities = ({ db, formSettings }: FormActivityDeps) => ({
  carryOutSubmissions: (): Promise<number> => withHeartbeats(() => carryOutDue(db, formSettings)),
});

export type FormActivities = ReturnType<typeof formActivities>;
