import { createHmac, hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const BLOCK = 64;
const DIGEST = 32;
const SHORT = 1024;

/** What is hashed with a key: the key, worked into a block, and room for what comes behind it. */
interface Pads {
  inner: Buffer;
  outer: Buffer;
}

const known = new LRUCache<string, Pads>({ max: 100 });

/**
 * HMAC-SHA-256 (RFC 2104) of `label` and `content`, in hex. Most of what `createHmac` takes for a few bytes is setting up,
 * which here is done once for a key.
 */
export function hmacHex(key: string, label: string, content: Uint8Array): string {
  const labelBytes = Buffer.byteLength(label);
  const end = BLOCK + labelBytes + content.length;
  if (end > SHORT) return createHmac('sha256', key).update(label).update(content).digest('hex');
  const { inner, outer } = padsOf(key);
  inner.write(label, BLOCK);
  inner.set(content, BLOCK + labelBytes);
  outer.write(hash('sha256', inner.subarray(0, end), 'hex'), BLOCK, 'hex');
  return hash('sha256', outer, 'hex');
}

function padsOf(key: string): Pads {
  const pads = known.get(key);
  if (pads) return pads;
  const bytes = Buffer.byteLength(key) > BLOCK ? hash('sha256', key, 'buffer') : Buffer.from(key);
  const made = { inner: Buffer.alloc(SHORT, 0x36), outer: Buffer.alloc(BLOCK + DIGEST, 0x5c) };
  for (const [at, byte] of bytes.entries())
    for (const [pad, value] of [
      [made.inner, 0x36],
      [made.outer, 0x5c],
    ] as const)
      pad[at] = byte ^ value;
  known.set(key, made);
  return made;
}
