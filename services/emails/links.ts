import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { openToken, signToken } from '../../platform/crypto/signed-token.ts';
import type { MailFromSettings } from '../../platform/settings.ts';
import { senderDomain } from '../domains/name.ts';
import { bytesOf, ID_BYTES, idOf } from './id-bytes.ts';
import { returnPath, returnToken } from './return-token.ts';
import { TrackedLinks } from './tracked-links.ts';

/** The contact of a page, and the mail that linked to it. */
export interface PageToken {
  contactId: string;
  emailId: string;
}

/** The URLs of a contact's pages, as template variables. */
export interface ContactLinks {
  /** Of the email's topic; of all email where it has none. */
  unsubscribeUrl: string;
  subscribeUrl: string;
  manageUrl: string;
}

/** The URLs of a confirmation email, as template variables. */
export interface ConfirmationLinks {
  confirmUrl: string;
  declineUrl: string;
}

/** Adds the URL for leaving all email, which few templates use. */
export const withAllLink = (links: ContactLinks): ContactLinks & { unsubscribeAllUrl: string } => ({
  ...links,
  unsubscribeAllUrl: `${links.unsubscribeUrl}${ALL}`,
});

/** What makes the address of a topic's page that of all email. */
const ALL = '?all=1';

const CONTACT = 'contact';
const CONFIRMATION = 'confirmation';

export interface LinkSettings {
  baseUrl: string;
  secretKeys: SigningKeys;
  /** Without a subdomain, bounces go to the From address. */
  mailFrom?: Pick<MailFromSettings, 'subdomain'> | undefined;
}

/** Creates the signed URLs and return paths of mails. */
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

  /** Returns the signed id for the mail's header, and the envelope sender if a bounce subdomain is configured. */
  signedIdOf({ id, from }: { id: string; from: string }): { mark: string; envelopeFrom: string | undefined } {
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

  confirmationLinks({ submissionId, emailId }: ConfirmationToken): ConfirmationLinks {
    const token = signToken(this.keys, CONFIRMATION, bytesOf(submissionId, emailId));
    return { confirmUrl: `${this.baseUrl}/confirm/${token}`, declineUrl: `${this.baseUrl}/decline/${token}` };
  }
}

/** What a link of a confirmation email is about. */
export interface ConfirmationToken {
  submissionId: string;
  emailId: string;
}

export function readConfirmationToken(keys: SigningKeys, token: string): ConfirmationToken | undefined {
  const content = openToken(keys, CONFIRMATION, token);
  if (content?.length !== 2 * ID_BYTES) return undefined;
  return { submissionId: idOf(content), emailId: idOf(content.subarray(ID_BYTES)) };
}

export function readPageToken(keys: SigningKeys, token: string): PageToken | undefined {
  const content = openToken(keys, CONTACT, token);
  if (content?.length !== 2 * ID_BYTES) return undefined;
  return { contactId: idOf(content), emailId: idOf(content.subarray(ID_BYTES)) };
}
