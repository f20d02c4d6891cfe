import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';

export interface Member {
  userId: string;
  email: string;
  role: Role;
  status: 'ACTIVE' | 'PENDING';
  createdAt: Date;
}

const members = (db: Db, projectId: string) =>
  db('memberships as m')
    .join('users as u', 'u.id', 'm.userId')
    .where('m.projectId', projectId)
    .select<Member[]>('m.userId', 'u.email', 'm.role', 'm.status', 'm.createdAt');

export const listMembers = (db: Db, projectId: string): Promise<Member[]> =>
  members(db, projectId).orderBy(['m.createdAt', 'm.userId']);

export async function findMember(db: Db, projectId: string, userId: string): Promise<Member | undefined> {
  const [member] = await members(db, projectId).where('m.userId', userId);
  return member;
}
