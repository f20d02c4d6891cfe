import { expect } from 'chai';
import { type AgentClass, classifyRequest, classifyUserAgent, isMachine } from '../../services/emails/machines.ts';

/** User agents as they appear in logs of tracking pixels and links. */
const corpus: Record<AgentClass, string[]> = {
  CLIENT: [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
    'Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.12.2',
    'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
    'Microsoft Office/16.0 (Microsoft Outlook 16.0.17628; Pro)',
    'Outlook-iOS/711.3226745.prod.iphone (4.2413.0)',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240605.024; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.71 Mobile Safari/537.36',
    'Mozilla/5.0 (Linux; Android 8.0; CUBOT X18 Plus) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.45 Mobile Safari/537.36',
    'Mozilla/5.0 (Linux; Android 13; SM-S908B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36',
  ],
  IMAGE_PROXY: [
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  ],
  PRIVACY_PROXY: ['Mozilla/5.0', ' Mozilla/5.0 '],
  PREFETCH: [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b',
    'Mozilla/5.0 (Linux; Android 6.0.1) Chrome/126.0 Mobile Safari/537.36 Chrome-Prefetch-Proxy',
  ],
  SCANNER: [
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/126.0 Safari/537.36',
    'Mozilla/5.0 (compatible; BarracudaCentral; +http://www.barracudacentral.org)',
    'Mimecast URL Protection',
    'Mozilla/5.0 (compatible; Proofpoint URL Defense)',
    'Microsoft Office Existence Discovery',
    'Mozilla/5.0 (compatible; TrendMicro SafeSync)',
    'Mozilla/5.0 (Windows NT 10.0) SophosLabs URL scanner',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'TelegramBot (like TwitterBot)',
    'WhatsApp/2.24.13.77 A',
    'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
  ],
  SCRIPT: [
    'node',
    'undici',
    'axios/1.7.2',
    'curl/8.5.0',
    'Wget/1.21.4',
    'python-requests/2.32.3',
    'Python/3.12 aiohttp/3.9.5',
    'Go-http-client/2.0',
    'Java/17.0.11',
    'Apache-HttpClient/4.5.14 (Java/17.0.11)',
    'okhttp/4.12.0',
    'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.22621.2506',
  ],
  NONE: ['', '   '],
};

/** Headers as browsers send them when they load a page or a picture that nobody has asked for yet. */
const inAdvance = [
  // Chrome's speculation rules and omnibox, Safari and Firefox today.
  { 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { 'sec-purpose': 'prefetch;anonymous-client-ip' },
  // Chrome before.
  { purpose: 'prefetch' },
  // Safari before, for its list of top sites and for previews of links.
  { 'x-purpose': 'preview' },
  { purpose: 'preview' },
  // Firefox before.
  { 'x-moz': 'prefetch' },
  { 'sec-purpose': '', 'x-moz': 'prefetch' },
];
const notInAdvance = [{ 'sec-purpose': '' }, { purpose: 'navigate' }, { 'x-moz': 'livebookmarks' }];

describe('machines that open and click', () => {
  for (const [name, agents] of Object.entries(corpus))
    it(`are classified as ${name} by their user agent`, () => {
      for (const agent of agents) expect(classifyUserAgent(agent), agent).to.equal(name);
    });

  it('are classified by their headers when these say that they load in advance', () => {
    const [browser = ''] = corpus.CLIENT;
    expect(classifyRequest({ 'user-agent': browser })).to.equal('CLIENT');
    for (const headers of inAdvance) {
      const text = JSON.stringify(headers);
      for (const agent of [...corpus.CLIENT, ...corpus.IMAGE_PROXY])
        expect(classifyRequest({ 'user-agent': agent, ...headers }), text).to.equal('PREFETCH');
    }
    for (const headers of notInAdvance)
      expect(classifyRequest({ 'user-agent': browser, ...headers }), JSON.stringify(headers)).to.equal('CLIENT');
    expect(classifyRequest({})).to.equal('NONE');
  });

  it('are classified by the first 512 characters, in linear time', () => {
    expect(classifyUserAgent(`${'a'.repeat(600)} Googlebot/2.1`)).to.equal('CLIENT');
    expect(classifyUserAgent('safe '.repeat(100_000))).to.equal('CLIENT');
  });

  const sentAt = new Date('2026-01-01T10:00:00Z');
  /** Class, seconds after sending, whether it was a machine. */
  const timings: [AgentClass | null, number | null, boolean][] = [
    ['CLIENT', 0, true],
    ['CLIENT', -5, true],
    ['CLIENT', 1.999, true],
    ['CLIENT', 2, false],
    ['CLIENT', 86_400, false],
    ['CLIENT', null, false],
    [null, 1, true],
    [null, 3, false],
    ['IMAGE_PROXY', 3, true],
    ['IMAGE_PROXY', 9.9, true],
    ['IMAGE_PROXY', 10, false],
    ['PRIVACY_PROXY', 3_600, true],
    ['PREFETCH', 3_600, true],
    ['SCANNER', 3_600, true],
    ['SCRIPT', 3_600, true],
    ['NONE', null, true],
  ];

  for (const [agent, seconds, machine] of timings)
    it(`${machine ? 'include' : 'exclude'} ${agent ?? 'an unknown agent'} ${seconds === null ? 'at an unknown time' : `${seconds} s after sending`}`, () => {
      const at = new Date(sentAt.getTime() + (seconds ?? 0) * 1000);
      expect(isMachine({ agent, at, sentAt: seconds === null ? null : sentAt })).to.equal(machine);
    });
});
