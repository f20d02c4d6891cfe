import { isEmptyLink } from './addresses.ts';
import { contrastWarnings } from './contrast-warnings.ts';
import { imagesOfHtml, linksOfHtml, visibleText } from './html-facts.ts';
import type { BrandKit, DocumentWarning, Inline, MailDocument, SavedBlocks } from './types.ts';
import { type DocumentVariable, documentVariables } from './used-variables.ts';
import { hasInlines, type PlacedBlock, visitEmail } from './visit.ts';

/** An email with an image and fewer visible characters looks like spam. */
const MIN_TEXT = 100;
const LARGE_IMAGE_BYTES = 1_000_000;
const MAX_LINKS = 300;

export interface WarningContext {
  brandKit: BrandKit;
  savedBlocks?: SavedBlocks;
  /** The custom fields of the project and the built-in variables. Undefined when they are not known. */
  knownVariables?: ReadonlySet<string>;
  /** Returns the bytes of an uploaded image, and undefined for any other address. */
  imageBytes?(src: string): number | undefined;
  /** HEADLESS email gets no footer of ours. */
  needsUnsubscribeLink?: boolean;
}

/** Returns the warnings that the document alone shows. The size of the email and what was cleaned are known elsewhere. */
export function documentWarnings(document: MailDocument, context: WarningContext): DocumentWarning[] {
  const { savedBlocks = new Map() } = context;
  const facts = readFacts(document, savedBlocks);
  return [
    ...(isBlank(document.preheader) ? [info('preheader_missing', 'The email has no preview text.', 'preheader')] : []),
    ...facts.images.flatMap((image) => imageWarnings(image, context)),
    ...facts.links.flatMap(({ href, path }) =>
      isEmptyLink(href) ? [error('link_empty', 'A link leads nowhere.', path)] : [],
    ),
    ...contrastWarnings(document, context.brandKit, savedBlocks),
    ...variableWarnings(documentVariables(document, savedBlocks), context.knownVariables),
    ...(facts.links.length > MAX_LINKS ? [warning('links_many', `The email has more than ${MAX_LINKS} links.`)] : []),
    ...(facts.images.length > 0 && facts.textLength < MIN_TEXT
      ? [info('text_thin', `The email has an image and fewer than ${MIN_TEXT} characters of text.`)]
      : []),
    ...(context.needsUnsubscribeLink && !facts.links.some(({ href }) => /unsubscribe(?:All)?Url/.test(href))
      ? [error('unsubscribe_missing', 'The email has no unsubscribe link.')]
      : []),
  ];
}

interface Image {
  src: string;
  /** Has an alternative text, or needs none. */
  hasAlt: boolean;
  path: string;
  altPath: string;
}

interface Facts {
  images: Image[];
  links: { href: string; path: string }[];
  textLength: number;
}

function readFacts(document: MailDocument, savedBlocks: SavedBlocks): Facts {
  const facts: Facts = { images: [], links: [], textLength: 0 };
  visitEmail(document, savedBlocks, ({ node, at }) => {
    if (hasInlines(node)) readInlineFacts(facts, node.content, at);
    switch (node.type) {
      case 'button':
        facts.links.push({ href: node.attrs.href, path: at('attrs.href') });
        break;
      case 'image': {
        const { src, alt, decorative, href } = node.attrs;
        const hasAlt = decorative || alt.trim() !== '';
        facts.images.push({ src, hasAlt, path: at('attrs.src'), altPath: at('attrs.alt') });
        if (href !== null) facts.links.push({ href, path: at('attrs.href') });
        break;
      }
      case 'social':
        for (const [index, { href }] of (node.attrs.links ?? []).entries())
          facts.links.push({ href, path: at('attrs.links', index, 'href') });
        break;
      case 'html':
        readHtmlFacts(facts, node.attrs.html, at('attrs.html'));
    }
  });
  return facts;
}

function readInlineFacts(facts: Facts, nodes: Inline[], at: PlacedBlock['at']): void {
  for (const [index, node] of nodes.entries()) {
    if (node.type === 'text') facts.textLength += node.text.trim().length;
    if (node.type === 'variable') facts.textLength += (node.attrs.fallback ?? node.attrs.name).length;
    for (const [position, mark] of (node.marks ?? []).entries())
      if (mark.type === 'link')
        facts.links.push({ href: mark.attrs.href, path: at('content', index, 'marks', position, 'attrs.href') });
  }
}

function readHtmlFacts(facts: Facts, html: string, path: string): void {
  for (const { src, alt } of imagesOfHtml(html))
    facts.images.push({ src, hasAlt: alt !== undefined, path, altPath: path });
  for (const href of linksOfHtml(html)) facts.links.push({ href, path });
  facts.textLength += visibleText(html).length;
}

function imageWarnings({ src, hasAlt, path, altPath }: Image, { imageBytes }: WarningContext): DocumentWarning[] {
  return [
    ...(hasAlt ? [] : [warning('alt_missing', 'An image has no alternative text.', altPath)]),
    ...(/^http:/i.test(src)
      ? [warning('insecure_image', 'An image has an http: URL. Many email clients block it.', path)]
      : []),
    ...((imageBytes?.(src) ?? 0) > LARGE_IMAGE_BYTES
      ? [warning('image_large', 'An image is larger than 1 MB.', path)]
      : []),
  ];
}

function variableWarnings(variables: DocumentVariable[], known: ReadonlySet<string> | undefined): DocumentWarning[] {
  return variables.flatMap(({ name, field, isWritten, hasFallback, isBuiltIn, path }) => {
    if (isBuiltIn) return [];
    if (known && !known.has(field)) {
      const message = `No contact has the field "${field}".`;
      return [{ ...warning('variable_unknown', message, path), detail: field }];
    }
    if (hasFallback || !isWritten) return [];
    const message = `"${name}" has no fallback for contacts without a value.`;
    return [{ ...warning('fallback_missing', message, path), detail: name }];
  });
}

const isBlank = (nodes: MailDocument['preheader']): boolean =>
  nodes.every((node) => node.type === 'text' && node.text.trim() === '');

type Code = DocumentWarning['code'];

const leveled =
  (level: DocumentWarning['level']) =>
  (code: Code, message: string, path?: string): DocumentWarning => ({
    code,
    level,
    message,
    ...(path !== undefined && { path }),
  });

const error = leveled('ERROR');
const warning = leveled('WARNING');
const info = leveled('INFO');
