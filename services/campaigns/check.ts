import type { Db } from '../../db/connect.ts';
import type { AudienceType } from '../../db/models/campaign.ts';
import { Segment } from '../../db/models/segment.ts';
import { ApiError, badRequest, type Fault, notFound, validationError } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';
import { parseCondition } from '../conditions/parse.ts';
import type { ParsedCondition } from '../conditions/types.ts';
import { referenceViolations } from '../segments/references.ts';
import { asViolation, faultsIn, type TemplateTexts } from '../templates/check.ts';

export interface AudienceInput {
  audienceType: AudienceType;
  /** The id of a segment, whatever came. */
  segmentId?: unknown;
  /** A condition tree, whatever came. */
  audienceCondition?: unknown;
}

export interface CheckedAudience {
  audienceType: AudienceType;
  segmentId: string | null;
  audienceCondition: Record<string, unknown> | null;
  parsed: ParsedCondition | undefined;
}

const AT = 'audienceCondition';

/** What can be told without asking anybody; only what the type of the audience needs is looked at. */
export function checkAudience({ audienceType, segmentId, audienceCondition }: AudienceInput): CheckedAudience {
  const audience = { audienceType, segmentId: null, audienceCondition: null, parsed: undefined };
  if (audienceType === 'SEGMENT') return { ...audience, segmentId: checkSegmentId(segmentId) };
  if (audienceType === 'ALL') return audience;
  if (audienceCondition === undefined || audienceCondition === null)
    throw validationError([required(AT, audienceType)]);
  const { parsed, faults } = parseCondition(audienceCondition, { at: AT });
  if (!parsed) throw validationError(faults);
  return { ...audience, audienceCondition: audienceCondition as Record<string, unknown>, parsed };
}

function checkSegmentId(id: unknown): string {
  if (id === undefined || id === null || id === '') throw validationError([required('segmentId', 'SEGMENT')]);
  if (typeof id === 'string' && isUuid(id)) return id;
  const code = typeof id === 'string' ? 'invalid_string' : 'invalid_type';
  throw validationError([{ field: 'segmentId', message: '"segmentId" must be the id of a segment', code }]);
}

const required = (field: string, audienceType: AudienceType): Fault => ({
  field,
  message: `"${field}" is required when "audienceType" is ${audienceType}`,
  code: 'required',
});

/** The segments that it names are there, and cannot be deleted until the transaction ends. */
export async function requireSegments(trx: Db, projectId: string, audience: CheckedAudience): Promise<void> {
  const { segmentId, parsed } = audience;
  const ids = segmentId ? [segmentId] : [...(parsed?.uses.segments.keys() ?? [])].filter(isUuid);
  const held = ids.length > 0 ? await holdSegments(trx, projectId, ids) : 0;
  if (segmentId && held === 0) throw notFound('segment', 'SEGMENT_NOT_FOUND');
  const faults = parsed ? await referenceViolations(trx, projectId, parsed, AT) : [];
  if (faults.length > 0) throw validationError(faults);
}

/**
 * The same for one that is about to be sent: a copy may name segments that were deleted since, and not to be in one of
 * those would be true of everybody.
 */
export async function requireSegmentsStill(trx: Db, campaign: AudienceInput & { projectId: string }): Promise<void> {
  try {
    await requireSegments(trx, campaign.projectId, checkAudience(campaign));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw badRequest('The audience of the campaign names a segment that is not there any more.', {
      suggestion: 'Give it another audience with PUT /campaigns/:id.',
    });
  }
}

async function holdSegments(trx: Db, projectId: string, ids: string[]): Promise<number> {
  const held = await Segment.query(trx)
    .select('id')
    .where({ projectId })
    .whereIn('id', ids)
    .orderBy('id')
    .forKeyShare();
  return held.length;
}

/** Unlike that of a template, a text of a campaign that cannot be read is a 422. */
export function requireReadable(texts: TemplateTexts): void {
  const faults = faultsIn(texts);
  if (faults.length === 0) return;
  const errors = faults.map(asViolation);
  const message = `The campaign cannot be read. ${errors[0]?.message}.`;
  throw new ApiError(422, 'VALIDATION_ERROR', message, { errors, details: { faults } });
}
