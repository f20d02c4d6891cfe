import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApiError } from '../../platform/errors.ts';
import { DEMO_DOMAIN, type Settings } from '../../platform/settings.ts';
import { referenceHeaders, referencePage } from '../../web/pages.ts';
import type { Context, Middleware } from '../http/context.ts';
import { type DocsSite, policyOf } from '../http/docs-site.ts';
import type { OpenApiDocument } from '../http/openapi-shared.ts';
import { type Reference, referenceOf } from '../http/reference.ts';
import { etagOf, INDEX, type StaticFile, type StaticFiles, sendEncoded, sendStaticFile } from '../http/static-files.ts';
import { PAGE_METHODS, refuseMethod } from './unknown-route.ts';

const ROOT = '/docs/';
const REFERENCE = '/docs/api';

export interface DocumentationParts {
  site: DocsSite;
  document(): OpenApiDocument;
  settings: Pick<Settings, 'baseUrl' | 'production'>;
}

/**
 * Serves the documentation site below /docs, and the API reference below /docs/api. While the site is not built, the route
 * `GET /docs` answers.
 */
export function documentation({ site, document, settings }: DocumentationParts): Middleware {
  const reference = new ReferencePages(document, settings);
  return async (ctx, next) => {
    const { path } = ctx;
    if (path !== '/docs' && !path.startsWith(ROOT)) return next();
    const isPage = PAGE_METHODS.includes(ctx.method);
    if (path === REFERENCE || path.startsWith(`${REFERENCE}/`)) {
      const slug = path.slice(REFERENCE.length + 1);
      if (!isPage) return reference.has(slug) ? refuseMethod(ctx, PAGE_METHODS) : next();
      ctx.state.route = '/docs/api/*';
      return reference.send(ctx, slug);
    }
    const files = site.files();
    const name = path.slice(ROOT.length);
    if (!files || !(isPage || hasPath(files, name))) return next();
    if (!isPage) return refuseMethod(ctx, PAGE_METHODS);
    ctx.state.route = path === '/docs' ? path : '/docs/*';
    sendPath(ctx, files, name);
  };
}

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

/** Renders each page of the reference at its first request. */
class ReferencePages {
  #document: () => OpenApiDocument;
  #settings: DocumentationParts['settings'];
  #reference: Reference | undefined;
  #pages = new Map<string, Promise<StaticFile>>();

  constructor(document: () => OpenApiDocument, settings: DocumentationParts['settings']) {
    this.#document = document;
    this.#settings = settings;
  }

  /** `slug` names a group of operations; empty for all. */
  has(slug: string): boolean {
    return slug === '' || this.#groupOf(slug) !== undefined;
  }

  async send(ctx: Context, slug: string): Promise<void> {
    if (!this.has(slug)) throw notFound();
    const page = this.#pages.get(slug) ?? compressed(referencePage(this.#content(), this.#groupOf(slug)));
    this.#pages.set(slug, page);
    const { etag, ...file } = await page;
    ctx.set({ ...referenceHeaders, ETag: etag });
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
    else sendEncoded(ctx, file);
  }

  #groupOf(slug: string): Reference['groups'][number] | undefined {
    return this.#content().groups.find((one) => one.slug === slug);
  }

  #content(): Reference {
    const { baseUrl, production } = this.#settings;
    this.#reference ??= referenceOf(this.#document(), {
      baseUrl,
      from: `hello@${production ? 'example.com' : DEMO_DOMAIN}`,
    });
    return this.#reference;
  }
}

async function compressed(html: string): Promise<StaticFile> {
  const content = Buffer.from(html);
  const gzipped = await promisify(gzip)(content);
  const contentType = 'text/html; charset=utf-8';
  return { contentType, content, compressed: { gzip: gzipped }, immutable: false, etag: etagOf(content) };
}
