import { type Db, inTransaction } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { Segment } from '../../db/models/segment.ts';
import type { User } from '../../db/models/user.ts';
import { ApiError } from '../../platform/errors.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { noProject } from '../access/membership.ts';
import { type Actor, changesOf, recordAudit } from '../audit/record.ts';

export const trackings = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const;

/** What the public key may track, and the origins of pages that it may be used on. Everything where a list is empty. */
export interface PublicKeyPolicy {
  origins: string[];
  events: string[];
}

export interface ProjectChange {
  name?: string | undefined;
  tracking?: Project['tracking'] | undefined;
  language?: string | undefined;
  timezone?: string | undefined;
  publicKeyPolicy?: PublicKeyPolicy | undefined;
  requireTwoFactor?: boolean | undefined;
  logRequests?: boolean | undefined;
  topicRequired?: boolean | undefined;
}

/** Only an OWNER who has two-factor authentication decides whether the project requires it. */
export function mayRequireTwoFactor({ totpEnabledAt }: User, role: Role): void {
  if (role !== 'OWNER')
    throw new ApiError(403, 'FORBIDDEN', `Only an OWNER can change "requireTwoFactor"; your role is ${role}.`);
  if (!totpEnabledAt)
    throw new ApiError(403, 'FORBIDDEN', 'You need two-factor authentication yourself to change "requireTwoFactor".', {
      suggestion: 'Set it up with POST /users/@me/totp and POST /users/@me/totp/confirm first.',
    });
}

export async function updateProject(
  db: Db,
  id: string,
  { name, tracking, language, timezone, publicKeyPolicy, requireTwoFactor, logRequests, topicRequired }: ProjectChange,
  actor?: Actor,
): Promise<void> {
  const change = {
    ...(name !== undefined && { name }),
    ...(tracking !== undefined && { tracking }),
    ...(language !== undefined && { language }),
    ...(timezone !== undefined && { timezone }),
    ...(requireTwoFactor !== undefined && { requireTwoFactor }),
    ...(logRequests !== undefined && { logRequests }),
    ...(topicRequired !== undefined && { topicRequired }),
    ...(publicKeyPolicy && {
      publicKeyOrigins: [...new Set(publicKeyPolicy.origins)],
      publicKeyEvents: [...new Set(publicKeyPolicy.events)],
    }),
  };
  await inTransaction(db, async (trx) => {
    const before = await Project.query(trx).findById(id).whereNull('deletedAt').forNoKeyUpdate();
    if (!before) throw noProject();
    const changes = changesOf<Project>(before, change);
    await Project.query(trx)
      .findById(id)
      .patch({ ...change, ...(topicRequired !== undefined && { topicRequiredDecided: true }), updatedAt: new Date() });
    // Anniversaries follow the days of the project.
    if (changes.timezone)
      await Segment.query(trx)
        .where({ projectId: id, trackMembership: true, timeDependent: true })
        .patch({ reconcileAt: new Date() });
    // Cached with keys.
    if (changes.logRequests) await notifyKeysChanged(trx, id);
    if (Object.keys(changes).length > 0)
      await recordAudit(
        trx,
        { projectId: id, actor },
        { action: 'project.updated', target: { type: 'project', id }, changes },
      );
  });
}
