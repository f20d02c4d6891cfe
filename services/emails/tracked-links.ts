import { LRUCache } from 'lru-cache';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { openToken, signToken } from '../../platform/crypto/signed-token.ts';
import { bytesOf, ID_BYTES, idOf } from './id-bytes.ts';

/** The tracking URLs of one mail: its pixel and its links. */
export interface TrackingUrls {
  openUrl: string;
  /** Returns undefined for a link that is not tracked. The index is its position among the links of the email. */
  clickUrl(target: string, index?: number): string | undefined;
}

class SignedMail implements TrackingUrls {
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

  clickUrl(target: string, index?: number): string | undefined {
    const token = this.links.targetToken(this.projectId, target, index);
    return token === '' ? undefined : `${this.links.baseUrl}/t/c/${this.token}.${token}`;
  }
}

const MAIL_PURPOSE = 'mail';
/** The token's purpose contains the project, so that a tenant's links cannot appear in another tenant's events. */
const targetPurpose = (projectId: string): string => `target ${projectId}`;

/** In bytes. Longer links would be too long for some mail clients. */
const MAX_TARGET_BYTES = 4_000;
const CACHE_CHARACTERS = 8 * 1024 * 1024;
/** The contact's pages and tracking URLs themselves. */
const OWN_PATHS = /^\/(?:unsubscribe|subscribe|manage|t)\//;

/** Trims blanks and control characters as browsers do. A loop, because a regular expression takes quadratic time. */
function trim(address: string): string {
  let start = 0;
  let end = address.length;
  while (start < end && address.charCodeAt(start) <= SPACE) start++;
  while (end > start && address.charCodeAt(end - 1) <= SPACE) end--;
  return address.slice(start, end);
}

const SPACE = 0x20;

/**
 * Creates signed tracking URLs. Signs each mail once, and each target once per project, because signing is most of the
 * cost of a link.
 */
export class TrackedLinks {
  readonly baseUrl: string;
  private readonly keys: SigningKeys;
  /** Tokens by project and target; empty for targets that are not tracked. */
  private readonly targets = new LRUCache<string, string>({
    maxSize: CACHE_CHARACTERS,
    sizeCalculation: (token, key) => token.length + key.length + 100,
  });

  constructor(baseUrl: string, keys: SigningKeys) {
    this.baseUrl = baseUrl;
    this.keys = keys;
  }

  of({ id, projectId }: { id: string; projectId: string }): TrackingUrls {
    return new SignedMail(this, projectId, signToken(this.keys, MAIL_PURPOSE, bytesOf(id, projectId)));
  }

  /** Returns an empty token for a target that is not tracked. */
  targetToken(projectId: string, target: string, index?: number): string {
    // Not cached: every contact has its own pages.
    if (this.isOwnUrl(target)) return '';
    const key = `${projectId} ${index ?? ''} ${target}`;
    let token = this.targets.get(key);
    if (token === undefined) {
      const address = this.trackableAddress(target);
      token = address === undefined ? '' : signToken(this.keys, targetPurpose(projectId), withIndex(address, index));
      this.targets.set(key, token);
    }
    return token;
  }

  /** Returns the trimmed URL if it is a web address and not our own. */
  private trackableAddress(target: string): string | undefined {
    const address = trim(target);
    if (Buffer.byteLength(address) > MAX_TARGET_BYTES) return undefined;
    if (!/^https?:\/\/[^/]/i.test(address) || address.includes('{{') || !URL.canParse(address)) return undefined;
    return this.isOwnUrl(address) ? undefined : address;
  }

  private isOwnUrl(address: string): boolean {
    return address.startsWith(this.baseUrl) && OWN_PATHS.test(address.slice(this.baseUrl.length));
  }
}

interface MailToken {
  emailId: string;
  projectId: string;
}

function readMailToken(keys: SigningKeys, token: string): MailToken | undefined {
  const content = openToken(keys, MAIL_PURPOSE, token);
  if (content?.length !== 2 * ID_BYTES) return undefined;
  return { emailId: idOf(content), projectId: idOf(content.subarray(ID_BYTES)) };
}

/** Returns the id of the opened mail. */
export const readOpenToken = (keys: SigningKeys, token: string): string | undefined =>
  readMailToken(keys, token)?.emailId;

/** Addresses begin with a letter. Links that were signed before have no index. */
const withIndex = (address: string, index: number | undefined): string =>
  index === undefined ? address : `${index} ${address}`;
const INDEXED = /^(\d{1,5}) (.*)$/s;

export interface ClickedLink {
  emailId: string;
  target: string;
  /** Its position among the links of the email, from 0. */
  index?: number;
}

/** Returns the mail and the clicked target. */
export function readClickToken(keys: SigningKeys, token: string): ClickedLink | undefined {
  const dot = token.indexOf('.');
  const mail = dot === -1 ? undefined : readMailToken(keys, token.slice(0, dot));
  const target = mail && openToken(keys, targetPurpose(mail.projectId), token.slice(dot + 1));
  if (!target?.length) return undefined;
  const emailId = mail?.emailId ?? '';
  const [, index, address] = INDEXED.exec(target.toString()) ?? [];
  return address === undefined
    ? { emailId, target: target.toString() }
    : { emailId, target: address, index: Number(index) };
}
