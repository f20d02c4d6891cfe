import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';

// Caches the certificates that sign SNS messages. Anyone can post a message with any certificate URL, so unverified URLs
// must neither evict certificates in use nor cause unlimited fetches.

const MAX_ENTRIES = 100;
const PROVEN_TTL_MS = 60 * 60_000;
/** Also applies to failed fetches. */
const UNPROVEN_TTL_MS = 60_000;
/** The limit for all certificates that have not verified a message yet. */
const FETCHES_PER_MINUTE = 30;

export interface CertificateSource {
  /** Returns undefined when the URL has no certificate; throws when the provider is unreachable. */
  fetchText(url: URL, options: { proven: boolean }): Promise<string | undefined>;
  /** Creates the error for an exhausted fetch limit. */
  busy(): Error;
}

export class CertificateStore {
  private readonly source: CertificateSource;
  /** Certificates that have verified a message. */
  private readonly proven = new LRUCache<string, X509Certificate>({ max: MAX_ENTRIES, ttl: PROVEN_TTL_MS });
  /** Outlives the entries above, so that a once verified URL is always fetched again. */
  private readonly provenUrls = new LRUCache<string, true>({ max: MAX_ENTRIES });
  /** All other certificates; `false` for a URL without one. */
  private readonly unproven = new LRUCache<string, X509Certificate | false>({ max: MAX_ENTRIES, ttl: UNPROVEN_TTL_MS });
  private readonly fetching = new Map<string, Promise<X509Certificate | undefined>>();
  private minute = 0;
  private fetches = 0;

  constructor(source: CertificateSource) {
    this.source = source;
  }

  /** Concurrent callers share one fetch. */
  async get(url: URL): Promise<X509Certificate | undefined> {
    const key = keyOf(url);
    const known = this.proven.get(key) ?? this.unproven.get(key);
    if (known !== undefined) return known || undefined;
    const fetching = this.fetching.get(key) ?? this.fetch(key).finally(() => this.fetching.delete(key));
    this.fetching.set(key, fetching);
    return fetching;
  }

  /** Records that the certificate has verified a message. */
  prove(url: URL, certificate: X509Certificate): void {
    const key = keyOf(url);
    if (this.proven.has(key)) return;
    this.proven.set(key, certificate);
    this.provenUrls.set(key, true);
    this.unproven.delete(key);
  }

  private async fetch(key: string): Promise<X509Certificate | undefined> {
    const proven = this.provenUrls.get(key) ?? false;
    if (!proven) this.countFetch();
    const certificate = readCertificate(await this.source.fetchText(new URL(key), { proven }));
    this.unproven.set(key, certificate ?? false);
    return certificate;
  }

  private countFetch(): void {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.minute) {
      this.minute = minute;
      this.fetches = 0;
    }
    if (++this.fetches > FETCHES_PER_MINUTE) throw this.source.busy();
  }
}

/** Drops the query, which does not affect the certificate. */
const keyOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

function readCertificate(pem: string | undefined): X509Certificate | undefined {
  try {
    return pem ? new X509Certificate(pem) : undefined;
  } catch {
    return undefined;
  }
}
