import type { MailDocument } from './schema/document.ts';

/** What an email says: a document of the visual editor, or HTML. */
export type EmailContent = { subject: string } & (
  | { document: MailDocument; body: null }
  | { document: null; body: string }
);

interface StoredContent {
  subject: string;
  body: string;
  document?: unknown;
}

/** The content of a template, a draft or a campaign of the API, whose body is rendered from its document. */
export const emailContentOf = ({ subject, body, document }: StoredContent): EmailContent =>
  document ? { subject, document: document as MailDocument, body: null } : { subject, document: null, body };

/** What a request that saves the content has. */
export const contentRequest = ({ document, body }: EmailContent) =>
  // The API reads documents of fewer attributes than the type of its answers has.
  document ? { document: document as never } : { body };
