import type { Db } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import type { Actor } from '../audit/record.ts';

/** The member who makes the change. */
export interface ActingMember {
  projectId: string;
  userId: string;
  role: Role;
  actor: Actor;
}

/** Serializes member changes of a project, so that the last OWNER is known. */
export async function lockMembers(trx: Db, projectId: string): Promise<void> {
  await Project.query(trx).findById(projectId).forNoKeyUpdate().select('id');
}

export async function requireMembership(trx: Db, projectId: string, userId: string): Promise<Membership> {
  const membership = await Membership.query(trx).findById([projectId, userId]);
  if (!membership) throw notFound('member');
  return membership;
}

/** Only an OWNER may make or change an OWNER. */
export function requireOwnerFor(member: ActingMember, ...roles: Role[]): void {
  if (member.role !== 'OWNER' && roles.includes('OWNER'))
    throw new ApiError(403, 'FORBIDDEN', `Only an OWNER can add or change an OWNER; your role is ${member.role}.`);
}

/** Rejects ending or changing the membership of the last OWNER. */
export async function refuseLastOwner(trx: Db, { projectId, userId, role, status }: Membership): Promise<void> {
  if (role !== 'OWNER' || status !== 'ACTIVE') return;
  const other = await Membership.query(trx)
    .findOne({ projectId, role: 'OWNER', status: 'ACTIVE' })
    .whereNot({ userId });
  if (!other)
    throw new ApiError(409, 'CONFLICT', 'This is the last OWNER of the project.', {
      suggestion: 'Make another member OWNER first, or delete the project.',
    });
}
