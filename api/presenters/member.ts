import { roles } from '../../services/access/membership.ts';
import type { Member } from '../../services/members/list.ts';
import { dateTime, email, object, oneOf, uuid } from '../http/schemas.ts';

export const memberSchema = object({
  userId: uuid(),
  email: email(),
  role: oneOf(...roles),
  status: oneOf('ACTIVE', 'PENDING'),
  createdAt: dateTime(),
});

export const presentMember = ({ userId, email: address, role, status, createdAt }: Member) => ({
  userId,
  email: address,
  role,
  status,
  createdAt: createdAt.toISOString(),
});
