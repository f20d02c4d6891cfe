import { roles } from '../../services/access/membership.ts';
import type { Member } from '../../services/members/list.ts';
import { dateTime, email, namedType, oneOf, uuid } from '../http/schemas.ts';

export const memberSchema = namedType('Member', 'A member of a project, or a pending invitation.', {
  userId: uuid().description('User ID.'),
  email: email().description('Email address of the user.'),
  role: oneOf(...roles).description('Role in the project.'),
  status: oneOf('ACTIVE', 'PENDING').description('PENDING until the invitation is accepted.'),
  createdAt: dateTime().description('When the member was added or invited.'),
});

export const presentMember = ({ userId, email: address, role, status, createdAt }: Member) => ({
  userId,
  email: address,
  role,
  status,
  createdAt: createdAt.toISOString(),
});
