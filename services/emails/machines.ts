// Distinguishes opens and clicks by machines from those by people. See docs/decisions/tracking.md.
import type { IncomingHttpHeaders } from 'node:http';

/**
 * The class of a user agent:
 * CLIENT: a mail program or a browser.
 * IMAGE_PROXY: a mailbox provider that loads pictures when its user opens the mail (Gmail, Yahoo).
 * PRIVACY_PROXY: loads all pictures on arrival, whether anybody looks or not (Apple Mail Privacy Protection).
 * PREFETCH: a program that loads pages or pictures in advance.
 * SCANNER: a security gateway or a crawler.
 * SCRIPT: an HTTP library.
 * NONE: no user agent at all.
 */
export const agentClasses = [
  'CLIENT',
  'IMAGE_PROXY',
  'PRIVACY_PROXY',
  'PREFETCH',
  'SCANNER',
  'SCRIPT',
  'NONE',
] as const;
export type AgentClass = (typeof agentClasses)[number];

/** The classes that act without a person. */
const machineClasses: ReadonlySet<AgentClass> = new Set(['PRIVACY_PROXY', 'PREFETCH', 'SCANNER', 'SCRIPT', 'NONE']);

/**
 * No person opens a mail this soon after it was sent. Gateways scan a mail while it arrives, many with the user agent of a
 * browser; image proxies sometimes load its pictures then, too.
 */
const TOO_SOON_SECONDS = 2;
const TOO_SOON_FOR_PROXY_SECONDS = 10;

/** What a user agent may contain beyond this decides nothing. */
const MAX_LENGTH = 512;

const IMAGE_PROXY = /GoogleImageProxy|YahooMailProxy/i;
/** Gmail loads pictures in advance with this agent, and the picture again with that of its proxy. */
const GMAIL_PREFETCH = /Edge\/12\.246 Mozilla\/5\.0$/;
/** Apple's proxies send nothing but this. */
const APPLE_PROXY = /^Mozilla\/5\.0$/;
const PREFETCH = /prefetch|prerender|preview|link ?checker/i;
const SCANNER = new RegExp(
  [
    // Cubot makes telephones.
    '(?<!cu)bot\\b',
    'crawl',
    'spider',
    'slurp',
    '\\bscan|scanner',
    'barracuda',
    'mimecast',
    'proofpoint',
    'safe ?links',
    'microsoft office existence discovery',
    'symantec',
    'messagelabs',
    'fireeye',
    'trellix',
    'trend ?micro',
    'sophos',
    'zscaler',
    'fortiguard',
    'fortinet',
    'checkpoint',
    'cisco-?ironport',
    'ironport',
    'forcepoint',
    'cloudmark',
    'virustotal',
    'urlscan',
    'phish',
    'kaspersky',
    'bitdefender',
    'google-?safety',
    'facebookexternalhit',
    'whatsapp/',
    'slack-imgproxy',
    'skypeuripreview',
    'headlesschrome',
    'phantomjs',
    'puppeteer',
    'playwright',
    'selenium',
  ].join('|'),
  'i',
);
const SCRIPT =
  /^(node|undici|axios|got|curl|wget|python|aiohttp|httpx|java|jakarta|apache-httpclient|okhttp|go-http-client|ruby|faraday|php|guzzle|libwww-perl|lwp|perl|dart|reqwest|hyper|dotnet|powershell|winhttp|http_request|httpie|postman|insomnia)\b|python-requests|go-http-client|Apache-HttpClient|WindowsPowerShell/i;

/** Headers in which browsers say that they load in advance: today's, that of Chrome and Safari before, that of Firefox. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/** Classifies the sender of a request for a pixel or a tracked link. */
export function classifyRequest(headers: IncomingHttpHeaders): AgentClass {
  if (PURPOSES.some((name) => PREFETCH.test(String(headers[name] ?? '').slice(0, MAX_LENGTH)))) return 'PREFETCH';
  return classifyUserAgent(headers['user-agent'] ?? '');
}

export function classifyUserAgent(userAgent: string): AgentClass {
  const text = userAgent.slice(0, MAX_LENGTH).trim();
  if (text === '') return 'NONE';
  if (APPLE_PROXY.test(text)) return 'PRIVACY_PROXY';
  if (GMAIL_PREFETCH.test(text)) return 'PREFETCH';
  if (IMAGE_PROXY.test(text)) return 'IMAGE_PROXY';
  if (SCRIPT.test(text)) return 'SCRIPT';
  if (SCANNER.test(text)) return 'SCANNER';
  return PREFETCH.test(text) ? 'PREFETCH' : 'CLIENT';
}

/** An open or a click, and when its mail was sent. */
interface Reading {
  agent: AgentClass | null;
  at: Date;
  sentAt: Date | null;
}

/** Returns whether a machine opened or clicked. An unknown agent is judged by the time alone. */
export function isMachine(reading: Reading): boolean {
  const agent = reading.agent ?? 'CLIENT';
  if (machineClasses.has(agent)) return true;
  const seconds = secondsAfterSending(reading);
  return seconds !== null && seconds < (agent === 'IMAGE_PROXY' ? TOO_SOON_FOR_PROXY_SECONDS : TOO_SOON_SECONDS);
}

/** Null when it is not known when the mail was sent. Clocks differ: never negative. */
export const secondsAfterSending = ({ at, sentAt }: Pick<Reading, 'at' | 'sentAt'>): number | null =>
  sentAt === null ? null : Math.max(0, (at.getTime() - sentAt.getTime()) / 1000);
