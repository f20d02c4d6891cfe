import { securityHeaders } from '../../platform/http/security-headers.ts';
import type { Settings } from '../../platform/settings.ts';
import type { Middleware } from '../http/context.ts';

/** Sets the security headers before anything can fail, so that errors carry them too. */
export function secure({ baseUrl }: Pick<Settings, 'baseUrl'>): Middleware {
  const headers = Object.entries(securityHeaders(baseUrl));
  return (ctx, next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    return next();
  };
}
