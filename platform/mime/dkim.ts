import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** The key that signs mail of a domain (RFC 6376). */
export interface DkimKey {
  domain: string;
  selector: string;
  /** PEM. */
  privateKey: string;
}

/** Covers sender, recipient, content and the unsubscribe headers (RFC 8058, 4). */
const SIGNED_HEADERS = [
  'From',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'Cc',
  'In-Reply-To',
  'References',
  'Sender',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Auto-Submitted',
  'Precedence',
  'Feedback-ID',
  'List-Id',
  'List-Help',
  'List-Post',
  'List-Owner',
  'List-Archive',
  'List-Subscribe',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].map((name) => name.toLowerCase());

/**
 * Named in `h=` once more than the mail has them, present or not, so that an added header breaks the signature. Mail
 * programs show the first or the last of several, so an added one could replace the signed one (RFC 6376, 8.15).
 */
const OVERSIGNED_HEADERS = ['from', 'subject', 'to', 'date', 'reply-to', 'mime-version', 'content-type'];

const keys = new LRUCache<string, KeyObject>({ max: 1_000 });

/** Prepends the DKIM signature. RSA, about a millisecond, runs in the thread pool. */
export async function signWithDkim(raw: Buffer, key: DkimKey): Promise<Buffer> {
  const { unsigned, data } = signedParts(raw, key);
  return withSignature(raw, unsigned, await signData(data, keyObject(key.privateKey)));
}

/** Like `signWithDkim`, in this thread: for processes that do nothing else. */
export function signWithDkimSync(raw: Buffer, key: DkimKey): Buffer {
  const { unsigned, data } = signedParts(raw, key);
  return withSignature(raw, unsigned, sign('sha256', data, keyObject(key.privateKey)));
}

/** Returns the signature header without its value, and the bytes that are signed. */
function signedParts(raw: Buffer, key: DkimKey): { unsigned: string; data: Buffer } {
  const headEnd = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, headEnd < 0 ? raw.length : headEnd + 2);
  const body = headEnd < 0 ? '' : raw.toString('latin1', headEnd + 4);
  const headers = signedHeaders(head);
  const unsigned = signatureHeader(key, [...headers.map(([name]) => name), ...OVERSIGNED_HEADERS], bodyHash(body));
  const data = `${headers.map(([, line]) => `${relaxedHeader(line)}\r\n`).join('')}${relaxedHeader(unsigned)}`;
  return { unsigned, data: Buffer.from(data, 'latin1') };
}

function withSignature(raw: Buffer, unsigned: string, signature: Buffer): Buffer {
  const lines =
    signature
      .toString('base64')
      .match(/.{1,70}/g)
      ?.join('\r\n ') ?? '';
  return Buffer.concat([Buffer.from(`${unsigned}${lines}\r\n`, 'latin1'), raw]);
}

function keyObject(pem: string): KeyObject {
  const cached = keys.get(pem);
  if (cached) return cached;
  const key = createPrivateKey(pem);
  keys.set(pem, key);
  return key;
}

function signData(data: Buffer, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Runs in the thread pool because of the callback.
    sign('sha256', data, key, (error, signature) => (error ? reject(error) : resolve(signature)));
  });
}

/** Returns the headers to sign in the order of the list; of a repeated header the last comes first (RFC 6376, 5.4.2). */
function signedHeaders(head: string): [name: string, line: string][] {
  const found = new Map<string, string[]>();
  for (const line of head.split(/\r\n(?![ \t])/)) {
    const name = line.slice(0, line.indexOf(':')).trim().toLowerCase();
    if (!name) continue;
    const lines = found.get(name);
    if (lines) lines.push(line);
    else found.set(name, [line]);
  }
  return SIGNED_HEADERS.flatMap((name) =>
    (found.get(name) ?? []).reverse().map((line): [string, string] => [name, line]),
  );
}

function signatureHeader({ domain, selector }: DkimKey, names: string[], hash: string): string {
  const timestamp = Math.floor(Date.now() / 1000);
  const list = (names.join(':').match(/.{1,65}(?::|$)/g) ?? []).join('\r\n  ');
  return (
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain};\r\n` +
    ` s=${selector}; t=${timestamp};\r\n h=${list};\r\n bh=${hash};\r\n b=`
  );
}

/** Relaxed header canonicalization (RFC 6376, 3.4.2). */
function relaxedHeader(line: string): string {
  const colon = line.indexOf(':');
  const value = line
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    // Not trim(), which would remove bytes of multi-byte characters that look like spaces.
    .replace(/^ | $/g, '');
  return `${line.slice(0, colon).trim().toLowerCase()}:${value}`;
}

/** Blanks that relaxed canonicalization reduces to a single space. */
const REDUCIBLE_BLANKS = /[ \t]{2,}|\t/g;

/**
 * Returns the hash of a body in its relaxed canonical form (RFC 6376, 3.4.4): a run of blanks is one space; blanks at line
 * ends and empty lines at the end are ignored. Takes linear time: reduces runs first, so that at most one space is left
 * before a line end. A pattern for "blanks before a line end" takes quadratic time on a long run of blanks.
 */
export function bodyHash(body: string): string {
  let text = body.replace(REDUCIBLE_BLANKS, ' ').replaceAll(' \r\n', '\r\n');
  if (text.endsWith(' ')) text = text.slice(0, -1);
  let end = text.length;
  while (text.endsWith('\r\n', end)) end -= 2;
  const canonical = end === 0 ? '' : `${text.slice(0, end)}\r\n`;
  return createHash('sha256').update(canonical, 'latin1').digest('base64');
}
