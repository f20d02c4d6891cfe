// Lets some of the invented people open the sample campaign and click, so that its numbers are not all zero.
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 120_000;
const PAUSE_MS = 1_000;
/** The campaign is over when no mail arrived for so long. */
const QUIET_MS = 30_000;
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

/** Runs beside the stack and ends on its own; whatever fails is left out. */
export async function readSampleMail({ apiUrl, mailUrl }: Stack): Promise<void> {
  if (!mailUrl) return;
  const seen = new Set<string>();
  let lastNew = Date.now();
  for (const end = Date.now() + PATIENCE_MS; Date.now() < Math.min(end, lastNew + QUIET_MS); await sleep(PAUSE_MS)) {
    const arrived = (await caughtMail(mailUrl).catch(() => [])).filter(
      ({ ID, Created }) => !seen.has(ID) && Date.now() - Date.parse(Created) > READING_MS,
    );
    for (const { ID } of arrived) {
      seen.add(ID);
      lastNew = Date.now();
      const n = seen.size;
      if (n % 5 > 2) continue;
      const html = await htmlOf(mailUrl, ID).catch(() => '');
      const headers = { 'user-agent': n % 3 === 1 ? PROXY : PHONE };
      for (const link of trackedLinks(html, apiUrl).filter(({ click }) => !click || n % 3 === 0))
        await fetch(link.url, { headers, redirect: 'manual' }).catch(() => {});
    }
  }
}

async function caughtMail(mailUrl: string): Promise<{ ID: string; Created: string }[]> {
  const query = encodeURIComponent('subject:"autumn"');
  const answer = await fetch(`${mailUrl}/api/v1/search?query=${query}&limit=300`);
  return ((await answer.json()) as { messages: { ID: string; Created: string }[] }).messages;
}

const htmlOf = async (mailUrl: string, id: string): Promise<string> =>
  ((await (await fetch(`${mailUrl}/api/v1/message/${id}`)).json()) as { HTML: string }).HTML;

/** The pixel is under /t/o/, a tracked link under /t/c/. */
function trackedLinks(html: string, apiUrl: string): { url: string; click: boolean }[] {
  const found = [...html.matchAll(/(?:href|src)="([^"]*\/t\/([oc])\/[^"]*)"/g)];
  return found.flatMap(([, url = '', kind]) => {
    const address = url.replaceAll('&amp;', '&');
    return address.startsWith(apiUrl) ? [{ url: address, click: kind === 'c' }] : [];
  });
}
