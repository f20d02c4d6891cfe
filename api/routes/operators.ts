import joi from 'joi';
import { retryParkedMessage } from '../../services/operators/outbox.ts';
import { readOverview } from '../../services/operators/overview.ts';
import { findAnyProject, listAllProjects } from '../../services/operators/projects.ts';
import { disableProject, enableProject } from '../../services/projects/disable.ts';
import { answer, missing, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { cursorPage, line, namedType, optional, request, text, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import {
  operatorProjectSchema,
  overviewSchema,
  presentOperatorProject,
  presentOverview,
} from '../presenters/operator.ts';

const params = { id: uuid().description('Project ID.') };
const one = answer('The project.', operatorProjectSchema);
const messageId = (): Typed<string> =>
  joi
    .string()
    .pattern(/^[0-9]{1,18}$/)
    .required();

/** For operators of the installation, who are made by `everpost user make-operator` only. */
export function operators({ ready }: AppParts): RouteGroup {
  return routes('Operators', [
    route({
      method: 'GET',
      path: '/operator/overview',
      summary: 'Get the state of the installation',
      access: 'operator',
      answers: { 200: answer('The state of the installation.', overviewSchema) },
      handle: async ({ db, settings }) => {
        const { parts } = await ready();
        return ok(presentOverview(await readOverview(db), parts.temporal ?? 'down', settings.temporal));
      },
    }),
    route({
      method: 'GET',
      path: '/operator/projects',
      summary: 'List all projects, newest first',
      access: 'operator',
      query: {
        ...cursorPage(),
        search: optional(text({ max: 254 })).description(
          'Part of the name, a project ID, or the email address of a member.',
        ),
      },
      answers: { 200: answer('A page of projects.', cursorListSchema(operatorProjectSchema)) },
      handle: async ({ db, settings, query }) =>
        ok(presentCursorList(await listAllProjects(db, settings.secretKeys, query), presentOperatorProject)),
    }),
    route({
      method: 'POST',
      path: '/operator/projects/:id/disable',
      summary: 'Disable a project, which makes it read-only and holds its emails',
      access: 'operator',
      params,
      body: request('DisableProjectRequest', 'Why the project is disabled.', {
        reason: line({ max: 500 }).description('Reason, shown to members.').example('Too many complaints.'),
      }),
      answers: { 200: one, 404: missing('project') },
      handle: async ({ db, params, body, actor }) => {
        await disableProject(db, params.id, { reason: body.reason, actor });
        return ok(presentOperatorProject(await findAnyProject(db, params.id)));
      },
    }),
    route({
      method: 'POST',
      path: '/operator/projects/:id/enable',
      summary: 'Enable a project and send its waiting emails',
      access: 'operator',
      params,
      answers: { 200: one, 404: missing('project') },
      handle: async ({ db, params, actor }) => {
        await enableProject(db, params.id, actor);
        return ok(presentOperatorProject(await findAnyProject(db, params.id)));
      },
    }),
    route({
      method: 'POST',
      path: '/operator/outbox/:id/retry',
      summary: 'Retry a parked message to Temporal',
      access: 'operator',
      params: { id: messageId().description('Message ID.').example('4711') },
      answers: {
        200: answer(
          'The message is retried.',
          namedType('RetriedMessage', 'A message that is retried.', {
            id: text().description('Message ID.').example('4711'),
          }),
        ),
        404: missing('outbox message'),
      },
      handle: async ({ db, params, actor }) => {
        await retryParkedMessage(db, params.id, actor);
        return ok({ id: params.id });
      },
    }),
  ]);
}
