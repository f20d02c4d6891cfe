import { newId } from '../../platform/ids.ts';
import type { Middleware } from '../http/context.ts';

const VALID_ID = /^[\w.:-]{1,128}$/;

/** Uses the caller's id if it is valid, to correlate its logs with ours. */
export const requestId: Middleware = (ctx, next) => {
  const given = ctx.req.headers['x-request-id'];
  ctx.state.id = typeof given === 'string' && VALID_ID.test(given) ? given : newId();
  ctx.res.setHeader('X-Request-Id', ctx.state.id);
  return next();
};
