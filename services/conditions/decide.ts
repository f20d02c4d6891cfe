import type { Db } from '../../db/connect.ts';
import type { Data } from '../contacts/data.ts';
import { decides } from './evaluate.ts';
import { loadFacts } from './facts.ts';
import { type ResolvedCondition, staticSegmentsOf } from './resolve.ts';

/** One evaluation: which contact, at what time. */
export interface ContactEvaluation {
  projectId: string;
  contactId: string;
  now: Date;
  /** The context of the execution that evaluates the condition. */
  context?: Data;
}

/** Whether one stored contact matches. A contact that does not exist does not match. */
export async function evaluateForContact(
  db: Db,
  resolved: ResolvedCondition,
  evaluation: ContactEvaluation,
): Promise<boolean> {
  const { projectId, contactId, now, context = {} } = evaluation;
  const { condition, uses, segments } = resolved;
  const wanted = { projectId, contactIds: [contactId], uses, segmentIds: staticSegmentsOf(resolved) };
  const facts = (await loadFacts(db, wanted)).get(contactId);
  return facts !== undefined && decides(condition, { ...facts, segments, context, now });
}
