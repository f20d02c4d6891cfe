import joi from 'joi';
import { isUuid } from '../../platform/ids.ts';
import { listAudit, listAuditOfUser } from '../../services/audit/list.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { rangeMoment } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, optional, text, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';
import { auditEntrySchema, presentAuditEntry } from '../presenters/audit.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';

const actor = (): Typed<string> =>
  documented(
    joi
      .string()
      .custom((value: string, helpers) =>
        isUuid(value) || ['USER', 'KEY', 'SYSTEM'].includes(value)
          ? value
          : refuse(helpers, 'invalid_string', 'must be a user ID, a key ID, USER, KEY or SYSTEM'),
      )
      .required(),
    {
      anyOf: [
        { type: 'string', enum: ['USER', 'KEY', 'SYSTEM'] },
        { type: 'string', format: 'uuid' },
      ],
    },
  );

const query = {
  ...cursorPage(),
  actor: optional(actor()).description('Kind of actor, user ID or key ID.'),
  action: optional(text({ max: 100 }))
    .description('Only this action.')
    .example('campaign.updated'),
  target: optional(text({ max: 255 }))
    .description('Kind of target, such as `campaign`, or target ID.')
    .example('campaign'),
  since: optional(rangeMoment()).description('Start of the range, inclusive: a UTC day or an ISO 8601 time.'),
  until: optional(rangeMoment()).description(
    'End of the range: a UTC day, which is included, or an ISO 8601 time, which is not.',
  ),
};
const entries = answer('A page of audit entries.', cursorListSchema(auditEntrySchema));

export const audit = routes('Audit', [
  route({
    method: 'GET',
    path: '/projects/:id/audit',
    summary: 'List the audit log of a project for the last 400 days, newest first',
    access: 'member',
    role: 'ADMIN',
    params: { id: uuid().description('Project ID.') },
    query,
    answers: { 200: entries, 404: missing('project') },
    handle: async ({ db, settings, project, query }) =>
      ok(presentCursorList(await listAudit(db, project.projectId, settings.secretKeys, query), presentAuditEntry)),
  }),
  route({
    method: 'GET',
    path: '/users/@me/audit',
    summary: 'List your logins, failed logins and security changes of the last 400 days, newest first',
    access: 'session',
    unverified: true,
    query: cursorPage(),
    answers: { 200: entries },
    handle: async ({ db, settings, user, query }) =>
      ok(presentCursorList(await listAuditOfUser(db, user.id, settings.secretKeys, query), presentAuditEntry)),
  }),
]);
