import type { Db } from '../../../db/connect.ts';

/** Processes that have shown a heartbeat and not stopped. */
export const runningProcesses = (db: Db) => db('processes').orderBy('kind');

export const removeProcesses = (db: Db) => db('processes').del();

export const addProcess = (db: Db, columns: object) => db('processes').insert(columns);
