import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './api-types.ts';
import { ApiProblem } from './problem.ts';

export type ApiClient = Client<paths>;

/** Routes of an account: no project. */
export const accountApi: ApiClient = createClient<paths>({ baseUrl: '', credentials: 'same-origin' });

const projectApis = new Map<string, ApiClient>();

/** The project is part of the client, so that a late call of one project's page never reaches another project. */
export function projectApi(projectId: string): ApiClient {
  const known = projectApis.get(projectId);
  if (known) return known;
  const created = createClient<paths>({
    baseUrl: '',
    credentials: 'same-origin',
    headers: { 'X-Project-Id': projectId },
    querySerializer: { array: { style: 'form', explode: false } },
  });
  projectApis.set(projectId, created);
  return created;
}

interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the data of an answer, or throws its error. */
export async function unwrap<T>(call: Promise<Result<T>>): Promise<T> {
  const { data, error, response } = await call.catch(() => {
    throw ApiProblem.unreachable();
  });
  if (response.ok) return data as T;
  throw ApiProblem.of(response.status, error);
}
