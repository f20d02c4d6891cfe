// Web pages: a list, and a mail. Content of a mail is untrusted: escaped, or shown in a sandboxed frame.
import { join } from 'node:path';
import nunjucks from 'nunjucks';
import { root } from '../root.ts';
import { type CatcherRequest, plainReply, type Reply } from './api.ts';
import type { Message } from './message.ts';
import { misbehaviours } from './misbehaviour.ts';
import type { MailStore } from './store.ts';

const PAGE_SIZE = 50;
// No scripts, no forms, no access to this origin; links open outside, images load as in a mail program.
const FRAME = 'allow-popups allow-popups-to-escape-sandbox';
const FRAME_POLICY = `sandbox ${FRAME}; default-src 'none'; img-src * data:; style-src 'unsafe-inline'; font-src * data:`;
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'self'; base-uri 'none'";

const views = new nunjucks.Environment(new nunjucks.FileSystemLoader(join(root, 'dev/mail-catcher')), {
  autoescape: true,
  throwOnUndefined: false,
});

const page = (template: string, values: object): Reply => ({
  status: 200,
  type: 'text/html; charset=utf-8',
  body: views.render(template, values),
  headers: { 'content-security-policy': PAGE_POLICY },
});

export const pageRoutes: [
  method: string,
  path: RegExp,
  handler: (store: MailStore, request: CatcherRequest, ...path: string[]) => Promise<Reply>,
][] = [
  ['GET', /^\/$/, listPage],
  ['GET', /^\/view\/([\w-]+)$/, messagePage],
  ['GET', /^\/view\/([\w-]+)\.html$/, bodyPage],
];

async function listPage(store: MailStore, { url }: CatcherRequest): Promise<Reply> {
  const query = url.searchParams.get('query') ?? '';
  const start = Math.max(0, Math.trunc(Number(url.searchParams.get('start'))) || 0);
  const found = query ? await store.search(query) : store.newestFirst();
  const mails = await Promise.all(
    found.slice(start, start + PAGE_SIZE).map(async (mail) => ({ ...mail.summary, ...(await store.preview(mail)) })),
  );
  const older = start + PAGE_SIZE < found.length ? start + PAGE_SIZE : undefined;
  const newer = start > 0 ? Math.max(0, start - PAGE_SIZE) : undefined;
  return page('list.njk', { mails, query, total: found.length, older, newer, misbehaviours });
}

async function messagePage(store: MailStore, _request: CatcherRequest, id = ''): Promise<Reply> {
  const mail = store.get(id);
  if (!mail) return plainReply('There is no such mail.', 404);
  const message = await store.describe(mail);
  return page('message.njk', { message, sandbox: FRAME });
}

async function bodyPage(store: MailStore, _request: CatcherRequest, id = ''): Promise<Reply> {
  const mail = store.get(id);
  if (!mail) return plainReply('There is no such mail.', 404);
  return {
    status: 200,
    type: 'text/html; charset=utf-8',
    body: openLinksOutside(withInlineImages(await store.describe(mail))),
    headers: { 'content-security-policy': FRAME_POLICY },
  };
}

function withInlineImages({ ID, HTML, Inline }: Message): string {
  return Inline.reduce(
    (html, { ContentID, PartID }) => html.replaceAll(`cid:${ContentID}`, `/api/v1/message/${ID}/part/${PartID}`),
    HTML,
  );
}

function openLinksOutside(html: string): string {
  const base = '<base target="_blank">';
  return /<head[^>]*>/i.test(html) ? html.replace(/<head[^>]*>/i, (head) => head + base) : base + html;
}
