import { ApiError } from '../../platform/errors.ts';
import type { Context, Middleware } from '../http/context.ts';
import { type DocsSite, policyOf } from '../http/docs-site.ts';
import { INDEX, type StaticFile, type StaticFiles, sendEncoded, sendStaticFile } from '../http/static-files.ts';
import { PAGE_METHODS, refuseMethod } from './unknown-route.ts';

const ROOT = '/docs/';

/** Serves the documentation site below /docs. While it is not built, the route `GET /docs` answers for all pages. */
export const documentation =
  (site: DocsSite): Middleware =>
  async (ctx, next) => {
    const { path } = ctx;
    if (path !== '/docs' && !path.startsWith(ROOT)) return next();
    const isPage = PAGE_METHODS.includes(ctx.method);
    const files = site.files();
    const name = path.slice(ROOT.length);
    if (!files) {
      if (isPage) ctx.path = '/docs';
      return next();
    }
    if (!isPage) return hasPath(files, name) ? refuseMethod(ctx, PAGE_METHODS) : next();
    ctx.state.route = path === '/docs' ? path : '/docs/*';
    sendPath(ctx, files, name);
  };

const pageName = (name: string): string => (name === '' || name.endsWith('/') ? `${name}${INDEX}` : `${name}.html`);

/** Pages have addresses without `.html`; those of directories end with a slash. */
function sendPath(ctx: Context, files: StaticFiles, name: string): void {
  const page = files.get(pageName(name));
  const file = name.endsWith('.html') ? undefined : files.get(name);
  const other = otherForm(name);
  if (page) sendPage(ctx, page);
  else if (file?.immutable) sendStaticFile(ctx, file);
  else if (file) sendChecked(ctx, file);
  else if (files.has(pageName(other))) {
    ctx.redirect(`${ROOT}${other}${ctx.search}`);
    ctx.status = 308;
  } else sendNotFound(ctx, files);
}

const hasPath = (files: StaticFiles, name: string): boolean =>
  files.has(name) || files.has(pageName(name)) || files.has(pageName(otherForm(name)));

/** Returns the address that a page might have instead. */
function otherForm(name: string): string {
  if (name.endsWith('.html')) return name.replace(/(?:\bindex)?\.html$/, '');
  return name.endsWith('/') ? name.slice(0, -1) : `${name}/`;
}

function sendPage(ctx: Context, page: StaticFile): void {
  ctx.set({ 'Content-Security-Policy': policyOf(page), 'Referrer-Policy': 'same-origin' });
  sendChecked(ctx, page);
}

/** For files whose names stay while their content changes: the browser asks every time whether its copy is the latest. */
function sendChecked(ctx: Context, file: StaticFile): void {
  ctx.set({ 'Content-Type': file.contentType, 'Cache-Control': 'no-cache', ETag: file.etag });
  if (file.contentType.startsWith('text/html')) ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  sendEncoded(ctx, file);
}

function sendNotFound(ctx: Context, files: StaticFiles): void {
  const page = files.get('404.html');
  if (!page || !ctx.accepts('html')) throw notFound();
  ctx.set({ 'Content-Type': page.contentType, 'Cache-Control': 'no-store', 'Content-Security-Policy': policyOf(page) });
  ctx.status = 404;
  sendEncoded(ctx, page);
}

const notFound = (): ApiError =>
  new ApiError(404, 'RESOURCE_NOT_FOUND', 'The documentation has no such page.', {
    suggestion: '/docs lists the guides, /docs/api all operations.',
  });
