import { badRequest } from '../../platform/errors.ts';
import type { Middleware } from '../http/context.ts';

/** Rejects requests without Host, and URLs that do not decode or contain NUL, before other code reads them. */
export const readableUrl: Middleware = (ctx, next) => {
  if (ctx.req.headers.host === undefined && ctx.req.httpVersion === '1.1')
    throw badRequest('This request has no Host header.');
  const violation = ctx.req.url?.includes('%') && violationOf(ctx.req.url);
  if (violation) throw badRequest(`The path or the query of this request ${violation}.`);
  return next();
};

function violationOf(url: string): string | undefined {
  try {
    return decodeURIComponent(url).includes('\0') ? 'contains a NUL character' : undefined;
  } catch {
    return 'is not validly percent-encoded UTF-8';
  }
}
