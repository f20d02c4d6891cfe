import type { Db } from '../../db/connect.ts';
import { Topic, type TopicDefault } from '../../db/models/topic.ts';
import { parseMoment } from '../../platform/conditions/moments.ts';
import { badRequest } from '../../platform/errors.ts';
import type { ConsentContext, ConsentEvidence } from '../access/consent-context.ts';
import type { CsvColumns } from './csv.ts';

// Columns of topics and of consent. They have this meaning only in a file with a column of a topic, or with consent for all
// rows; otherwise they are custom fields. See docs/guides/topics.md.

const PREFIX = 'topic:';
const MAX_SHORT = 500;
const MAX_TEXT = 5_000;

/** What an import of consent needs, stored with the job. */
export interface ConsentOptions {
  /** Topic ids by the name of their column. */
  topics?: Record<string, string> | undefined;
  /** Of all rows; the columns of a row win. */
  consent?: ConsentEvidence | undefined;
  /** SKIP: the choices are confirmed already, as the consent proves. */
  confirmation?: 'SEND' | 'SKIP' | undefined;
}

/**
 * Returns the ids of the topics that columns name. Rejects a topic that a project with topics does not have; without any
 * topic such columns are custom fields.
 */
export async function findTopicColumns(
  db: Db,
  projectId: string,
  { fields }: CsvColumns,
): Promise<Record<string, string> | undefined> {
  const named = fields.map(({ key }) => key).filter(isTopicColumn);
  if (named.length === 0) return undefined;
  const topics = await Topic.query(db).where({ projectId }).select('id', 'key');
  if (topics.length === 0) return undefined;
  const found = named.map((name) => {
    const wanted = name.trim().slice(PREFIX.length).trim().toLowerCase();
    const topic = topics.find(({ id, key }) => key === wanted || id === wanted);
    if (!topic) throw badRequest(`The column "${name.slice(0, 100)}" names a topic that does not exist.`);
    return [name, topic.id] as const;
  });
  if (new Set(found.map(([, id]) => id)).size < found.length)
    throw badRequest('Two columns of the file name the same topic.');
  return Object.fromEntries(found);
}

const isTopicColumn = (name: string): boolean => name.trim().toLowerCase().startsWith(PREFIX);

interface ConsentColumns {
  topics: { column: number; name: string; topicId: string }[];
  evidence: { column: number; name: string; part: EvidencePart }[];
}

const evidenceParts = { consentat: 'at', consentip: 'ip', consentsource: 'source', consenttext: 'text' } as const;
type EvidencePart = (typeof evidenceParts)[keyof typeof evidenceParts];

/** Returns the columns of topics and consent, and the other columns. */
export function splitColumns(
  columns: CsvColumns,
  { topics, consent }: ConsentOptions,
): { columns: CsvColumns; consent: ConsentColumns | undefined } {
  if (!topics && !consent) return { columns, consent: undefined };
  const found: ConsentColumns = { topics: [], evidence: [] };
  const fields = columns.fields.filter(({ column, key: name }) => {
    const topicId = topics && Object.hasOwn(topics, name) ? topics[name] : undefined;
    const part = evidenceParts[name.trim().toLowerCase() as keyof typeof evidenceParts];
    if (topicId) found.topics.push({ column, name, topicId });
    else if (part) found.evidence.push({ column, name, part });
    return !topicId && !part;
  });
  return { columns: { ...columns, fields }, consent: found };
}

/** How the rows of a file are read that has consent. */
export interface ConsentRules extends Pick<ConsentOptions, 'consent' | 'confirmation'> {
  columns: ConsentColumns;
  /** Who ordered the import. */
  context: ConsentContext;
  /** Topics that can no longer be joined. */
  archived: ReadonlySet<string>;
}

/** What a row says about topics, and what proves it. */
export interface RowConsent {
  choices: { topicId: string; state: TopicDefault }[];
  context: ConsentContext;
  /** When the contact agreed; before all time if that is not known. */
  at: number;
}

const stateOfCell = new Map<string, TopicDefault>([
  ['subscribed', 'SUBSCRIBED'],
  ['true', 'SUBSCRIBED'],
  ['unsubscribed', 'UNSUBSCRIBED'],
  ['false', 'UNSUBSCRIBED'],
]);

/** Returns what is wrong with the row as a text. */
export function readRowConsent(cells: string[], rules: ConsentRules): RowConsent | string {
  const choices: RowConsent['choices'] = [];
  for (const { column, name, topicId } of rules.columns.topics) {
    const cell = cells[column]?.trim().toLowerCase();
    if (!cell) continue;
    const state = stateOfCell.get(cell);
    if (!state) return `"${name}" must be subscribed, true, unsubscribed or false`;
    if (state === 'SUBSCRIBED' && rules.archived.has(topicId)) return `"${name}" names an archived topic`;
    choices.push({ topicId, state });
  }
  const evidence: ConsentEvidence = { ...rules.consent };
  for (const { column, name, part } of rules.columns.evidence) {
    const cell = cells[column]?.trim();
    if (!cell) continue;
    const fault = faultOf(part, cell);
    if (fault) return `"${name}" ${fault}`;
    evidence[part] = cell;
  }
  const isProven = rules.confirmation === 'SKIP';
  if (isProven && !(evidence.at && evidence.source))
    return 'a confirmation can be skipped only with "consentAt" and "consentSource"';
  const context: ConsentContext = {
    ...rules.context,
    method: 'IMPORT',
    ...(Object.keys(evidence).length > 0 && { consent: true, evidence }),
    ...(isProven && { proven: true }),
  };
  return { choices, context, at: (evidence.at && parseMoment(evidence.at)) || Number.NEGATIVE_INFINITY };
}

function faultOf(part: EvidencePart, cell: string): string | undefined {
  if (part === 'at') {
    const moment = parseMoment(cell);
    if (moment === undefined) return 'must be a date or an ISO 8601 date-time';
    return moment > Date.now() ? 'must not be in the future' : undefined;
  }
  const max = part === 'text' ? MAX_TEXT : MAX_SHORT;
  return cell.length > max ? `must be at most ${max} characters long` : undefined;
}
