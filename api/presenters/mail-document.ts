import { contentEditors } from '../../services/mail-documents/content.ts';
import { nullableDocument } from '../http/mail-document-schema.ts';
import { oneOf, optional } from '../http/schemas.ts';

/** What templates and campaigns show beside `body`. */
export const contentShape = {
  document: optional(nullableDocument()).description(
    'Document of the visual editor; null if the body was written as HTML. Left out in lists.',
  ),
  editor: oneOf(...contentEditors).description('VISUAL if the content has a document, HTML if not.'),
};

export const documentAnswer = () =>
  nullableDocument().description('Document of the visual editor; null if the body was written as HTML.').required();
