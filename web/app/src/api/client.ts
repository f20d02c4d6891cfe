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

/** Sends a form with a file; `onProgress` gets the share that has left the browser. */
export function upload<T>(
  projectId: string,
  path: string,
  form: FormData,
  onProgress: (share: number) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('X-Project-Id', projectId);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(ApiProblem.unreachable());
    request.onload = () =>
      request.status < 300
        ? resolve(request.response as T)
        : reject(ApiProblem.of(request.status, request.response as unknown));
    request.send(form);
  });
}
