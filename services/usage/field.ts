import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { parseCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';
import { countField, type FieldName, readFieldName } from '../contacts/fields.ts';
import { campaignsUsing } from './in-campaigns.ts';
import { workflowsWithField } from './in-workflows.ts';

export interface Named {
  id: string;
  name: string;
}

export interface FieldUsage {
  usedInSegments: Named[];
  usedInCampaigns: Named[];
  usedInWorkflows: Named[];
  contactCount: number;
  /** A hint: nothing refers to it. */
  canDelete: boolean;
}

/** Who refers to a field. */
export async function findFieldUsage(db: Db, projectId: string, name: string): Promise<FieldUsage> {
  const field = readFieldName(name);
  const [contactCount, usedInSegments, usedInCampaigns, usedInWorkflows] = await Promise.all([
    countField(db, projectId, field),
    segmentsUsing(db, projectId, field),
    campaignsUsing(db, projectId, (found) => uses(field, found)),
    workflowsWithField(db, projectId, field.field),
  ]);
  const users = { usedInSegments, usedInCampaigns, usedInWorkflows };
  const isFree = Object.values(users).every(({ length }) => length === 0);
  return { ...users, contactCount, canDelete: field.key !== undefined && isFree };
}

async function segmentsUsing(db: Db, projectId: string, field: FieldName): Promise<Named[]> {
  const segments = await Segment.query(db).where({ projectId }).whereNotNull('condition').orderBy('name');
  return segments
    .filter(({ condition }) => uses(field, parseCondition(condition).parsed?.uses))
    .map(({ id, name }) => ({ id, name }));
}

const uses = ({ field, key }: FieldName, found: Uses | undefined): boolean =>
  Boolean(key === undefined ? found?.fields.has(field) : found?.keys.has(key));
