// The part of Mailpit's API that scripts use, in Mailpit's shapes.
import { headersByName, headersOf } from './headers.ts';
import { contentOf, parseMail } from './message.ts';
import type { Caught, MailStore } from './store.ts';

export interface Reply {
  status: number;
  type: string;
  body: string | Buffer;
  headers?: Record<string, string>;
}

export interface Asked {
  method: string;
  url: URL;
  body: string;
}

type Handler = (store: MailStore, asked: Asked, ...path: string[]) => Reply | Promise<Reply>;

export const json = (body: unknown, status = 200): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});
export const plain = (body: string | Buffer, status = 200): Reply => ({
  status,
  type: 'text/plain; charset=utf-8',
  body,
});
const notFound = (): Reply => json({ Error: 'message not found' }, 404);

const DEFAULT_LIMIT = 50;

export const apiRoutes: [method: string, path: RegExp, handler: Handler][] = [
  ['GET', /^\/api\/v1\/messages$/, (store, { url }) => list(store, store.newestFirst(), url)],
  ['GET', /^\/api\/v1\/search$/, async (store, { url }) => list(store, await searched(store, url), url)],
  ['GET', /^\/api\/v1\/message\/([\w-]+)$/, withMail(async (store, mail) => json(await store.describe(mail)))],
  [
    'GET',
    /^\/api\/v1\/message\/([\w-]+)\/headers$/,
    withMail((store, mail) => json(headersByName(headersOf(store.raw(mail))))),
  ],
  ['GET', /^\/api\/v1\/message\/([\w-]+)\/raw$/, withMail((store, mail) => plain(store.raw(mail)))],
  ['GET', /^\/api\/v1\/message\/([\w-]+)\/part\/(\d+)$/, withMail(part)],
  ['DELETE', /^\/api\/v1\/messages$/, remove],
  ['GET', /^\/(livez|readyz)$/, () => plain('ok')],
];

function withMail(use: (store: MailStore, mail: Caught, ...path: string[]) => Reply | Promise<Reply>): Handler {
  return (store, _asked, id = '', ...path) => {
    const mail = store.get(id);
    return mail ? use(store, mail, ...path) : notFound();
  };
}

const searched = (store: MailStore, url: URL): Promise<Caught[]> => store.search(url.searchParams.get('query') ?? '');

async function list(store: MailStore, found: Caught[], url: URL): Promise<Reply> {
  const start = whole(url.searchParams.get('start'), 0);
  const limit = whole(url.searchParams.get('limit'), DEFAULT_LIMIT);
  if (start === undefined || limit === undefined) return json({ Error: 'start and limit must be whole numbers' }, 400);
  const page = found.slice(start, start + limit);
  const messages = await Promise.all(
    page.map(async (mail) => {
      const { Attachments, Snippet } = await store.glimpse(mail);
      return { ...mail.summary, Attachments, Snippet };
    }),
  );
  const unread = (mails: Caught[]) => mails.filter(({ summary }) => !summary.Read).length;
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

function whole(text: string | null, fallback: number): number | undefined {
  if (text === null || text === '') return fallback;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

async function part(store: MailStore, mail: Caught, partId = ''): Promise<Reply> {
  const { attachments } = await parseMail(store.raw(mail));
  const found = attachments[Number(partId) - 1];
  if (!found) return notFound();
  // Never shown in place, whatever it says it is: an attached HTML page would run in the origin of this one.
  const isImage = /^image\/(png|jpeg|gif|webp)$/.test(found.mimeType);
  const disposition = `${isImage ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(found.filename ?? 'part')}`;
  return { status: 200, type: found.mimeType, body: contentOf(found), headers: { 'content-disposition': disposition } };
}

function remove(store: MailStore, { body }: Asked): Reply {
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
  return plain('ok');
}
