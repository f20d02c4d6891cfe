import joi from 'joi';
import { retryParkedMessage } from '../../services/operators/outbox.ts';
import { readOverview } from '../../services/operators/overview.ts';
import { findAnyProject, listAllProjects } from '../../services/operators/projects.ts';
import { disableProject, enableProject } from '../../services/projects/disable.ts';
import { answer, missing, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { cursorPage, line, object, optional, text, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import {
  operatorProjectSchema,
  overviewSchema,
  presentOperatorProject,
  presentOverview,
} from '../presenters/operator.ts';

const params = { id: uuid() };
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
      summary: 'Get queues, overdue mail, parked messages, failing endpoints, processes, and the state of Temporal',
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
      summary: 'List all projects with volume, rates and state; `search` takes a name, an id or an address of a member',
      access: 'operator',
      query: { ...cursorPage(), search: optional(text({ max: 254 })) },
      answers: { 200: answer('The projects.', cursorListSchema(operatorProjectSchema)) },
      handle: async ({ db, settings, query }) =>
        ok(presentCursorList(await listAllProjects(db, settings.secretKeys, query), presentOperatorProject)),
    }),
    route({
      method: 'POST',
      path: '/operator/projects/:id/disable',
      summary: 'Disable a project: it refuses writes, and its mail waits',
      access: 'operator',
      params,
      body: { reason: line({ max: 500 }) },
      answers: { 200: one, 404: missing('project') },
      handle: async ({ db, params, body, actor }) => {
        await disableProject(db, params.id, { reason: body.reason, actor });
        return ok(presentOperatorProject(await findAnyProject(db, params.id)));
      },
    }),
    route({
      method: 'POST',
      path: '/operator/projects/:id/enable',
      summary: 'Enable a project: it accepts writes, and its mail is sent',
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
      params: { id: messageId() },
      answers: { 200: answer('It is retried.', object({ id: text() })), 404: missing('outbox message') },
      handle: async ({ db, params, actor }) => {
        await retryParkedMessage(db, params.id, actor);
        return ok({ id: params.id });
      },
    }),
  ]);
}
