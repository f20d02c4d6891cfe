// Background jobs, and files that are imported in chunks.
import type { Db } from '../../../db/connect.ts';

export const setJobs = (db: Db, where: object, columns: object) => db('jobs').where(where).update(columns);

export const storedChunks = (db: Db, where: object = {}) => db('jobChunks').where(where).orderBy('number');

/** Replaces a chunk of the file, to show that it is not read again. */
export const replaceFirstChunk = (db: Db, jobId: string, content: string) =>
  db('jobChunks')
    .where({ jobId, number: 0 })
    .update({ content: Buffer.from(content) });

export const storedJobErrors = (db: Db, jobId: string) => db('jobErrors').where({ jobId });

export const storedJobInput = (db: Db, jobId: string) => db('jobInputs').where({ jobId }).first();
