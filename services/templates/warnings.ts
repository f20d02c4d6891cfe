import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { signToken } from '../../platform/crypto/signed-token.ts';
import { linksIn } from '../../platform/mime/html-links.ts';
import type { UsedVariable } from '../../platform/templates/index.ts';
import { listKeys } from '../contacts/fields.ts';

// Warnings about an email, before it is sent: those about a body have the line, those about a document the path.

export interface EmailWarning {
  code: string;
  level: 'ERROR' | 'WARNING' | 'INFO';
  message: string;
  /** Dotted from the document. */
  path?: string;
  /** In the body, from 1. */
  line?: number;
  /** What it is about, for programs that have texts of their own: the name of a variable, a contrast, what was removed. */
  detail?: string;
}

/** Variables that every email has. */
const BUILT_IN = [
  'id',
  'email',
  'subscribed',
  'createdAt',
  'locale',
  'unsubscribeUrl',
  'unsubscribeAllUrl',
  'subscribeUrl',
  'manageUrl',
  'everpost_id',
  'everpost_email',
  // Of the email's topic.
  'topicName',
  // The custom fields as an object, and the event of a workflow's email.
  'data',
  'event',
];

export const isBuiltIn = (name: string): boolean => BUILT_IN.includes(name);

/** Gmail clips what is longer. */
const CLIPPED_BYTES = 102_000;
const NEARLY_CLIPPED_BYTES = 90_000;
const MAX_LINKS = 300;
const LARGE_IMAGE_BYTES = 1_000_000;
const MAX_WARNINGS = 100;

const warning = (code: string, message: string, line?: number): EmailWarning => ({
  code,
  level: 'WARNING',
  message,
  ...(line !== undefined && { line }),
});

/** What is known about a project when its texts are checked. */
export interface WarningFacts {
  /** Names of custom fields and of values that the request has. */
  fields: ReadonlySet<string>;
  /** Values that the email is rendered with. */
  values: Record<string, unknown>;
  /** Bytes of uploaded images by their URL. */
  imageBytes: ReadonlyMap<string, number>;
}

/** Returns the warnings about a body that was written as HTML, in the order of their lines. */
export function bodyWarnings(body: string, variables: UsedVariable[], facts: WarningFacts): EmailWarning[] {
  const found = [...tagsIn(body)].flatMap((tag) =>
    tag.name === 'img' ? imageWarnings(tag, facts) : linkWarnings(tag),
  );
  return [...found, ...variableWarnings(variables, facts)]
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .slice(0, MAX_WARNINGS);
}

interface SourceTag {
  name: string;
  attributes: Map<string, string>;
  line: number;
}

const TAG = /<(img|a|area)\b([^<>]*)>/gi;
const ATTRIBUTE = /([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi;

function* tagsIn(body: string): Generator<SourceTag> {
  let line = 1;
  let counted = 0;
  for (const { 1: name = '', 2: rest = '', index } of body.matchAll(TAG)) {
    for (; counted < index; counted++) if (body[counted] === '\n') line++;
    const attributes = new Map<string, string>();
    for (const [, key = '', double, single, bare] of rest.matchAll(ATTRIBUTE))
      if (!attributes.has(key.toLowerCase())) attributes.set(key.toLowerCase(), double ?? single ?? bare ?? '');
    yield { name: name.toLowerCase(), attributes, line };
  }
}

/** One warning per image: after it is replaced, the next one shows. */
function imageWarnings({ attributes, line }: SourceTag, { imageBytes }: WarningFacts): EmailWarning[] {
  const src = attributes.get('src')?.trim() ?? '';
  if (/^http:/i.test(src))
    return [warning('insecure_image', 'An image has an http: URL. Many email clients block it.', line)];
  if ((imageBytes.get(src) ?? 0) > LARGE_IMAGE_BYTES)
    return [warning('image_large', 'An image is larger than 1 MB.', line)];
  return attributes.has('alt') ? [] : [warning('alt_missing', 'An image has no alternative text.', line)];
}

function linkWarnings({ name, attributes, line }: SourceTag): EmailWarning[] {
  const href = attributes.get('href')?.trim();
  if (href !== '' && href !== '#') return [];
  return [{ code: 'link_empty', level: 'ERROR', message: `A link (${name}) leads nowhere.`, line }];
}

/** Warns once per variable. A value of the request or of the contact takes the place of a fallback. */
function variableWarnings(variables: UsedVariable[], { fields, values }: WarningFacts): EmailWarning[] {
  const warned = new Set<string>();
  return variables.flatMap(({ path, isWritten, hasFallback, line }) => {
    const [root = ''] = path;
    const name = path.join('.');
    if (isBuiltIn(root) || warned.has(name)) return [];
    if (!fields.has(root) && !Object.hasOwn(values, root)) {
      warned.add(name);
      return [{ ...warning('variable_unknown', `No contact has the field "${root}".`, line), detail: root }];
    }
    if (!isWritten || hasFallback || hasValue(values[root])) return [];
    warned.add(name);
    const message = `"${name}" has no fallback for contacts without a value.`;
    return [{ ...warning('fallback_missing', message, line), detail: name }];
  });
}

const hasValue = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const linksOf = (html: string): string[] => linksIn(html).links.map(([start, end]) => html.slice(start, end));

export function linkCountWarnings(html: string): EmailWarning[] {
  const { length } = linksOf(html);
  if (length <= MAX_LINKS) return [];
  return [warning('links_many', `The email has ${length} links. Clicks are counted for the first ${MAX_LINKS}.`)];
}

/** Warns about the size of a rendered email, counted as if every link were tracked. */
export function sizeWarnings(html: string, baseUrl: string): EmailWarning[] {
  const bytes = trackedBytes(html, linksOf(html), baseUrl);
  if (bytes > CLIPPED_BYTES)
    return [{ code: 'html_large', level: 'ERROR', message: 'The HTML is larger than 102 KB. Gmail clips it.' }];
  return bytes > NEARLY_CLIPPED_BYTES
    ? [warning('html_large', 'The HTML is larger than 90 KB. Gmail clips it above 102 KB.')]
    : [];
}

/** The size with every link tracked, whether or not the project tracks links. */
function trackedBytes(html: string, links: string[], baseUrl: string): number {
  const mail = signToken(['-'], '-', Buffer.alloc(32)).length;
  const added = links
    .filter((link) => /^https?:/i.test(link))
    .slice(0, MAX_LINKS)
    .map((link) => `${baseUrl}/t/c/`.length + mail + 1 + signToken(['-'], '-', link).length - Buffer.byteLength(link));
  return Buffer.byteLength(html) + added.reduce((sum, bytes) => sum + Math.max(0, bytes), 0);
}

const uploadSizes = statement<{ key: string; size: number }>(
  'uploads-sizes',
  'select key, size from uploads where project_id = $1 and key = any ($2::text[])',
);

const UPLOAD = /\/uploads\/([A-Za-z0-9]{32}\.(?:png|jpg|gif|webp))/g;

interface WarnedTexts {
  html: string;
  /** The fields whose values are written, without built-in ones. */
  names: string[];
  /** Those of the request and of the contact. */
  values: Record<string, unknown>;
  baseUrl: string;
}

/** Reads what is needed to check a text. */
export async function readWarningFacts(
  db: Db,
  projectId: string,
  { html, names, values, baseUrl }: WarnedTexts,
): Promise<WarningFacts> {
  const needsFields = names.some((name) => !isBuiltIn(name) && !Object.hasOwn(values, name));
  const keys = [...new Set([...html.matchAll(UPLOAD)].map(([, key = '']) => key))];
  const [fields, uploads] = await Promise.all([
    needsFields ? listKeys(db, projectId) : [],
    keys.length > 0 ? uploadSizes(db, [projectId, keys]) : [],
  ]);
  return {
    fields: new Set(fields.map(({ key }) => key)),
    values,
    imageBytes: new Map(uploads.map(({ key, size }) => [`${baseUrl}/uploads/${key}`, size])),
  };
}
