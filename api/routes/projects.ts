import { regenerateKeys } from '../../services/access/keys.ts';
import { createProject } from '../../services/projects/create.ts';
import { findProject, listProjects } from '../../services/projects/find.ts';
import { mayRequireTwoFactor, trackings, updateProject } from '../../services/projects/update.ts';
import { deleteProject, resetProject } from '../../services/removal/project.ts';
import { language, projectName, timezone } from '../http/account-schemas.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { origin } from '../http/origin.ts';
import { route, routes } from '../http/route.ts';
import { flag, list, nullable, object, oneOf, optional, request, uuid } from '../http/schemas.ts';
import { presentProject, presentProjectWithKeys, projectSchema, projectWithKeysSchema } from '../presenters/project.ts';
import { eventName } from './track.ts';

const params = { id: uuid().description('Project ID.') };
const one = answer('The project.', projectSchema);
const notFoundMessage = missing('project');
const withKeys = answer('The project with its keys. The secret key cannot be retrieved again.', projectWithKeysSchema);

const settable = {
  tracking: optional(oneOf(...trackings)).description(
    'Which emails track opens and clicks: all, none, or only those of type MARKETING. New projects: ENABLED.',
  ),
  language: optional(language()).description(
    'Language of unsubscribe footers and hosted pages, such as `en` or `pt-BR`. New projects: `en`.',
  ),
  timezone: optional(timezone()).description(
    'IANA time zone of workflow steps that depend on the time of day. New projects: `UTC`.',
  ),
};

const NO_POLICY = { origins: [], events: [] };

const publicKeyPolicy = () =>
  object({
    origins: optional(list(origin(), { max: 100 })).description(
      'Origins of web pages that may use the public key, at most 100. If empty or left out, all may.',
    ),
    events: optional(list(eventName(), { max: 500 })).description(
      'Events that may be tracked with the public key, at most 500. If empty or left out, all may.',
    ),
  });

export const projects = routes('Projects', [
  route({
    method: 'GET',
    path: '/users/@me/projects',
    summary: 'List your projects',
    access: 'session',
    answers: { 200: answer('The projects.', list(projectSchema)) },
    handle: async ({ db, user }) =>
      ok((await listProjects(db, user.id)).map((project) => presentProject(project, project.role))),
  }),
  route({
    method: 'POST',
    path: '/users/@me/projects',
    summary: 'Create a project, with you as its OWNER',
    access: 'session',
    body: request('CreateProjectRequest', 'The project to create.', {
      name: projectName().description('Project name.').example('Acme'),
      ...settable,
    }),
    answers: { 201: withKeys, 409: failure('The user owns the maximum number of projects.', 'CONFLICT') },
    handle: async ({ db, user, settings, actor, body }) => {
      const { project, ...keys } = await createProject(db, { ...body, ownerId: user.id, actor }, settings.limits);
      return created(presentProjectWithKeys(project, 'OWNER', keys));
    },
  }),
  route({
    method: 'GET',
    path: '/projects/:id',
    summary: 'Get a project',
    access: 'member',
    params,
    answers: { 200: one, 404: notFoundMessage },
    handle: async ({ db, user, params }) => {
      const project = await findProject(db, user.id, params.id);
      return ok(presentProject(project, project.role));
    },
  }),
  route({
    method: 'PATCH',
    path: '/users/@me/projects/:id',
    summary: 'Update a project',
    access: 'member',
    role: 'ADMIN',
    confirmed: ({ requireTwoFactor }) => requireTwoFactor === false,
    params,
    body: request('UpdateProjectRequest', 'The changes; fields that are left out stay as they are.', {
      name: optional(projectName()).description('Project name.').example('Acme'),
      ...settable,
      requireTwoFactor: optional(flag()).description(
        'Whether members need two-factor authentication. Only an OWNER who has it can change this.',
      ),
      logRequests: optional(flag()).description(
        'Whether the request log has successful requests of keys too, without bodies.',
      ),
      topicRequired: optional(flag()).description('Whether MARKETING and HEADLESS email needs a topic.'),
      publicKeyPolicy: optional(nullable(publicKeyPolicy())).description(
        'What the public key may be used for. Replaces the whole policy; null removes all restrictions.',
      ),
    }),
    answers: { 200: one, 404: notFoundMessage },
    handle: async ({ db, user, role, params, actor, body: { publicKeyPolicy, ...body } }) => {
      if (body.requireTwoFactor !== undefined) mayRequireTwoFactor(user, role);
      const policy = publicKeyPolicy === undefined ? {} : { publicKeyPolicy: { ...NO_POLICY, ...publicKeyPolicy } };
      await updateProject(db, params.id, { ...body, ...policy }, actor);
      const project = await findProject(db, user.id, params.id);
      return ok(presentProject(project, project.role));
    },
  }),
  route({
    method: 'DELETE',
    path: '/users/@me/projects/:id',
    summary: 'Delete a project',
    access: 'member',
    role: 'OWNER',
    confirmed: true,
    whileDisabled: true,
    params,
    answers: { 204: answer('Deleted. The data is erased in the background.'), 404: notFoundMessage },
    handle: async ({ db, params, actor }) => {
      await deleteProject(db, params.id, actor);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/users/@me/projects/:id/regenerate-keys',
    summary: 'Replace both keys, which stop working immediately',
    access: 'member',
    role: 'ADMIN',
    confirmed: true,
    whileDisabled: true,
    params,
    answers: { 200: withKeys, 404: notFoundMessage },
    handle: async ({ db, user, params, actor }) => {
      const keys = await regenerateKeys(db, params.id, actor);
      const project = await findProject(db, user.id, params.id);
      return ok(presentProjectWithKeys(project, project.role, keys));
    },
  }),
  route({
    method: 'POST',
    path: '/users/@me/projects/:id/reset',
    summary: 'Erase all data of a project, except keys, domains, members and settings',
    access: 'member',
    role: 'ADMIN',
    confirmed: true,
    params,
    answers: { 200: one, 404: notFoundMessage },
    handle: async ({ db, user, params, actor }) => {
      await resetProject(db, params.id, actor);
      const project = await findProject(db, user.id, params.id);
      return ok(presentProject(project, project.role));
    },
  }),
]);
