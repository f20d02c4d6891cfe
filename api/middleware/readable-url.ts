import { badRequest } from '../../platform/errors.ts';
import type { Middleware } from '../http/context.ts';

/** Rejects requests without Host, and URLs that do not decode or contain NUL, before other code reads them. */
export const readableUrl: Middleware = (ctx, next) => {
  if (ctx.req.headers.host === undefined && ctx.req.httpVersion === '1.1')
    throw badRequest('This request has no Host header.');
  if (ctx.req.url?.includes('%') && !decodes(ctx.req.url))
    throw badRequest('The path or the query of this request is not validly percent-encoded UTF-8.');
  return next();
};

function decodes(url: string): boolean {
  try {
    return !decodeURIComponent(url).includes('\0');
  } catch {
    return false;
  }
}
