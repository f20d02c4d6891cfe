import joi from 'joi';
import type { Db } from '../../../db/connect.ts';
import { Segment } from '../../../db/models/segment.ts';
import { failStep, leaveBy, type StepType } from './step-type.ts';

export interface ChangeSegmentConfig {
  segmentId?: string;
}

/** What both steps that change the members of a static segment have in common. */
export const changeSegment = (
  own: Pick<StepType, 'type' | 'label' | 'description'> & { member: boolean },
): StepType<ChangeSegmentConfig> => {
  const { member, ...names } = own;
  return {
    ...names,
    exits: ['next'],
    config: joi.object({ segmentId: joi.string().guid({ separator: '-', wrapper: false }) }).unknown(),
    referenceErrors: async (db, projectId, { segmentId }) => {
      const refusal = segmentId && (await refusalOf(db, projectId, segmentId));
      return refusal ? [{ field: 'segmentId', message: `"segmentId" ${refusal}`, code: 'custom' }] : [];
    },
    violations: ({ config }) => (config.segmentId ? [] : ['has no segment']),
    referenceViolations: async ({ config: { segmentId } }, { db, projectId }) => {
      const refusal = segmentId && (await refusalOf(db, projectId, segmentId));
      return refusal ? [`has a segment that ${refusal}`] : [];
    },
    uses: ({ config: { segmentId } }) => ({ segments: segmentId ? [segmentId] : [] }),
    run: async ({ config: { segmentId } }, env) => {
      if (!segmentId) return failStep('the step has no segment');
      const { refused, changed } = await env.changeSegment(segmentId, member);
      return refused ? failStep(refused) : leaveBy('next', { changed: changed ?? false });
    },
  };
};

async function refusalOf(db: Db, projectId: string, id: string): Promise<string | undefined> {
  const segment = await Segment.query(db).findOne({ projectId, id }).select('type');
  if (!segment) return 'does not exist';
  return segment.type === 'STATIC' ? undefined : 'is not static: its members are determined by its condition';
}
