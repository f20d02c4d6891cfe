import joi from 'joi';
import { createDomain } from '../../services/domains/create.ts';
import { deleteDomain } from '../../services/domains/delete.ts';
import { findUncontested, listDomains } from '../../services/domains/find.ts';
import { answer, created, failure, missing, noContent, notFoundOf, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { list, request, text, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { domainSchema, presentDomain } from '../presenters/domain.ts';

const MAX_INPUT_LENGTH = 1_000;

const params = { id: uuid().description('Domain ID.') };
const noDomain = missing('domain');
const noProject = missing('project');
/** Stands for the caller's project in the path. */
const CURRENT = 'current';
const projectIdOrCurrent = (): Typed<string> => joi.string().guid({ separator: '-', wrapper: false }).allow(CURRENT);

export const domains = ({ checkDomain }: Pick<AppParts, 'checkDomain'>): RouteGroup =>
  routes('Domains', [
    route({
      method: 'GET',
      path: '/domains/project/:projectId',
      summary: 'List the sender domains of a project',
      access: 'secretKey',
      scope: 'domains:read',
      params: { projectId: projectIdOrCurrent().description('ID of the project of the key or session, or `current`.') },
      answers: { 200: answer('The domains, oldest first.', list(domainSchema)), 404: noProject },
      handle: async ({ db, project, settings, params: { projectId } }) => {
        if (projectId !== CURRENT && projectId.toLowerCase() !== project.projectId) throw notFoundOf(noProject);
        return ok((await listDomains(db, project.projectId, settings)).map(presentDomain));
      },
    }),
    route({
      method: 'POST',
      path: '/domains',
      summary: 'Add a sender domain',
      access: 'secretKey',
      scope: 'domains:write',
      body: request('CreateDomainRequest', 'A sender domain to add.', {
        domain: text({ max: MAX_INPUT_LENGTH }).description('Domain name.').example('example.com'),
      }),
      answers: {
        201: answer('The domain with the DNS records to publish; PENDING until they are found.', domainSchema),
        400: failure('The project has the maximum of 100 pending domains.', 'BAD_REQUEST'),
        409: failure('The project already has this domain, or another project has verified it.', 'CONFLICT'),
      },
      handle: async ({ db, project, settings, body }) =>
        created(presentDomain(await createDomain(db, project, body.domain, settings))),
    }),
    route({
      method: 'GET',
      path: '/domains/:id/verify',
      summary: 'Check the DNS records of a sender domain now',
      access: 'secretKey',
      scope: 'domains:read',
      params,
      answers: {
        200: answer('The domain after the check.', domainSchema),
        404: noDomain,
        409: failure('Another project has verified the domain.', 'CONFLICT'),
      },
      handle: async ({ db, project, settings, params: { id } }) => {
        const { domain } = await findUncontested(db, project.projectId, id, settings);
        if (!domain.managed) await checkDomain(domain);
        return ok(presentDomain(await findUncontested(db, project.projectId, id, settings)));
      },
    }),
    route({
      method: 'DELETE',
      path: '/domains/:id',
      summary: 'Delete a sender domain',
      access: 'secretKey',
      scope: 'domains:write',
      params,
      answers: {
        204: answer('Deleted.'),
        404: noDomain,
        409: failure('A template or an unfinished campaign sends from the domain.', 'CONFLICT'),
      },
      handle: async ({ db, project, params }) => {
        await deleteDomain(db, project, params.id);
        return noContent();
      },
    }),
  ]);
