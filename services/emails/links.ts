import type { SigningKeys } from '../../platform/cursor.ts';
import type { MailFromSettings } from '../../platform/settings.ts';
import { openToken, signToken } from '../../platform/signed-token.ts';
import { senderDomain } from '../domains/name.ts';
import { returnPath, returnToken } from './return-token.ts';

/** Who a page is for, and the mail that led there. */
export interface PageToken {
  contactId: string;
  emailId: string;
}

/** The pages of a contact, as templates know them. */
export interface ContactLinks {
  unsubscribeUrl: string;
  subscribeUrl: string;
  manageUrl: string;
}

const CONTACT = 'contact';
const OPEN = 'open';
const CLICK = 'click';
const ID_BYTES = 16;
const OURS = /^\/(?:unsubscribe|subscribe|manage|t)\//;

interface LinkSettings {
  baseUrl: string;
  secretKeys: SigningKeys;
  /** Without a subdomain mail comes back to whoever it is from. */
  mailFrom?: Pick<MailFromSettings, 'subdomain'>;
}

/** The addresses of ours that stand in mails; what they say is signed. */
export class MailLinks {
  private readonly baseUrl: string;
  private readonly keys: SigningKeys;
  private readonly bounceSubdomain: string | undefined;

  constructor({ baseUrl, secretKeys, mailFrom }: LinkSettings) {
    this.baseUrl = baseUrl;
    this.keys = secretKeys;
    this.bounceSubdomain = mailFrom?.subdomain;
  }

  /** What a mail says of itself to whoever returns it, and whom it is returned to where bounces have a place. */
  marksOf({ id, from }: { id: string; from: string }): { mark: string; envelopeFrom: string | undefined } {
    const token = returnToken(this.keys, id);
    const domain = this.bounceSubdomain && `${this.bounceSubdomain}.${senderDomain(from)}`;
    return { mark: token, envelopeFrom: domain && returnPath(token, domain) };
  }

  contactLinks({ contactId, emailId }: PageToken): ContactLinks {
    const token = signToken(this.keys, CONTACT, Buffer.concat([bytesOf(contactId), bytesOf(emailId)]));
    return {
      unsubscribeUrl: `${this.baseUrl}/unsubscribe/${token}`,
      subscribeUrl: `${this.baseUrl}/subscribe/${token}`,
      manageUrl: `${this.baseUrl}/manage/${token}`,
    };
  }

  /** Whether an address leads to a page of a contact, or counts already. */
  isOurs(address: string): boolean {
    return address.startsWith(this.baseUrl) && OURS.test(address.slice(this.baseUrl.length));
  }

  openUrl(emailId: string): string {
    return `${this.baseUrl}/t/o/${signToken(this.keys, OPEN, bytesOf(emailId))}`;
  }

  clickUrl(emailId: string, target: string): string {
    const content = Buffer.concat([bytesOf(emailId), Buffer.from(target)]);
    return `${this.baseUrl}/t/c/${signToken(this.keys, CLICK, content)}`;
  }
}

export function readPageToken(keys: SigningKeys, token: string): PageToken | undefined {
  const content = openToken(keys, CONTACT, token);
  if (content?.length !== 2 * ID_BYTES) return undefined;
  return { contactId: idOf(content), emailId: idOf(content.subarray(ID_BYTES)) };
}

/** The mail that was opened. */
export function readOpenToken(keys: SigningKeys, token: string): string | undefined {
  const content = openToken(keys, OPEN, token);
  return content?.length === ID_BYTES ? idOf(content) : undefined;
}

/** The mail, and the address in it that was clicked. */
export function readClickToken(keys: SigningKeys, token: string): { emailId: string; target: string } | undefined {
  const content = openToken(keys, CLICK, token);
  if (!content || content.length <= ID_BYTES) return undefined;
  return { emailId: idOf(content), target: content.toString('utf8', ID_BYTES) };
}

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

const idOf = (bytes: Buffer): string =>
  bytes.toString('hex', 0, ID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
