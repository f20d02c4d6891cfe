import type { Db } from '../../../db/connect.ts';

export const billingOf = (db: Db, projectId: string) => db('projectBilling').where({ projectId }).first();

export const setBilling = (db: Db, where: object, columns: object) => db('projectBilling').where(where).update(columns);

/** Usage that Stripe has not acknowledged. */
export const unsentReports = (db: Db, customerId: string) =>
  db('billingReports').where({ customerId, reportedAt: null });

/** Ends the claims of workers on reports, as if they had been stopped. */
export const releaseReports = (db: Db) => db('billingReports').update({ claimedUntil: new Date(0) });

/** Usage that is not aggregated yet. */
export const billingDeltas = (db: Db, projectId: string) =>
  db('billingDeltas').where({ projectId }).select('sourceType', 'count');
