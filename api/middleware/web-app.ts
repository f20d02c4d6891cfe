import { ApiError } from '../../platform/errors.ts';
import type { Context, Middleware } from '../http/context.ts';
import { sessionToken } from '../http/session-cookie.ts';
import { INDEX, type StaticFile, type StaticFiles, sendEncoded, sendStaticFile } from '../http/static-files.ts';
import { PAGE_METHODS, refuseMethod } from './unknown-route.ts';

/** Mail is shown in frames of our own preview URLs; Mantine and CodeMirror need inline styles. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' https: data:",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const ROOT = '/app/';

/**
 * Serves the web application. Every path below /app/ that is no file is a page of it, so it gets index.html, which the
 * application routes by itself.
 */
export function webApp(files: StaticFiles | undefined): Middleware {
  const index = files?.get(INDEX);
  const signedOutIndex = index && withoutSession(index);
  return (ctx, next) => {
    const { path } = ctx;
    if (path !== '/' && path !== '/app' && !path.startsWith(ROOT)) return next();
    const name = path.slice(ROOT.length);
    if (!PAGE_METHODS.includes(ctx.method)) {
      if (isFileName(name) && !files?.has(name)) return next();
      return refuseMethod(ctx, PAGE_METHODS);
    }
    if (path === '/' && !wantsPage(ctx)) return next();
    ctx.state.route = path === '/' ? '/' : '/app/*';
    if (path === '/' || path === '/app') {
      ctx.set('Vary', 'Accept');
      return ctx.redirect(ROOT);
    }
    if (!files) throw notBuilt();
    const page = sessionToken(ctx.req.headers) === undefined ? signedOutIndex : index;
    const file = name === INDEX || (!files.has(name) && !isFileName(name)) ? page : files.get(name);
    if (!file) throw new ApiError(404, 'RESOURCE_NOT_FOUND', 'File not found in the web application.');
    send(ctx, file);
  };
}

const wantsPage = (ctx: Context): boolean => /\btext\/html\b/i.test(ctx.get('Accept'));

/** Such a path must not get a page: after an update a browser may ask for a file of the version before. */
const isFileName = (name: string): boolean => name.startsWith('assets/');

/**
 * Marks the page for a browser without a session, so that the application asks for a log-in at once. The application itself
 * cannot see the cookie, and would have to find out by a request that fails.
 */
function withoutSession(file: StaticFile): StaticFile {
  const content = Buffer.from(file.content.toString('utf8').replace('<html ', '<html data-signed-out '));
  return { ...file, content, compressed: {} };
}

function send(ctx: Context, file: StaticFile): void {
  if (!file.contentType.startsWith('text/html')) {
    sendStaticFile(ctx, file);
    return;
  }
  ctx.set({
    'Content-Type': file.contentType,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex',
  });
  sendEncoded(ctx, file);
}

const notBuilt = (): ApiError =>
  new ApiError(404, 'RESOURCE_NOT_FOUND', 'The web application is not built.', {
    suggestion: 'Run "npm run build", or start everything with "npm start".',
  });
