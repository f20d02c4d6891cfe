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
          : refuse(helpers, 'invalid_string', 'must be the id of a user or key, or USER, KEY or SYSTEM'),
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
  actor: optional(actor()),
  action: optional(text({ max: 100 })),
  target: optional(text({ max: 255 })),
  since: optional(rangeMoment()),
  until: optional(rangeMoment()),
};
const entries = answer('A page of the log.', cursorListSchema(auditEntrySchema));

export const audit = routes('Audit', [
  route({
    method: 'GET',
    path: '/projects/:id/audit',
    summary: 'List who did what in a project during the last 400 days, newest first',
    access: 'member',
    role: 'ADMIN',
    params: { id: uuid() },
    query,
    answers: { 200: entries, 404: missing('project') },
    handle: async ({ db, settings, project, query }) =>
      ok(presentCursorList(await listAudit(db, project.projectId, settings.secretKeys, query), presentAuditEntry)),
  }),
  route({
    method: 'GET',
    path: '/users/@me/audit',
    summary: 'List your log-ins, failed ones, and changes of your security during the last 400 days, newest first',
    access: 'session',
    unverified: true,
    query: cursorPage(),
    answers: { 200: entries },
    handle: async ({ db, settings, user, query }) =>
      ok(presentCursorList(await listAuditOfUser(db, user.id, settings.secretKeys, query), presentAuditEntry)),
  }),
]);
