// Lets some of the invented people open the sample campaign and click, so that its numbers are not all zero.
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleContacts } from './sample-content.ts';

const PATIENCE_MS = 120_000;
const PAUSE_MS = 1_000;
/** An open sooner than this counts as a machine's (services/emails/machines.ts). */
const READING_MS = 3_000;
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';
/** Apple's privacy proxy. */
const PROXY = 'Mozilla/5.0';

interface Stack {
  apiUrl: string;
  mailUrl: string | null;
}

/** Runs beside the stack and ends by itself; whatever fails is left out. */
export async function readSampleMail({ apiUrl, mailUrl }: Stack): Promise<void> {
  if (!mailUrl) return;
  const readers = sampleContacts(Date.now())
    .filter(({ subscribed }, n) => subscribed && n % 5 < 3)
    .map(({ email }) => email);
  const open = new Set(readers);
  for (const end = Date.now() + PATIENCE_MS; open.size > 0 && Date.now() < end; await sleep(PAUSE_MS)) {
    for (const email of [...open]) {
      const html = await htmlOf(mailUrl, email).catch(() => undefined);
      if (html === undefined) continue;
      open.delete(email);
      const links = trackedLinks(html, apiUrl);
      const clicks = readers.indexOf(email) % 3 === 0;
      const headers = { 'user-agent': readers.indexOf(email) % 3 === 1 ? PROXY : PHONE };
      for (const link of links.filter(({ click }) => !click || clicks))
        await fetch(link.url, { headers, redirect: 'manual' }).catch(() => {});
    }
  }
}

async function htmlOf(mailUrl: string, email: string): Promise<string | undefined> {
  const query = encodeURIComponent(`to:"${email}" subject:"autumn"`);
  const found = (await (await fetch(`${mailUrl}/api/v1/search?query=${query}`)).json()) as {
    messages: { ID: string; Created: string }[];
  };
  const [message] = found.messages;
  if (!message || Date.now() - Date.parse(message.Created) < READING_MS) return undefined;
  const { HTML } = (await (await fetch(`${mailUrl}/api/v1/message/${message.ID}`)).json()) as { HTML: string };
  return HTML;
}

/** The pixel is under /t/o/, a tracked link under /t/c/. */
function trackedLinks(html: string, apiUrl: string): { url: string; click: boolean }[] {
  const found = [...html.matchAll(/(?:href|src)="([^"]*\/t\/([oc])\/[^"]*)"/g)];
  return found.flatMap(([, url = '', kind]) => {
    const address = url.replaceAll('&amp;', '&');
    return address.startsWith(apiUrl) ? [{ url: address, click: kind === 'c' }] : [];
  });
}
