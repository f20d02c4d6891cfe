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

/** Returns what refers to a field. */
export async function findFieldUsage(db: Db, projectId: string, name: string): Promise<FieldUsage> {
  const field = readFieldName(name);
  const [contactCount, usedInSegments, usedInCampaigns, usedInWorkflows] = await Promise.all([
    countField(db, projectId, field),
    segmentsUsing(db, projectId, field),
    campaignsUsing(db, projectId, (uses) => usesField(uses, field)),
    workflowsWithField(db, projectId, field.field),
  ]);
  const users = { usedInSegments, usedInCampaigns, usedInWorkflows };
  const isUnused = Object.values(users).every(({ length }) => length === 0);
  return { ...users, contactCount, canDelete: field.key !== undefined && isUnused };
}

async function segmentsUsing(db: Db, projectId: string, field: FieldName): Promise<Named[]> {
  const segments = await Segment.query(db).where({ projectId }).whereNotNull('condition').orderBy('name');
  return segments
    .filter(({ condition }) => usesField(parseCondition(condition).parsed?.uses, field))
    .map(({ id, name }) => ({ id, name }));
}

const usesField = (uses: Uses | undefined, { field, key }: FieldName): boolean =>
  Boolean(key === undefined ? uses?.fields.has(field) : uses?.keys.has(key));
