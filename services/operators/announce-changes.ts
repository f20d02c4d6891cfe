import { type Db, wake } from '../../db/connect.ts';

/** Notifies workers of changes for which there is no notification of their own: it ends their idle mode. */
export const announceChanges = (db: Db): void => wake(db, 'changes');
