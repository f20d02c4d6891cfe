// What the worker and its compose processes send each other.
import type { MailAddress, MailAttachment } from '../../platform/mime/compose.ts';
import type { DkimKey } from '../../platform/mime/dkim.ts';
import type { SmtpMessage } from '../../platform/mime/smtp-message.ts';
import type { Frame } from '../../platform/result-frames.ts';
import type { TemplateSkeleton } from '../../platform/templates/skeleton.ts';
import type { LinkSettings } from '../emails/links.ts';
import type { TrackingRule } from '../emails/tracking-rule.ts';

/** The first message to a process: the keys of links, which must not be on a command line or in an environment. */
export type ComposeSettings = LinkSettings;

/** What the mails of a campaign, or of one sender, share. Compared by identity: a process gets each object once. */
export interface SharedHead extends TrackingRule {
  projectId: string;
  from: MailAddress;
  replyTo: string | null;
  /** The headers of bulk mail and of topics. */
  headers: Record<string, string>;
  /** Its recipients can leave the topic with one click. */
  hasTopic?: boolean;
  dkim: DkimKey | undefined;
}

/** A rendered body: whole, or the values of a skeleton that many mails share. */
export type RenderedBody =
  | { html: string; text: string | undefined }
  | { skeleton: TemplateSkeleton; values: string[] };

/** A rendered mail that is to be composed. */
export interface RenderedMail {
  id: string;
  head: SharedHead;
  to: MailAddress;
  subject: string;
  body: RenderedBody;
  /** The caller's headers. */
  headers?: Record<string, string> | null;
  unsubscribeUrl?: string | undefined;
  attachments?: MailAttachment[];
}

/** A mail as it is sent to a process: shared objects are replaced by their numbers. */
export interface ComposeOrder extends Omit<RenderedMail, 'head' | 'body'> {
  head: number;
  body: Exclude<RenderedBody, { skeleton: unknown }> | { skeleton: number; values: string[] };
}

export type SharedObject = { head: SharedHead } | { skeleton: TemplateSkeleton };

/** A message to a process, which has one batch at a time. */
export interface ComposeBatch {
  /** Shared objects that the process does not have yet, by number. */
  shared: [number: number, SharedObject][];
  orders: ComposeOrder[];
  /** Numbers that the process may forget after this batch. */
  forget: number[];
}

/** A composed mail without its bytes, or why it has no valid MIME form. */
export type ComposeResult = (Omit<SmtpMessage, 'raw'> & { length: number }) | { refused: string };

/** From the process: results in batch order, streamed. The first, empty one says that it is ready. */
export type ComposeResults = Frame<ComposeResult>;
