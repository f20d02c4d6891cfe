import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../platform/errors.ts';
import { heavyWork } from '../../services/access/heavy-work.ts';
import { requireScope } from '../../services/access/scopes.ts';
import type { Actor } from '../../services/audit/record.ts';
import { authenticatorOf, limitRate, refuseIfDisabled, requireConfirmed } from '../middleware/access.ts';
import { presentRefusedForm } from '../presenters/account-page.ts';
import type { Answer } from './answers.ts';
import {
  anyFormReader,
  type BodyReader,
  formReader,
  jsonOrFormReader,
  jsonReader,
  multipartReader,
  rawReader,
} from './body.ts';
import type { AppParts, Caller, Context } from './context.ts';
import type { Route } from './route.ts';
import { asDeclared, bodyCheck, paramsCheck, queryCheck } from './validate.ts';

const none = Object.freeze({});
/** Pages answer with a page, also when the form breaks rules. */
const HTML_TYPE = 'text/html';
const JSON_TYPE = 'application/json; charset=utf-8';

export type Handler = (ctx: Context, params: Record<string, string>) => Promise<void>;

/** Builds the handler of a declared route; everything derived from the declaration is computed once. */
export function handlerOf(route: Route, parts: AppParts): Handler {
  const { path, answers, heavy, confirmed, alsoScope } = route;
  const { settings, log, concurrency } = parts;
  const { statementTimeoutMs: timeoutMs } = route;
  const db = timeoutMs === undefined ? parts.db : parts.dbWithTimeout(timeoutMs);
  const name = `${route.method} ${path}`;
  const authenticate = authenticatorOf(route, parts);
  const read = readerOf(route, parts);
  const checkParams = paramsCheck(route.params, answers);
  const checkQuery = queryCheck(route.query);
  const checkBody = bodyCheck(route.body);

  const admit = async (ctx: Context, given: Record<string, string>): Promise<Caller> => {
    const caller = await authenticate(ctx, given);
    ctx.state.caller = caller;
    const limiting = limitRate(ctx, parts, caller);
    if (limiting) await limiting;
    if (caller.project && !route.whileDisabled) refuseIfDisabled(ctx, caller.project);
    return caller;
  };

  return async (ctx, given) => {
    ctx.state.route = path;
    const caller = route.worksWithoutDatabase
      ? await admit(ctx, given)
      : await concurrency.run(undefined, () => admit(ctx, given));
    const params = checkParams(given);
    const query = route.query ? checkQuery(ctx.query) : none;
    const content = read && (await read(ctx));
    try {
      const body = content && checkBody(content);
      if (typeof confirmed === 'function' && caller.session && confirmed(body)) requireConfirmed(caller.session);
      if (caller.project && alsoScope?.for?.body(body)) requireScope(caller.project, alsoScope.scope);
      const request = new RequestInfo(ctx, name, () => authenticate(ctx, given));
      const actor = new RequestActor(ctx, caller);
      // Routes that check the key in their statement are busy and audit nothing: they use the cached object as it is.
      const project = caller.project && !route.checksKey ? { ...caller.project, actor } : caller.project;
      const files = content?.files ?? none;
      const call = { db, settings, log, request, actor, ...caller, project, params, query, body, files };
      const projectId = caller.project?.projectId;
      const handle = async () => route.handle(call);
      // Heavy work has a separate queue.
      const answer =
        heavy && projectId
          ? heavyWork(db, heavy, projectId, handle, route.heavyWaitMs)
          : route.worksWithoutDatabase
            ? handle()
            : concurrency.run(projectId, handle);
      send(ctx, await answer);
    } catch (error) {
      const isRefusedForm =
        error instanceof ApiError && error.status === 422 && answers[422]?.contentType === HTML_TYPE;
      if (!isRefusedForm) throw asDeclared(route, error);
      send(ctx, presentRefusedForm(error));
    } finally {
      if (content?.release) await content.release();
    }
  };
}

function readerOf(route: Route, { settings, receiving }: AppParts): BodyReader | undefined {
  const { body, bodyKind, multipart, bodyLimit } = route;
  if (multipart) {
    const read = multipartReader(multipart);
    if (!multipart.large) return read;
    return (ctx) => receiving.run(ctx.state.caller?.project?.projectId ?? '', ctx.req, () => read(ctx));
  }
  if (bodyKind === 'form') return formReader();
  if (bodyKind === 'anyForm') return anyFormReader();
  if (bodyKind === 'jsonOrForm') return jsonOrFormReader();
  const limit = bodyLimit?.(settings) ?? settings.bodyMaxBytes;
  if (bodyKind === 'raw') return rawReader(limit);
  return body && jsonReader(limit);
}

/** Created for every request; resolves the caller's IP only on access. */
class RequestInfo {
  readonly id: string;
  readonly name: string;
  readonly headers: IncomingHttpHeaders;
  /** Checks the caller's rights again, for answers that last. */
  readonly authenticate: () => Promise<unknown>;
  private readonly ctx: Context;

  constructor(ctx: Context, name: string, authenticate: () => Promise<unknown>) {
    this.id = ctx.state.id;
    this.name = name;
    this.authenticate = authenticate;
    this.headers = ctx.req.headers;
    this.ctx = ctx;
  }

  get method(): string {
    return this.ctx.method;
  }

  get ip(): string {
    return this.ctx.ip;
  }
}

/** Created for every request, like `RequestInfo`. A caller without credentials is a person who is not known. */
class RequestActor implements Actor {
  readonly type: Actor['type'];
  readonly id: string | null;
  readonly requestId: string;
  private readonly ctx: Context;

  constructor(ctx: Context, { user, project }: Caller) {
    this.type = project && !user ? 'KEY' : 'USER';
    this.id = user?.id ?? project?.key?.id ?? project?.projectId ?? null;
    this.requestId = ctx.state.id;
    this.ctx = ctx;
  }

  get ip(): string {
    return this.ctx.ip;
  }
}

function send(ctx: Context, { status, body, headers }: Answer): void {
  if (headers) ctx.set(headers);
  if (body === undefined) ctx.status = status;
  else {
    // Setting a body implies 200 in Koa, and setting the type directly avoids its detection; both save time.
    if (status !== 200) ctx.status = status;
    if (typeof body === 'object' && !headers) ctx.res.setHeader('Content-Type', JSON_TYPE);
    ctx.body = body;
  }
}
