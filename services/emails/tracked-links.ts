import { LRUCache } from 'lru-cache';
import type { SigningKeys } from '../../platform/cursor.ts';
import { openToken, signToken } from '../../platform/signed-token.ts';
import { bytesOf, ID_BYTES, idOf } from './id-bytes.ts';

/** Of one mail: the address of its pixel, and those that its links lead through. */
export interface TrackedMail {
  openUrl: string;
  /** Undefined: this link is left as it is. */
  clickUrl(target: string): string | undefined;
}

class SignedMail implements TrackedMail {
  private readonly links: TrackedLinks;
  private readonly projectId: string;
  private readonly token: string;

  constructor(links: TrackedLinks, projectId: string, token: string) {
    this.links = links;
    this.projectId = projectId;
    this.token = token;
  }

  get openUrl(): string {
    return `${this.links.baseUrl}/t/o/${this.token}`;
  }

  clickUrl(target: string): string | undefined {
    const token = this.links.targetToken(this.projectId, target);
    return token === '' ? undefined : `${this.links.baseUrl}/t/c/${this.token}.${token}`;
  }
}

const MAIL = 'mail';
/** With the project in it: no tenant's links can be put into the events of another. */
const targetOf = (projectId: string): string => `target ${projectId}`;

/** In bytes; with a longer one the link would be too long for some mail programs. */
const LONGEST_TARGET = 4_000;
const CACHE_CHARACTERS = 8 * 1024 * 1024;
/** Pages of contacts, and what counts already. */
const OURS = /^\/(?:unsubscribe|subscribe|manage|t)\//;

/** Without the blanks and controls at both ends, as browsers read an address. A loop: a pattern takes quadratic time. */
function trimmed(address: string): string {
  let [start, end] = [0, address.length];
  while (start < end && address.charCodeAt(start) <= SPACE) start++;
  while (end > start && address.charCodeAt(end - 1) <= SPACE) end--;
  return address.slice(start, end);
}

const SPACE = 0x20;

/**
 * Addresses that count. The mail is signed once, and each target once for all mails of a project that lead there:
 * signing is most of what a link costs.
 */
export class TrackedLinks {
  readonly baseUrl: string;
  private readonly keys: SigningKeys;
  /** Empty: not to be counted. */
  private readonly targets = new LRUCache<string, string>({
    maxSize: CACHE_CHARACTERS,
    sizeCalculation: (token, key) => token.length + key.length + 100,
  });

  constructor(baseUrl: string, keys: SigningKeys) {
    this.baseUrl = baseUrl;
    this.keys = keys;
  }

  of({ id, projectId }: { id: string; projectId: string }): TrackedMail {
    return new SignedMail(this, projectId, signToken(this.keys, MAIL, bytesOf(id, projectId)));
  }

  /** Empty: not to be counted. */
  targetToken(projectId: string, target: string): string {
    // Each contact has its own, which nobody else will ask for again.
    if (this.isOurs(target)) return '';
    const key = `${projectId} ${target}`;
    let token = this.targets.get(key);
    if (token === undefined) {
      const address = this.countable(target);
      token = address === undefined ? '' : signToken(this.keys, targetOf(projectId), address);
      this.targets.set(key, token);
    }
    return token;
  }

  /** The address that a link leads to, where it leads into the web and is none of our own. */
  private countable(target: string): string | undefined {
    const address = trimmed(target);
    if (Buffer.byteLength(address) > LONGEST_TARGET) return undefined;
    if (!/^https?:\/\/[^/]/i.test(address) || address.includes('{{') || !URL.canParse(address)) return undefined;
    return this.isOurs(address) ? undefined : address;
  }

  private isOurs(address: string): boolean {
    return address.startsWith(this.baseUrl) && OURS.test(address.slice(this.baseUrl.length));
  }
}

interface ReadMail {
  emailId: string;
  projectId: string;
}

function readMail(keys: SigningKeys, token: string): ReadMail | undefined {
  const content = openToken(keys, MAIL, token);
  if (content?.length !== 2 * ID_BYTES) return undefined;
  return { emailId: idOf(content), projectId: idOf(content.subarray(ID_BYTES)) };
}

/** The mail that was opened. */
export const readOpenToken = (keys: SigningKeys, token: string): string | undefined => readMail(keys, token)?.emailId;

/** The mail, and the address in it that was clicked. */
export function readClickToken(keys: SigningKeys, token: string): { emailId: string; target: string } | undefined {
  const dot = token.indexOf('.');
  const mail = dot === -1 ? undefined : readMail(keys, token.slice(0, dot));
  const target = mail && openToken(keys, targetOf(mail.projectId), token.slice(dot + 1));
  return target?.length ? { emailId: mail?.emailId ?? '', target: target.toString() } : undefined;
}
