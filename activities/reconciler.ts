import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { type Reconciled, reconcileTemporal, type TemporalSide } from '../services/reconciler/reconcile.ts';

export interface ReconcilerDeps {
  db: Db;
  temporalSide: TemporalSide;
}

export const reconcilerActivities = ({ db, temporalSide }: ReconcilerDeps) => ({
  async reconcileAll(): Promise<Reconciled> {
    const { heartbeat } = Context.current();
    return reconcileTemporal(db, temporalSide, heartbeat);
  },
});

export type ReconcilerActivities = ReturnType<typeof reconcilerActivities>;
