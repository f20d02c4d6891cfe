import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import type { Listener } from '../../db/listener.ts';
import { statement } from '../../db/statement.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import type { Logger } from '../../platform/logger.ts';
import { SealError } from '../../platform/seal.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { openPrivateKey } from './keys.ts';
import { DOMAINS_CHANNEL } from './notify.ts';

/** What mail of a domain is signed with. */
export interface Signer {
  selector: string;
  /** PEM. */
  privateKey: string;
}

// Our own mail comes from a domain of the operator, who may have added it to a project of theirs.
const find = statement<{ id: string; selector: string; private_key: string }>(
  'domain-signer',
  `select k.id, k.selector, k.private_key from domains d join domain_keys k on k.domain_id = d.id and k.signs
   where d.domain = $2 and (d.project_id = $1 or $1 = '${SYSTEM_PROJECT_ID}' and d.status = 'VERIFIED')`,
);

const MAX_KNOWN = 1_000;

/**
 * The keys that sign, opened, from memory. Notices empty it when a domain changes; while the listening connection has
 * no heartbeat the database is asked every time.
 */
export class SignerCache {
  private readonly known = new LRUCache<string, { projectId: string; signer: Signer | undefined }>({ max: MAX_KNOWN });
  private epoch = 0;
  private readonly db: Db;
  private readonly listener: Listener;
  private readonly secretKeys: SigningKeys;
  private readonly log: Logger | undefined;

  /** The listener is not started yet. */
  constructor(db: Db, listener: Listener, secretKeys: SigningKeys, log?: Logger) {
    this.db = db;
    this.log = log;
    this.listener = listener;
    this.secretKeys = secretKeys;
    listener.on(DOMAINS_CHANNEL, (projectId) => this.forget(projectId));
    listener.onReset(() => this.clear());
  }

  /** Undefined where the domain is not the project's, or has no key (one of ours that nobody checks). */
  async signerFor(projectId: string, domain: string): Promise<Signer | undefined> {
    const place = `${projectId} ${domain}`;
    const known = this.listener.healthy ? this.known.get(place) : undefined;
    if (known) return known.signer;
    const epoch = this.epoch;
    const signer = await this.find(projectId, domain);
    if (epoch === this.epoch && this.listener.healthy) this.known.set(place, { projectId, signer });
    return signer;
  }

  /** A key that cannot be opened holds up nobody: the mail of its domain leaves unsigned, and somebody is told. */
  private async find(projectId: string, domain: string): Promise<Signer | undefined> {
    try {
      return await findSigner(this.db, this.secretKeys, projectId, domain);
    } catch (err) {
      if (!(err instanceof SealError)) throw err;
      this.log?.error({ err, projectId, domain }, 'mail of this domain leaves without a signature');
      return undefined;
    }
  }

  private forget(projectId: string): void {
    this.epoch++;
    for (const [place, entry] of this.known.entries())
      if (entry.projectId === projectId || entry.projectId === SYSTEM_PROJECT_ID) this.known.delete(place);
  }

  private clear(): void {
    this.epoch++;
    this.known.clear();
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
    privateKey: openPrivateKey(secretKeys, { id: row.id, privateKey: row.private_key }),
  };
}
