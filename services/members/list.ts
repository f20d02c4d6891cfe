import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import { statement } from '../../db/statement.ts';

export interface Member {
  userId: string;
  email: string;
  role: Role;
  status: 'ACTIVE' | 'PENDING';
  createdAt: Date;
}

const membersWhere = (name: string, condition: string) =>
  statement<Member>(
    name,
    `select m.user_id, u.email, m.role, m.status, m.created_at from memberships m join users u on u.id = m.user_id
     where m.project_id = $1 and ${condition} order by m.created_at, m.user_id`,
  );
const list = membersWhere('members-list', 'true');
const find = membersWhere('member-find', 'm.user_id = $2');

export const listMembers = (db: Db, projectId: string): Promise<Member[]> => list(db, [projectId]);

export async function findMember(db: Db, projectId: string, userId: string): Promise<Member | undefined> {
  const [member] = await find(db, [projectId, userId]);
  return member;
}
