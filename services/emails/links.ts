import type { SigningKeys } from '../../platform/cursor.ts';
import type { MailFromSettings } from '../../platform/settings.ts';
import { openToken, signToken } from '../../platform/signed-token.ts';
import { senderDomain } from '../domains/name.ts';
import { bytesOf, ID_BYTES, idOf } from './id-bytes.ts';
import { returnPath, returnToken } from './return-token.ts';
import { TrackedLinks } from './tracked-links.ts';

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

interface LinkSettings {
  baseUrl: string;
  secretKeys: SigningKeys;
  /** Without a subdomain mail comes back to whoever it is from. */
  mailFrom?: Pick<MailFromSettings, 'subdomain'>;
}

/** The addresses of ours that stand in mails; what they say is signed. */
export class MailLinks {
  readonly tracked: TrackedLinks;
  private readonly baseUrl: string;
  private readonly keys: SigningKeys;
  private readonly bounceSubdomain: string | undefined;

  constructor({ baseUrl, secretKeys, mailFrom }: LinkSettings) {
    this.baseUrl = baseUrl;
    this.keys = secretKeys;
    this.tracked = new TrackedLinks(baseUrl, secretKeys);
    this.bounceSubdomain = mailFrom?.subdomain;
  }

  /** What a mail says of itself to whoever returns it, and whom it is returned to where bounces have a place. */
  marksOf({ id, from }: { id: string; from: string }): { mark: string; envelopeFrom: string | undefined } {
    const token = returnToken(this.keys, id);
    const domain = this.bounceSubdomain && `${this.bounceSubdomain}.${senderDomain(from)}`;
    return { mark: token, envelopeFrom: domain && returnPath(token, domain) };
  }

  contactLinks({ contactId, emailId }: PageToken): ContactLinks {
    const token = signToken(this.keys, CONTACT, bytesOf(contactId, emailId));
    return {
      unsubscribeUrl: `${this.baseUrl}/unsubscribe/${token}`,
      subscribeUrl: `${this.baseUrl}/subscribe/${token}`,
      manageUrl: `${this.baseUrl}/manage/${token}`,
    };
  }
}

export function readPageToken(keys: SigningKeys, token: string): PageToken | undefined {
  const content = openToken(keys, CONTACT, token);
  if (content?.length !== 2 * ID_BYTES) return undefined;
  return { contactId: idOf(content), emailId: idOf(content.subarray(ID_BYTES)) };
}
