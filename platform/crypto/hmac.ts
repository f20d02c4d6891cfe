import { createHmac, hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const MAX_FAST_BYTES = 1024;

/** The padded key blocks of RFC 2104, with room for the message behind each. */
interface Pads {
  inner: Buffer;
  outer: Buffer;
}

const cache = new LRUCache<string, Pads>({ max: 100 });

/**
 * Returns the HMAC-SHA-256 (RFC 2104) of `label` and `content` in hex. For short messages `createHmac` spends most of its
 * time on setup, which here happens once per key.
 */
export function hmacHex(key: string, label: string, content: Uint8Array): string {
  const labelBytes = Buffer.byteLength(label);
  const end = BLOCK_BYTES + labelBytes + content.length;
  if (end > MAX_FAST_BYTES) return createHmac('sha256', key).update(label).update(content).digest('hex');
  const { inner, outer } = padsOf(key);
  inner.write(label, BLOCK_BYTES);
  inner.set(content, BLOCK_BYTES + labelBytes);
  outer.write(hash('sha256', inner.subarray(0, end), 'hex'), BLOCK_BYTES, 'hex');
  return hash('sha256', outer, 'hex');
}

function padsOf(key: string): Pads {
  const cached = cache.get(key);
  if (cached) return cached;
  const bytes = Buffer.byteLength(key) > BLOCK_BYTES ? hash('sha256', key, 'buffer') : Buffer.from(key);
  const pads = { inner: Buffer.alloc(MAX_FAST_BYTES, 0x36), outer: Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c) };
  for (const [index, byte] of bytes.entries())
    for (const [pad, value] of [
      [pads.inner, 0x36],
      [pads.outer, 0x5c],
    ] as const)
      pad[index] = byte ^ value;
  cache.set(key, pads);
  return pads;
}
