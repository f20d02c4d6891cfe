// Events as they are stored, in the order of recording: for events of the past, and for proof that none was recorded.
import type { Db } from '../../../db/connect.ts';

export const storedEvents = (db: Db, where: object) => db('events').where(where).orderBy('position');

/** Inserts events as they are, also at times in the past. */
export const addEvents = (db: Db, events: object | object[]) => db('events').insert(events);

export const removeEvents = (db: Db, where: object) => db('events').where(where).del();

/** Events that wait to be matched with workflows. */
export const queuedEvents = (db: Db, where: object = {}) => db('eventQueue').where(where);
