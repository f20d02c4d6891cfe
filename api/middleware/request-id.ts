import { newId } from '../../platform/ids.ts';
import type { Middleware } from '../http/context.ts';

const SANE = /^[\w.:-]{1,128}$/;

/** The caller's own id where it is one, so that its logs and ours can be laid side by side. */
export const requestId: Middleware = (ctx, next) => {
  const given = ctx.req.headers['x-request-id'];
  ctx.state.id = typeof given === 'string' && SANE.test(given) ? given : newId();
  ctx.res.setHeader('X-Request-Id', ctx.state.id);
  return next();
};
