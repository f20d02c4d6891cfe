import type { Db } from '../../db/connect.ts';
import type { TemplateType } from '../../db/models/template.ts';
import {
  type BrandKit,
  type DocumentWarning,
  documentVariables,
  documentWarnings,
  type MailDocument,
} from '../../platform/mail-document/index.ts';
import { linksIn } from '../../platform/mime/html-links.ts';
import { usedVariables } from '../../platform/templates/index.ts';
import { findBrandKit } from '../mail-documents/brand-kit.ts';
import { readNamedBlocks } from '../mail-documents/content.ts';
import { bodyWarnings, type EmailWarning, linkCountWarnings, readWarningFacts, sizeWarnings } from './warnings.ts';

/** The content of an email, as far as warnings are about it. */
export interface WarnedContent {
  body: string;
  document: MailDocument | null;
  /** What was changed while the document was read. */
  cleaned?: DocumentWarning[];
  /** What the document was rendered with, in place of the stored brand kit. */
  brandKit?: BrandKit | undefined;
}

interface WarnedEmail extends WarnedContent {
  type: TemplateType;
  /** The HTML that a recipient gets. */
  rendered: string;
  /** What it is rendered with. */
  values: Record<string, unknown>;
  baseUrl: string;
}

/** Returns everything that may be wrong with an email, with its place. */
export async function emailWarnings(db: Db, projectId: string, email: WarnedEmail): Promise<EmailWarning[]> {
  const { document, rendered, baseUrl } = email;
  const own = document ? await ofDocument(db, projectId, email, document) : await ofBody(db, projectId, email);
  return [...own, ...sizeWarnings(rendered, baseUrl)];
}

async function ofDocument(
  db: Db,
  projectId: string,
  { body, cleaned = [], brandKit, type, values, baseUrl }: WarnedEmail,
  document: MailDocument,
): Promise<EmailWarning[]> {
  const savedBlocks = await readNamedBlocks(db, projectId, document);
  const names = documentVariables(document, savedBlocks)
    .filter(({ isBuiltIn }) => !isBuiltIn)
    .map(({ field }) => field);
  const [facts, kit] = await Promise.all([
    readWarningFacts(db, projectId, { html: body, names, values, baseUrl }),
    brandKit ?? findBrandKit(db, projectId).then((stored) => stored.kit),
  ]);
  const warnings = documentWarnings(document, {
    brandKit: kit,
    savedBlocks,
    knownVariables: new Set([...facts.fields, ...Object.keys(values)]),
    imageBytes: (src) => facts.imageBytes.get(src),
    needsUnsubscribeLink: type === 'HEADLESS',
  });
  return [...cleaned, ...warnings];
}

async function ofBody(
  db: Db,
  projectId: string,
  { body, type, rendered, values, baseUrl }: WarnedEmail,
): Promise<EmailWarning[]> {
  const variables = usedVariables(body);
  const names = variables.map(({ path: [root = ''] }) => root);
  const facts = await readWarningFacts(db, projectId, { html: body, names, values, baseUrl });
  return [
    ...bodyWarnings(body, variables, facts),
    ...linkCountWarnings(rendered),
    ...(type === 'HEADLESS' ? unsubscribeWarnings(body) : []),
  ];
}

/** HEADLESS email gets no footer of ours. */
function unsubscribeWarnings(body: string): EmailWarning[] {
  if (linksIn(body).links.some(([start, end]) => /unsubscribe(?:All)?Url/.test(body.slice(start, end)))) return [];
  return [{ code: 'unsubscribe_missing', level: 'ERROR', message: 'The body has no unsubscribe link.' }];
}
