import type { Db } from '../../db/connect.ts';
import type { Data } from '../contacts/data.ts';
import { loadFacts } from './facts.ts';
import { decides } from './read.ts';
import { type ResolvedCondition, staticSegmentsOf } from './resolve.ts';

export interface Asked {
  projectId: string;
  contactId: string;
  now: Date;
  /** Of the execution that asks. */
  context?: Data;
}

/** Whether one stored contact matches; one that is not there does not. */
export async function decideFor(db: Db, resolved: ResolvedCondition, asked: Asked): Promise<boolean> {
  const { projectId, contactId, now, context = {} } = asked;
  const { condition, uses, segments } = resolved;
  const wanted = { projectId, contactIds: [contactId], uses, segmentIds: staticSegmentsOf(resolved) };
  const facts = (await loadFacts(db, wanted)).get(contactId);
  return facts !== undefined && decides(condition, { ...facts, segments, context, now });
}
