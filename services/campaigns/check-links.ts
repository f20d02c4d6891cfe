import { isWebUrl, type OutboundHttp, type OutboundResponse } from '../../platform/http/outbound-http.ts';
import { linksIn } from '../../platform/mime/html-links.ts';
import { productVersion } from '../../platform/version.ts';

/** What a link of a campaign answers. */
export interface CheckedLink {
  link: string;
  /** Null without an answer. */
  status: number | null;
  error: string | null;
}

const MAX_LINKS = 50;
const CONCURRENT_CALLS = 10;
export const LINK_TIMEOUT_MS = 5_000;
const HEADERS = { 'user-agent': `Everpost/${productVersion}`, accept: '*/*' };
const ENTITIES: Record<string, string> = { '&amp;': '&', '&quot;': '"', '&#39;': "'" };

/** Calls the web links of a body, each once, and follows their redirects. Leaves out ours, and those with variables. */
export async function checkLinks(
  call: OutboundHttp,
  { projectId, body, baseUrl }: { projectId: string; body: string; baseUrl: string },
): Promise<CheckedLink[]> {
  const links = linksOf(body)
    .filter((link) => !isOwn(link, baseUrl))
    .slice(0, MAX_LINKS);
  const checked: CheckedLink[] = [];
  const waiting = [...links.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, link] = next;
      checked[index] = await checkLink(call, projectId, link);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, work));
  return checked;
}

const linksOf = (body: string): string[] => [
  ...new Set(
    linksIn(body)
      .links.map(([start, end]) =>
        body
          .slice(start, end)
          .replace(/&(?:amp|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
          .trim(),
      )
      .filter((link) => isWebUrl(link) && !/\{[{%]/.test(link)),
  ),
];

const isOwn = (link: string, baseUrl: string): boolean => new URL(link).origin === new URL(baseUrl).origin;

/** Asks with HEAD, and with GET where that is not answered well: many servers do not know HEAD. */
async function checkLink(call: OutboundHttp, project: string, link: string): Promise<CheckedLink> {
  const signal = AbortSignal.timeout(LINK_TIMEOUT_MS);
  try {
    const head = await call({ project, method: 'HEAD', url: link, headers: HEADERS }, signal);
    if (head.kind === 'refused' || isGood(head)) return resultOf(link, head);
    return resultOf(link, await call({ project, method: 'GET', url: link, headers: HEADERS }, signal));
  } catch (error) {
    if (!signal.aborted) throw error;
    return { link, status: null, error: `no response within ${LINK_TIMEOUT_MS / 1_000} s` };
  }
}

const isGood = (response: OutboundResponse): boolean => response.kind === 'answered' && response.status < 400;

const resultOf = (link: string, response: OutboundResponse): CheckedLink =>
  response.kind === 'answered'
    ? { link, status: response.status, error: isGood(response) ? null : `answered with ${response.status}` }
    : { link, status: null, error: response.reason };
