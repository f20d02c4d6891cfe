import { checkTemplate } from '../templates/index.ts';
import { defaultBrandKit } from './brand-kit.ts';
import { renderDocument } from './render.ts';
import type { DocumentViolation, MailDocument, SavedBlocks } from './types.ts';

/**
 * Renders a document to see that it is a valid template. The template language limits how many parts a template has, and
 * a small document may have very many chips.
 */
export function renderedViolations(document: MailDocument, savedBlocks?: SavedBlocks): DocumentViolation[] {
  const [fault] = checkTemplate(renderDocument(document, defaultBrandKit, savedBlocks));
  return fault ? [{ path: 'content', code: 'custom', message: `"content" cannot be rendered: ${fault.message}` }] : [];
}
