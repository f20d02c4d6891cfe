import type { Db } from '../../db/connect.ts';
import type { AudienceType } from '../../db/models/campaign.ts';
import { Segment } from '../../db/models/segment.ts';
import { ApiError, badRequest, notFound, type Violation, validationError } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';
import { parseCondition } from '../conditions/parse.ts';
import type { ParsedCondition } from '../conditions/types.ts';
import { referenceViolations } from '../segments/graph.ts';
import { asViolation, faultsIn, type TemplateTexts } from '../templates/check.ts';

export interface AudienceInput {
  audienceType: AudienceType;
  /** The id of a segment, not validated yet. */
  segmentId?: unknown;
  /** A condition tree, not validated yet. */
  audienceCondition?: unknown;
}

export interface CheckedAudience {
  audienceType: AudienceType;
  segmentId: string | null;
  audienceCondition: Record<string, unknown> | null;
  parsed: ParsedCondition | undefined;
}

const CONDITION_FIELD = 'audienceCondition';

/** Validates without the database, and drops the fields that the audience type does not use. */
export function checkAudience({ audienceType, segmentId, audienceCondition }: AudienceInput): CheckedAudience {
  const audience = { audienceType, segmentId: null, audienceCondition: null, parsed: undefined };
  if (audienceType === 'SEGMENT') return { ...audience, segmentId: checkSegmentId(segmentId) };
  if (audienceType === 'ALL') return audience;
  if (audienceCondition === undefined || audienceCondition === null)
    throw validationError([required(CONDITION_FIELD, audienceType)]);
  const { parsed, faults } = parseCondition(audienceCondition, { at: CONDITION_FIELD });
  if (!parsed) throw validationError(faults);
  return { ...audience, audienceCondition: audienceCondition as Record<string, unknown>, parsed };
}

function checkSegmentId(id: unknown): string {
  if (id === undefined || id === null || id === '') throw validationError([required('segmentId', 'SEGMENT')]);
  if (typeof id === 'string' && isUuid(id)) return id;
  const code = typeof id === 'string' ? 'invalid_string' : 'invalid_type';
  throw validationError([{ field: 'segmentId', message: '"segmentId" must be a segment ID', code }]);
}

const required = (field: string, audienceType: AudienceType): Violation => ({
  field,
  message: `"${field}" is required when "audienceType" is ${audienceType}`,
  code: 'required',
});

/** Throws unless the segments of the audience exist, and locks them against deletion until the transaction ends. */
export async function requireSegments(trx: Db, projectId: string, audience: CheckedAudience): Promise<void> {
  const { segmentId, parsed } = audience;
  const ids = segmentId ? [segmentId] : [...(parsed?.uses.segments.keys() ?? [])].filter(isUuid);
  const lockedCount = ids.length > 0 ? await lockSegments(trx, projectId, ids) : 0;
  if (segmentId && lockedCount === 0) throw notFound('segment', 'SEGMENT_NOT_FOUND');
  const violations = parsed ? await referenceViolations(trx, projectId, parsed, CONDITION_FIELD) : [];
  if (violations.length > 0) throw validationError(violations);
}

/**
 * Checks the segments and topics again before sending, because a copied campaign may name some that were deleted since. The
 * condition "not a member" of a deleted segment would match every contact. The results of a deleted campaign or template stay.
 */
export async function requireSegmentsBeforeSending(
  trx: Db,
  campaign: AudienceInput & { projectId: string },
): Promise<void> {
  try {
    const { parsed, ...audience } = checkAudience(campaign);
    const withoutEmails = parsed && { ...parsed, uses: { ...parsed.uses, emailSources: new Map() } };
    await requireSegments(trx, campaign.projectId, { ...audience, parsed: withoutEmails });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw badRequest('The audience of the campaign refers to a segment or topic that no longer exists.', {
      suggestion: 'Change the audience with PUT /campaigns/:id.',
    });
  }
}

async function lockSegments(trx: Db, projectId: string, ids: string[]): Promise<number> {
  const locked = await Segment.query(trx)
    .select('id')
    .where({ projectId })
    .whereIn('id', ids)
    .orderBy('id')
    .forKeyShare();
  return locked.length;
}

/** Throws a 422 if the subject or body does not parse. Templates answer 400 in this case. */
export function requireValidTexts(texts: TemplateTexts): void {
  const faults = faultsIn(texts);
  if (faults.length === 0) return;
  const errors = faults.map(asViolation);
  const message = `The campaign content is invalid. ${errors[0]?.message}.`;
  throw new ApiError(422, 'VALIDATION_ERROR', message, { errors, details: { faults } });
}
