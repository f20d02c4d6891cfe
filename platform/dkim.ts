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

const keys = new LRUCache<string, KeyObject>({ max: 1_000 });

/** The mail with its signature in front. The costly part, a millisecond of RSA, is done by another thread. */
export async function withSignature(raw: Buffer, key: DkimKey): Promise<Buffer> {
  const border = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, border < 0 ? raw.length : border + 2);
  const body = border < 0 ? '' : raw.toString('latin1', border + 4);
  const headers = signedHeaders(head);
  const unsigned = signatureHeader(key, [...headers.map(([name]) => name), 'from'], bodyHash(body));
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
    if (name) found.set(name, [line, ...(found.get(name) ?? [])]);
  }
  return SIGNED.flatMap((name) => (found.get(name) ?? []).map((line): [string, string] => [name, line]));
}

/** From is named once more than it is there: a second one cannot be put beside it. */
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

/** RFC 6376, 3.4.4: spaces are told by ones, those at the end of a line and the empty lines at the end not at all. */
export function bodyHash(body: string): string {
  let text = body;
  if (/[ \t]{2}|\t|[ \t](?:\r\n|$)/.test(text)) text = text.replace(/[ \t]+(?=\r\n|$)/g, '').replace(/[ \t]+/g, ' ');
  let end = text.length;
  while (text.endsWith('\r\n', end)) end -= 2;
  const canonical = end === 0 ? '' : `${text.slice(0, end)}\r\n`;
  return createHash('sha256').update(canonical, 'latin1').digest('base64');
}
