// The part of Mailpit's API that scripts use, with Mailpit's JSON.
import { headersByName, headersOf } from './headers.ts';
import { attachmentContent, parseMail } from './message.ts';
import type { CaughtMail, MailStore } from './store.ts';

export interface Reply {
  status: number;
  type: string;
  body: string | Buffer;
  headers?: Record<string, string>;
}

export interface CatcherRequest {
  method: string;
  url: URL;
  body: string;
}

type Handler = (store: MailStore, request: CatcherRequest, ...path: string[]) => Reply | Promise<Reply>;

export const json = (body: unknown, status = 200): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});
export const plainReply = (body: string | Buffer, status = 200): Reply => ({
  status,
  type: 'text/plain; charset=utf-8',
  body,
});
const notFound = (): Reply => json({ Error: 'message not found' }, 404);

const DEFAULT_LIMIT = 50;

export const apiRoutes: [method: string, path: RegExp, handler: Handler][] = [
  ['GET', /^\/api\/v1\/messages$/, (store, { url }) => list(store, store.newestFirst(), url)],
  ['GET', /^\/api\/v1\/search$/, async (store, { url }) => list(store, await search(store, url), url)],
  ['GET', /^\/api\/v1\/message\/([\w-]+)$/, withMail(async (store, mail) => json(await store.describe(mail)))],
  [
    'GET',
    /^\/api\/v1\/message\/([\w-]+)\/headers$/,
    withMail((store, mail) => json(headersByName(headersOf(store.raw(mail))))),
  ],
  ['GET', /^\/api\/v1\/message\/([\w-]+)\/raw$/, withMail((store, mail) => plainReply(store.raw(mail)))],
  ['GET', /^\/api\/v1\/message\/([\w-]+)\/part\/(\d+)$/, withMail(part)],
  ['DELETE', /^\/api\/v1\/messages$/, remove],
  ['GET', /^\/(livez|readyz)$/, () => plainReply('ok')],
];

function withMail(handle: (store: MailStore, mail: CaughtMail, ...path: string[]) => Reply | Promise<Reply>): Handler {
  return (store, _request, id = '', ...path) => {
    const mail = store.get(id);
    return mail ? handle(store, mail, ...path) : notFound();
  };
}

const search = (store: MailStore, url: URL): Promise<CaughtMail[]> => store.search(url.searchParams.get('query') ?? '');

async function list(store: MailStore, found: CaughtMail[], url: URL): Promise<Reply> {
  const start = parseWholeNumber(url.searchParams.get('start'), 0);
  const limit = parseWholeNumber(url.searchParams.get('limit'), DEFAULT_LIMIT);
  if (start === undefined || limit === undefined) return json({ Error: 'start and limit must be whole numbers' }, 400);
  const page = found.slice(start, start + limit);
  const messages = await Promise.all(
    page.map(async (mail) => {
      const { Attachments, Snippet } = await store.preview(mail);
      return { ...mail.summary, Attachments, Snippet };
    }),
  );
  const unread = (mails: CaughtMail[]) => mails.filter(({ summary }) => !summary.Read).length;
  return json({
    total: store.size,
    unread: unread(store.newestFirst()),
    count: messages.length,
    messages_count: found.length,
    messages_unread: unread(found),
    start,
    tags: [],
    messages,
  });
}

function parseWholeNumber(text: string | null, fallback: number): number | undefined {
  if (text === null || text === '') return fallback;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

async function part(store: MailStore, mail: CaughtMail, partId = ''): Promise<Reply> {
  const { attachments } = await parseMail(store.raw(mail));
  const found = attachments[Number(partId) - 1];
  if (!found) return notFound();
  // Not shown inline: an attached HTML page would run in this origin.
  const isImage = /^image\/(png|jpeg|gif|webp)$/.test(found.mimeType);
  const disposition = `${isImage ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(found.filename ?? 'part')}`;
  return {
    status: 200,
    type: found.mimeType,
    body: attachmentContent(found),
    headers: { 'content-disposition': disposition },
  };
}

function remove(store: MailStore, { body }: CatcherRequest): Reply {
  let ids: unknown;
  try {
    const given: unknown = body.trim() ? JSON.parse(body) : {};
    ids =
      given && typeof given === 'object' ? ((given as { IDs?: unknown }).IDs ?? (given as { ids?: unknown }).ids) : [];
  } catch {
    return json({ Error: 'the body is not JSON' }, 400);
  }
  if (ids !== undefined && !Array.isArray(ids)) return json({ Error: 'IDs must be a list' }, 400);
  store.delete(ids === undefined || ids.length === 0 ? undefined : ids.map(String));
  return plainReply('ok');
}
