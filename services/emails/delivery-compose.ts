import type { Db } from '../../db/connect.ts';
import { SealError } from '../../platform/crypto/seal.ts';
import { composeMail, type SendOutcome, type SmtpMessage } from '../../platform/smtp/mailer.ts';
import { senderDomain } from '../domains/name.ts';
import type { Signer } from '../domains/signing-key.ts';
import { attachmentsOf } from './attachments.ts';
import type { PreparedMail } from './delivery-content.ts';

export interface ComposeDeps {
  db: Db;
  /** Undefined when the relay signs mails. */
  signerFor?: ((projectId: string, domain: string) => Promise<Signer | undefined>) | undefined;
}

/** A composed mail, or why it is not sent, permanently or for now. */
export type Composed = SmtpMessage | Extract<SendOutcome, { kind: 'refused' | 'deferred' }>;

/** Writes and signs a mail with its files. Rejects when the database is unavailable. */
export async function compose(
  deps: ComposeDeps,
  { projectId, content, attachmentSet }: PreparedMail,
): Promise<Composed> {
  if (!content) return { kind: 'refused', reason: 'its content is gone' };
  const domain = senderDomain(content.from.email);
  const signer = projectId && (await signerOf(deps, projectId, domain));
  // A key that nobody can open is the operator's to mend; other mail goes on meanwhile.
  if (signer instanceof SealError)
    return { kind: 'deferred', reason: `cannot be signed: ${signer.message}`, concerns: 'recipient' };
  const attachments = attachmentSet ? await attachmentsOf(deps.db, attachmentSet) : [];
  try {
    return await composeMail({ ...content, attachments, ...(signer && { dkim: { domain, ...signer } }) });
  } catch (error) {
    return {
      kind: 'refused',
      reason: `cannot be written as a mail: ${error instanceof Error ? error.message : error}`,
    };
  }
}

async function signerOf(
  { signerFor }: ComposeDeps,
  projectId: string,
  domain: string,
): Promise<Signer | SealError | undefined> {
  try {
    return await signerFor?.(projectId, domain);
  } catch (error) {
    if (error instanceof SealError) return error;
    throw error;
  }
}
