import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { ProjectErasure } from '../../db/models/project-erasure.ts';
import { statement } from '../../db/statement.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { eraseChunk } from './project-chunk.ts';
import { erasedByReset, keptByReset } from './project-tables.ts';

export const RESETTING = 'its data is being wiped';

export interface ErasureProgress {
  ended: boolean;
  /** The number of rows so far. */
  deleted: number;
}

/** Aggregation may move rows from one table to another during a round, so one empty round proves nothing. */
const EMPTY_ROUNDS = 2;

/**
 * Erases rows until `isOver`. Each chunk is a short transaction, and several processes may run it at once. After a crash
 * another call continues.
 */
export async function runErasure(db: Db, id: string, isOver: () => boolean): Promise<ErasureProgress> {
  const erasure = await ProjectErasure.query(db).findById(id);
  if (!erasure || erasure.done) return { ended: true, deleted: Number(erasure?.deleted ?? 0) };
  const tables = erasure.kind === 'DELETE' ? [...erasedByReset, ...keptByReset] : erasedByReset;
  let deleted = 0;
  for (let emptyRounds = 0; emptyRounds < EMPTY_ROUNDS; ) {
    const before = deleted;
    for (const table of tables)
      for (let erased = -1; erased !== 0; ) {
        erased = await eraseChunk(db, table, erasure.projectId);
        deleted += erased;
        if (erased > 0 && isOver()) return recordProgress(db, id, deleted);
      }
    emptyRounds = deleted === before ? emptyRounds + 1 : 0;
  }
  const progress = await recordProgress(db, id, deleted);
  return { ...progress, ended: await finish(db, id) };
}

const addDeleted = statement<{ deleted: number }>(
  'erasure-add-deleted',
  'update project_erasures set deleted = deleted + $2 where id = $1 returning deleted::float8 as deleted',
);

async function recordProgress(db: Db, id: string, deleted: number): Promise<ErasureProgress> {
  const [row] = await addDeleted(db, [id, deleted]);
  return { ended: false, deleted: row?.deleted ?? deleted };
}

/** False: a reset has become a deletion, so there is more to erase. */
async function finish(db: Db, id: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const stored = await ProjectErasure.query(trx).findById(id);
    if (!stored) return true;
    const { projectId } = stored;
    const project = await Project.query(trx).findById(projectId).forUpdate();
    const erasure = await ProjectErasure.query(trx).findOne({ id, done: false }).forUpdate();
    if (!erasure) return true;
    if (project?.deletedAt && erasure.kind === 'RESET') return false;
    await ProjectErasure.query(trx).findById(id).patch({ done: true, completedAt: new Date() });
    if (erasure.kind === 'DELETE') await Project.query(trx).deleteById(projectId);
    else if (project?.disabledReason === RESETTING) {
      await Project.query(trx).findById(projectId).patch({ disabled: false, disabledReason: null });
      await notifyKeysChanged(trx, projectId);
    }
    return true;
  });
}
