import { hasRole, roles } from '../../services/access/membership.ts';
import { changeRole, removeMember } from '../../services/members/change.ts';
import { inviteMember } from '../../services/members/invite.ts';
import { listMembers } from '../../services/members/list.ts';
import type { ActingMember } from '../../services/members/rules.ts';
import { userEmail } from '../http/account-schemas.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { type CallerOf, type HandlerContext, route, routes } from '../http/route.ts';
import { list, oneOf, request, uuid } from '../http/schemas.ts';
import { memberSchema, presentMember } from '../presenters/member.ts';

const params = { id: uuid().description('Project ID.') };
const ofMember = { ...params, userId: uuid().description('User ID of the member.') };
const one = answer('The member.', memberSchema);
const lastOwner = failure('The member is the last OWNER.', 'CONFLICT');

const actingMember = ({ user, project, role, actor }: CallerOf<'member'> & HandlerContext): ActingMember => ({
  projectId: project.projectId,
  userId: user.id,
  role,
  actor,
});

export const members = routes('Members', [
  route({
    method: 'GET',
    path: '/projects/:id/members',
    summary: 'List the members and pending invitations of a project',
    access: 'member',
    params,
    answers: { 200: answer('The members.', list(memberSchema)), 404: missing('project') },
    handle: async ({ db, params }) => ok((await listMembers(db, params.id)).map(presentMember)),
  }),
  route({
    method: 'POST',
    path: '/projects/:id/members',
    summary: 'Invite a member by email',
    access: 'member',
    role: 'ADMIN',
    confirmed: ({ role }) => hasRole(role, 'ADMIN'),
    params,
    body: request('InviteMemberRequest', 'The user to invite.', {
      email: userEmail().description('Email address.'),
      role: oneOf(...roles).description('Role in the project. Only an OWNER can invite an OWNER.'),
    }),
    answers: {
      201: answer('The pending member.', memberSchema),
      404: missing('project'),
      409: failure('The user is already a member.', 'CONFLICT'),
      429: failure('Too many invitations within a day by this user, project or IP address.', 'RATE_LIMIT_EXCEEDED'),
    },
    handle: async (call) => {
      const { email, emailVerified } = call.user;
      const inviter = { ...actingMember(call), email, emailVerified, ip: call.request.ip };
      return created(presentMember(await inviteMember(call.db, call.settings, inviter, call.body)));
    },
  }),
  route({
    method: 'PATCH',
    path: '/projects/:id/members/:userId',
    summary: "Change a member's role",
    access: 'member',
    role: 'ADMIN',
    confirmed: true,
    params: ofMember,
    body: request('ChangeMemberRoleRequest', 'The new role.', {
      role: oneOf(...roles).description('New role. Only an OWNER can change the role of an OWNER or make one.'),
    }),
    answers: { 200: one, 404: missing('member'), 409: lastOwner },
    handle: async (call) =>
      ok(presentMember(await changeRole(call.db, actingMember(call), call.params.userId, call.body.role))),
  }),
  route({
    method: 'DELETE',
    path: '/projects/:id/members/:userId',
    summary: 'Remove a member, withdraw an invitation or leave the project',
    access: 'member',
    role: 'ADMIN',
    orSelf: 'userId',
    whileDisabled: true,
    params: ofMember,
    answers: { 204: answer('The membership has ended.'), 404: missing('member'), 409: lastOwner },
    handle: async (call) => {
      await removeMember(call.db, actingMember(call), call.params.userId);
      return noContent();
    },
  }),
]);
