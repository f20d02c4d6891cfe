import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import type { Listener } from '../../db/listener.ts';
import { statement } from '../../db/statement.ts';
import { SealError } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import type { Logger } from '../../platform/logger.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { openPrivateKey } from './keys.ts';
import { DOMAINS_CHANNEL } from './notify.ts';

/** A DKIM key that signs a domain's mail. */
export interface Signer {
  selector: string;
  /** PEM. */
  privateKey: string;
}

// System mail is sent from a domain of the operator, who may have added it to a project.
const find = statement<{ id: string; selector: string; privateKey: string }>(
  'domain-signer',
  `select k.id, k.selector, k.private_key from domains d join domain_keys k on k.domain_id = d.id and k.signs
   where d.domain = $2 and (d.project_id = $1 or $1 = '${SYSTEM_PROJECT_ID}' and d.status = 'VERIFIED')`,
);

const MAX_ENTRIES = 1_000;
const FAILURE_MS = 30_000;

/**
 * Caches unsealed signing keys. Notifications invalidate it when a domain changes; without a heartbeat on the listening
 * connection every call queries the database.
 */
export class SignerCache {
  private readonly cache = new LRUCache<string, { projectId: string; signer: Signer | SealError | undefined }>({
    max: MAX_ENTRIES,
  });
  private epoch = 0;
  private readonly db: Db;
  private readonly listener: Listener;
  private readonly secretKeys: SigningKeys;
  private readonly log: Logger | undefined;

  /** `listener` must not be started yet. */
  constructor(db: Db, listener: Listener, secretKeys: SigningKeys, log?: Logger) {
    this.db = db;
    this.log = log;
    this.listener = listener;
    this.secretKeys = secretKeys;
    listener.on(DOMAINS_CHANNEL, (projectId) => this.invalidate(projectId));
    listener.onReset(() => this.clear());
  }

  /**
   * Returns undefined where the domain is not the project's, or has no key (a managed domain). Throws SealError for a key
   * that cannot be unsealed.
   */
  async signerFor(projectId: string, domain: string): Promise<Signer | undefined> {
    const signer = await this.cachedOrFound(projectId, domain);
    if (signer instanceof SealError) throw signer;
    return signer;
  }

  private async cachedOrFound(projectId: string, domain: string): Promise<Signer | SealError | undefined> {
    const cacheKey = `${projectId} ${domain}`;
    const cached = this.listener.healthy ? this.cache.get(cacheKey) : undefined;
    if (cached) return cached.signer;
    const epoch = this.epoch;
    const signer = await this.find(projectId, domain);
    if (epoch === this.epoch && this.listener.healthy)
      this.cache.set(cacheKey, { projectId, signer }, signer instanceof SealError ? { ttl: FAILURE_MS } : {});
    return signer;
  }

  /** Remembers a failure for a moment, so that many waiting mails cost one look-up and one line in the log. */
  private async find(projectId: string, domain: string): Promise<Signer | SealError | undefined> {
    try {
      return await findSigner(this.db, this.secretKeys, projectId, domain);
    } catch (err) {
      if (!(err instanceof SealError)) throw err;
      this.log?.error({ err, projectId, domain }, 'signing key cannot be unsealed; mail of this domain waits');
      return err;
    }
  }

  private invalidate(projectId: string): void {
    this.epoch++;
    for (const [cacheKey, entry] of this.cache.entries())
      if (entry.projectId === projectId || entry.projectId === SYSTEM_PROJECT_ID) this.cache.delete(cacheKey);
  }

  private clear(): void {
    this.epoch++;
    this.cache.clear();
  }
}

export async function findSigner(
  db: Db,
  secretKeys: SigningKeys,
  projectId: string,
  domain: string,
): Promise<Signer | undefined> {
  const [row] = await find(db, [projectId, domain]);
  if (!row) return undefined;
  return {
    selector: row.selector,
    privateKey: openPrivateKey(secretKeys, { id: row.id, privateKey: row.privateKey }),
  };
}
