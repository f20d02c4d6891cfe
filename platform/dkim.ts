import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** What mail of a domain is signed with (RFC 6376). */
export interface DkimKey {
  domain: string;
  selector: string;
  /** PEM. */
  privateKey: string;
}

/** What must not change on the way: who wrote, to whom, what, and how one gets off the list (RFC 8058, 4). */
const SIGNED = [
  ...['From', 'Reply-To', 'Subject', 'Date', 'Message-ID', 'To', 'Cc', 'In-Reply-To', 'References', 'Sender'],
  ...['MIME-Version', 'Content-Type', 'Content-Transfer-Encoding', 'Auto-Submitted', 'Precedence', 'Feedback-ID'],
  ...['List-Id', 'List-Help', 'List-Post', 'List-Owner', 'List-Archive', 'List-Subscribe'],
  ...['List-Unsubscribe', 'List-Unsubscribe-Post'],
].map((name) => name.toLowerCase());

/**
 * Named in `h=` once more than the mail has them, present or not: a second one that somebody adds breaks the signature.
 * Mail programs show the first or the last of several, so an added one could replace what was signed (RFC 6376, 8.15).
 */
const OVERSIGNED = ['from', 'subject', 'to', 'date', 'reply-to', 'mime-version', 'content-type'];

const keys = new LRUCache<string, KeyObject>({ max: 1_000 });

/** The mail with its signature in front. The costly part, a millisecond of RSA, is done by another thread. */
export async function withSignature(raw: Buffer, key: DkimKey): Promise<Buffer> {
  const border = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, border < 0 ? raw.length : border + 2);
  const body = border < 0 ? '' : raw.toString('latin1', border + 4);
  const headers = signedHeaders(head);
  const unsigned = signatureHeader(key, [...headers.map(([name]) => name), ...OVERSIGNED], bodyHash(body));
  const data = `${headers.map(([, line]) => `${relaxed(line)}\r\n`).join('')}${relaxed(unsigned)}`;
  const signature = await signed(data, keyObject(key.privateKey));
  const lines = signature.match(/.{1,70}/g)?.join('\r\n ') ?? '';
  return Buffer.concat([Buffer.from(`${unsigned}${lines}\r\n`, 'latin1'), raw]);
}

function keyObject(pem: string): KeyObject {
  const known = keys.get(pem);
  if (known) return known;
  const key = createPrivateKey(pem);
  keys.set(pem, key);
  return key;
}

function signed(data: string, key: KeyObject): Promise<string> {
  return new Promise((resolve, reject) => {
    // With a callback it runs in the pool of threads.
    sign('sha256', Buffer.from(data, 'latin1'), key, (error, signature) =>
      error ? reject(error) : resolve(signature.toString('base64')),
    );
  });
}

/** Those that are there, in the order of the list; of one that is there twice the last comes first (RFC 6376, 5.4.2). */
function signedHeaders(head: string): [name: string, line: string][] {
  const found = new Map<string, string[]>();
  for (const line of head.split(/\r\n(?![ \t])/)) {
    const name = line.slice(0, line.indexOf(':')).trim().toLowerCase();
    if (!name) continue;
    const lines = found.get(name);
    if (lines) lines.push(line);
    else found.set(name, [line]);
  }
  return SIGNED.flatMap((name) => (found.get(name) ?? []).reverse().map((line): [string, string] => [name, line]));
}

function signatureHeader({ domain, selector }: DkimKey, names: string[], hash: string): string {
  const at = Math.floor(Date.now() / 1000);
  const list = (names.join(':').match(/.{1,65}(?::|$)/g) ?? []).join('\r\n  ');
  return (
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain};\r\n` +
    ` s=${selector}; t=${at};\r\n h=${list};\r\n bh=${hash};\r\n b=`
  );
}

/** RFC 6376, 3.4.2. */
function relaxed(line: string): string {
  const colon = line.indexOf(':');
  const value = line
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    // Not trim(): a byte of a wide character may look like a space to it.
    .replace(/^ | $/g, '');
  return `${line.slice(0, colon).trim().toLowerCase()}:${value}`;
}

/** Blanks that relaxed canonicalisation changes; a single space is what it would become. */
const WIDE_BLANKS = /[ \t]{2,}|\t/g;

/**
 * The hash of a body in its relaxed canonical form (RFC 6376, 3.4.4): a run of blanks is one space, and blanks at line
 * ends and empty lines at the end do not count. Takes time in proportion to the body, whatever is in it: runs are
 * replaced first, each matched once, so that only a single space can be left before a line end. Looking for "blanks
 * before a line end" directly takes quadratic time on a long run of blanks that something else follows.
 */
export function bodyHash(body: string): string {
  let text = body.replace(WIDE_BLANKS, ' ').replaceAll(' \r\n', '\r\n');
  if (text.endsWith(' ')) text = text.slice(0, -1);
  let end = text.length;
  while (text.endsWith('\r\n', end)) end -= 2;
  const canonical = end === 0 ? '' : `${text.slice(0, end)}\r\n`;
  return createHash('sha256').update(canonical, 'latin1').digest('base64');
}
