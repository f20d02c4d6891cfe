import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import type { User } from '../../db/models/user.ts';
import { ApiError } from '../../platform/errors.ts';
import { noProject } from '../access/membership.ts';

export const trackings = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const;

export interface ProjectChange {
  name?: string | undefined;
  tracking?: Project['tracking'] | undefined;
  language?: string | undefined;
  requireTwoFactor?: boolean | undefined;
}

/** Only an OWNER who has two-factor authentication decides whether the project requires it. */
export function mayRequireTwoFactor({ totpEnabledAt }: User, role: Role): void {
  if (role !== 'OWNER')
    throw new ApiError(403, 'FORBIDDEN', `Only an OWNER can change "requireTwoFactor"; your role is ${role}.`);
  if (!totpEnabledAt)
    throw new ApiError(
      403,
      'FORBIDDEN',
      'Only an OWNER with two-factor authentication can change "requireTwoFactor".',
      {
        suggestion: 'Set it up with POST /users/@me/totp and POST /users/@me/totp/confirm first.',
      },
    );
}

export async function updateProject(db: Db, id: string, change: ProjectChange): Promise<void> {
  const { name, tracking, language, requireTwoFactor } = change;
  const changed = await Project.query(db)
    .findById(id)
    .whereNull('deletedAt')
    .patch({
      ...(name !== undefined && { name }),
      ...(tracking !== undefined && { tracking }),
      ...(language !== undefined && { language }),
      ...(requireTwoFactor !== undefined && { requireTwoFactor }),
      updatedAt: new Date(),
    });
  if (!changed) throw noProject();
}
