import type Router from '@koa/router';
import { gateOf, refuseIfDisabled } from '../middleware/access.ts';
import { limitRate } from '../middleware/rate-limit.ts';
import type { Answer } from './answers.ts';
import { type BodyReader, jsonReader, multipartReader } from './body.ts';
import type { AppParts, Context, RequestState } from './context.ts';
import type { Route, Surroundings } from './route.ts';
import { asDeclared, bodyCheck, paramsCheck, queryCheck } from './validate.ts';

type RouterContext = Context & { params: Record<string, string> };

/** Registers a declared route: everything that the declaration says is prepared here, once. */
export function serve(router: Router<RequestState>, route: Route, parts: AppParts): void {
  const { path, answers } = route;
  const gate = gateOf(route.access, path, parts);
  const read = readerOf(route, parts);
  const checkParams = paramsCheck(route.params, answers);
  const checkQuery = queryCheck(route.query);
  const checkBody = bodyCheck(route.body);
  const method = route.method.toLowerCase() as Lowercase<Route['method']>;

  router[method](path, async (ctx: RouterContext) => {
    ctx.state.route = path;
    const caller = await gate(ctx);
    if (caller.project) {
      if (parts.limiter) await limitRate(ctx, parts.limiter, caller.project.projectId);
      refuseIfDisabled(ctx, caller.project);
    }
    const params = checkParams(ctx.params);
    const query = checkQuery(ctx.query);
    const content = read && (await read(ctx));
    try {
      const body = content && checkBody(content);
      const call = { ...surroundings(ctx, route, parts), ...caller, params, query, body, files: content?.files ?? {} };
      send(ctx, await route.handle(call));
    } catch (error) {
      throw asDeclared(route, error);
    } finally {
      await content?.release();
    }
  });
}

function readerOf({ body, multipart, bodyLimit }: Route, { settings }: AppParts): BodyReader | undefined {
  if (multipart) return multipartReader(multipart);
  return body && jsonReader(bodyLimit?.(settings));
}

function surroundings(ctx: Context, { method, path }: Route, { db, settings, log }: AppParts): Surroundings {
  const request = {
    id: ctx.state.id,
    name: `${method} ${path}`,
    headers: ctx.req.headers,
    get ip() {
      return ctx.ip;
    },
  };
  return { db, settings, log, request };
}

function send(ctx: Context, { status, body, headers }: Answer): void {
  ctx.status = status;
  if (headers) ctx.set(headers);
  if (body !== undefined) ctx.body = body;
}
