import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { eraseChunk } from './project-chunk.ts';
import { kept, wiped } from './project-tables.ts';

export const RESETTING = 'its data is being wiped';

export interface ErasureProgress {
  ended: boolean;
  /** Rows so far. */
  deleted: number;
}

interface Erasure {
  projectId: string;
  kind: 'RESET' | 'DELETE';
  done: boolean;
  deleted: string;
}

/** What is counted elsewhere may move from one table into another while we look; twice nothing means nothing. */
const EMPTY_ROUNDS = 2;

/**
 * Wipes on until `isOver`. Each chunk is a short transaction, so nobody waits for it, and any number may do it at once:
 * whoever dies in between has left less to do.
 */
export async function runErasure(db: Db, id: string, isOver: () => boolean): Promise<ErasureProgress> {
  const erasure = await db('projectErasures').where({ id }).first<Erasure | undefined>();
  if (!erasure || erasure.done) return { ended: true, deleted: Number(erasure?.deleted ?? 0) };
  const tables = erasure.kind === 'DELETE' ? [...wiped, ...kept] : wiped;
  let deleted = 0;
  for (let emptyRounds = 0; emptyRounds < EMPTY_ROUNDS; ) {
    const before = deleted;
    for (const table of tables)
      for (let gone = -1; gone !== 0; ) {
        gone = await eraseChunk(db, table, erasure.projectId);
        deleted += gone;
        if (gone > 0 && isOver()) return note(db, id, deleted);
      }
    emptyRounds = deleted === before ? emptyRounds + 1 : 0;
  }
  const progress = await note(db, id, deleted);
  return { ...progress, ended: await finish(db, id) };
}

async function note(db: Db, id: string, deleted: number): Promise<ErasureProgress> {
  const [row] = await db('projectErasures').where({ id }).increment('deleted', deleted).returning('deleted');
  return { ended: false, deleted: Number(row?.deleted ?? deleted) };
}

/** False: a reset has become a deletion meanwhile, and there is more to do. */
async function finish(db: Db, id: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { projectId } = (await trx('projectErasures').where({ id }).first('projectId')) ?? {};
    const project = await Project.query(trx).findById(projectId).forUpdate();
    const erasure = await trx('projectErasures').where({ id, done: false }).forUpdate().first<Erasure | undefined>();
    if (!erasure) return true;
    if (project?.deletedAt && erasure.kind === 'RESET') return false;
    await trx('projectErasures').where({ id }).update({ done: true, completedAt: trx.fn.now() });
    if (erasure.kind === 'DELETE') await Project.query(trx).deleteById(projectId);
    else if (project?.disabledReason === RESETTING) {
      await Project.query(trx).findById(projectId).patch({ disabled: false, disabledReason: null });
      await notifyKeysChanged(trx, projectId);
    }
    return true;
  });
}
