import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';

// The certificates that SNS messages are signed with. Anybody can post a message that names one, so what a message names
// must neither push out certificates that are in use nor make us fetch without limit.

const MAX_ENTRIES = 100;
const PROVEN_TTL_MS = 60 * 60_000;
/** Also how long a failed fetch is remembered. */
const UNPROVEN_TTL_MS = 60_000;
/** Of certificates that have not proven a message yet, in all. */
const FETCHES_PER_MINUTE = 30;

export interface CertificateSource {
  /** Undefined where there is no certificate at that place; throws where the provider could not be asked. */
  fetchText(url: URL, options: { proven: boolean }): Promise<string | undefined>;
  /** Thrown when the limit of fetches is used up. */
  busy(): Error;
}

export class CertificateStore {
  private readonly source: CertificateSource;
  /** Those that a genuine message was signed with. Only genuine messages add to it. */
  private readonly proven = new LRUCache<string, X509Certificate>({ max: MAX_ENTRIES, ttl: PROVEN_TTL_MS });
  /** Outlives the entries above: what was genuine once may always be fetched again. */
  private readonly provenPlaces = new LRUCache<string, true>({ max: MAX_ENTRIES });
  /** Everything else that was named; `false` where there is no certificate. */
  private readonly unproven = new LRUCache<string, X509Certificate | false>({ max: MAX_ENTRIES, ttl: UNPROVEN_TTL_MS });
  private readonly fetching = new Map<string, Promise<X509Certificate | undefined>>();
  private minute = 0;
  private fetches = 0;

  constructor(source: CertificateSource) {
    this.source = source;
  }

  /** Concurrent callers share one fetch. */
  async get(url: URL): Promise<X509Certificate | undefined> {
    const place = placeOf(url);
    const known = this.proven.get(place) ?? this.unproven.get(place);
    if (known !== undefined) return known || undefined;
    const fetching = this.fetching.get(place) ?? this.fetch(place).finally(() => this.fetching.delete(place));
    this.fetching.set(place, fetching);
    return fetching;
  }

  /** A message was genuine by this certificate. */
  prove(url: URL, certificate: X509Certificate): void {
    const place = placeOf(url);
    if (this.proven.has(place)) return;
    this.proven.set(place, certificate);
    this.provenPlaces.set(place, true);
    this.unproven.delete(place);
  }

  private async fetch(place: string): Promise<X509Certificate | undefined> {
    const proven = this.provenPlaces.get(place) ?? false;
    if (!proven) this.countFetch();
    const certificate = readCertificate(await this.source.fetchText(new URL(place), { proven }));
    this.unproven.set(place, certificate ?? false);
    return certificate;
  }

  private countFetch(): void {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.minute) [this.minute, this.fetches] = [minute, 0];
    if (++this.fetches > FETCHES_PER_MINUTE) throw this.source.busy();
  }
}

/** Without the query: it does not change which certificate the provider serves. */
const placeOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

function readCertificate(pem: string | undefined): X509Certificate | undefined {
  try {
    return pem ? new X509Certificate(pem) : undefined;
  } catch {
    return undefined;
  }
}
