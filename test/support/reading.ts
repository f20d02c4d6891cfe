// Reads through the public routes what tests look up most.
import { expect } from 'chai';
import type { ApiAnswer, ApiProject, Client } from './api.ts';

type Body = ApiAnswer['body'];

async function bodyOf(answer: Promise<ApiAnswer>): Promise<Body> {
  const result = await answer;
  expect(result).to.have.status(200);
  return result.body;
}

/** Returns every entry of a cursor list, in the order of the route. */
async function allPages(client: Pick<Client, 'get'>, path: string): Promise<Body[]> {
  const entries: Body[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Body = await bodyOf(client.get(`${path}${path.includes('?') ? '&' : '?'}limit=100${after}`));
    entries.push(...page.data);
    cursor = page.hasMore ? page.cursor : null;
  }
  return entries;
}

/** The events of the project, oldest first. */
export const readEvents = async ({ server }: Pick<ApiProject, 'server'>, name?: string): Promise<Body[]> =>
  (await allPages(server, name ? `/events?eventName=${encodeURIComponent(name)}` : '/events')).reverse();

/** The names of the project's events, oldest first. */
export const readEventNames = async (project: Pick<ApiProject, 'server'>): Promise<string[]> =>
  (await readEvents(project)).map(({ name }) => name);

/** The events of one mail, oldest first. */
export const readEventsOfMail = async (project: Pick<ApiProject, 'server'>, id: string): Promise<Body[]> =>
  (await readEvents(project)).filter(({ emailId }) => emailId === id);

/** The events of one contact, oldest first. */
export const readEventsOfContact = async ({ server }: Pick<ApiProject, 'server'>, id: string): Promise<Body[]> =>
  (await allPages(server, `/events/contact/${id}`)).reverse();

export const readMails = ({ server }: Pick<ApiProject, 'server'>, query = ''): Promise<Body[]> =>
  allPages(server, `/emails${query}`);

export const readMail = ({ server }: Pick<ApiProject, 'server'>, id: string): Promise<Body> =>
  bodyOf(server.get(`/emails/${id}`));

/** The contacts of the project, ordered by address. */
export const readContacts = async ({ server }: Pick<ApiProject, 'server'>): Promise<Body[]> =>
  (await allPages(server, '/contacts')).sort((a, b) => (a.email < b.email ? -1 : 1));

export const readContact = ({ server }: Pick<ApiProject, 'server'>, id: string): Promise<Body> =>
  bodyOf(server.get(`/contacts/${id}`));

export const readMembers = ({ owner, id }: Pick<ApiProject, 'owner' | 'id'>): Promise<Body[]> =>
  bodyOf(owner.get(`/projects/${id}/members`));

/** The audit log of the project, oldest first. */
export const readAudit = async ({ owner, id }: Pick<ApiProject, 'owner' | 'id'>, action?: string): Promise<Body[]> =>
  (await allPages(owner, `/projects/${id}/audit${action ? `?action=${action}` : ''}`)).reverse();

export const readJobs = ({ server }: Pick<ApiProject, 'server'>): Promise<Body[]> => allPages(server, '/jobs');

/** The newest 100 executions of the workflow. */
export const readExecutions = async ({ server }: Pick<ApiProject, 'server'>, workflowId: string): Promise<Body[]> =>
  (await bodyOf(server.get(`/workflows/${workflowId}/executions?pageSize=100`))).data;

export const readCampaign = ({ server }: Pick<ApiProject, 'server'>, id: string): Promise<Body> =>
  bodyOf(server.get(`/campaigns/${id}`));

/** Changes settings of the project as its owner. */
export async function changeProject({ owner, id }: Pick<ApiProject, 'owner' | 'id'>, change: object): Promise<void> {
  await bodyOf(owner.patch(`/users/@me/projects/${id}`, change));
}

/** The address of the project's owner. */
export const readOwnerEmail = async ({ owner }: Pick<ApiProject, 'owner'>): Promise<string> =>
  (await bodyOf(owner.get('/users/@me'))).email;
