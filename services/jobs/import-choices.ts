import type { Db } from '../../db/connect.ts';
import { Topic, type TopicDefault, type TopicState } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import type { ConsentContext } from '../access/consent-context.ts';
import type { ContactWrite, WrittenContact } from '../contacts/write.ts';
import { type ChoicesOf, writeChoices } from '../topics/choices.ts';
import type { RowConsent } from './import-consent.ts';

/** A choice that an import makes for a contact. */
interface ImportedChoice {
  state: TopicDefault;
  context: ConsentContext;
  at: number;
}

/** What the rows of one address say. */
export interface ImportedConsent {
  /** By topic id; a later row wins. */
  choices: Map<string, ImportedChoice>;
  /** Of the last row. */
  context: ConsentContext;
  at: number;
}

/** Adds a later row of the same address. */
export function mergeConsent(
  before: ImportedConsent | undefined,
  { choices, context, at }: RowConsent,
): ImportedConsent {
  const merged = new Map(before?.choices);
  for (const { topicId, state } of choices) merged.set(topicId, { state, context, at });
  return { choices: merged, context, at };
}

interface Standing {
  email: string;
  leftAllAt: Date | null;
  topics: { topicId: string; state: TopicState | null; leftAt: Date | null }[];
}

interface StandingRow {
  email: string;
  leftAllAt: Date | null;
  topicId: string | null;
  state: TopicState | null;
  leftAt: Date | null;
}

// Locks the contacts in the order of all writers. Of a deleted contact what its address had left, and of one that
// unsubscribed before there were consent records the event.
const readStanding = statement<StandingRow>(
  'import-standing',
  `with known as materialized (
     select c.id, c.email, c.subscribed from contacts c where c.project_id = $1 and c.email = any ($2::text[])
     order by c.email collate "C" for update
   ),
   given as materialized (
     select wanted.email, address_hash($1, wanted.email) as hash, known.id, known.subscribed
     from unnest($2::text[]) as wanted (email) left join known on known.email = wanted.email
   ),
   left_all as (
     select given.email, coalesce(
       greatest(
         (select max(r.at) from consents r where r.project_id = $1 and r.contact_id = given.id and r.topic_id is null
           and r.action = 'WITHDRAWN'),
         (select w.at from withdrawals w where w.project_id = $1 and w.address_hash = given.hash and w.topic_id is null)),
       (select max(e.created_at) from events e where e.project_id = $1 and e.contact_id = given.id
         and e.name = 'contact.unsubscribed')) as at
     from given where given.subscribed is not true
   ),
   left_topics as (
     select given.email, ct.topic_id, ct.state, ct.withdrawn_at as at from given
     join contact_topics ct on ct.project_id = $1 and ct.contact_id = given.id and ct.topic_id = any ($3::uuid[])
     union all
     select given.email, w.topic_id, null, w.at from given
     join withdrawals w on w.project_id = $1 and w.address_hash = given.hash and w.topic_id = any ($3::uuid[])
     where given.id is null
   )
   select given.email, left_all.at as left_all_at, left_topics.topic_id, left_topics.state, left_topics.at as left_at
   from given left join left_all using (email) left join left_topics using (email)`,
);

async function standingOf(trx: Db, projectId: string, emails: string[], topicIds: string[]) {
  const standing = new Map<string, Standing>();
  for (const { email, leftAllAt, topicId, state, leftAt } of await readStanding(trx, [projectId, emails, topicIds])) {
    const one = standing.get(email) ?? { email, leftAllAt, topics: [] };
    if (topicId) one.topics.push({ topicId, state, leftAt });
    standing.set(email, one);
  }
  return standing;
}

interface ConsentEntry {
  write: ContactWrite;
  consent?: ImportedConsent | undefined;
}

type KeptTopic = Pick<Topic, 'id' | 'kind' | 'doubleOptIn'>;

/** The choices of a chunk, after those were dropped that an earlier withdrawal outweighs. */
export interface ChunkChoices {
  /** How many contacts stay unsubscribed although the file subscribes them. */
  kept: number;
  /** Addresses for which a choice would change. */
  changing: Set<string>;
}

/**
 * The later act wins: drops every subscription whose consent is older than the contact's own withdrawal, of the topic or of
 * all mail. Locks the contacts, and the topics against deletion.
 */
export async function dropOutweighed(
  trx: Db,
  projectId: string,
  entries: ReadonlyMap<string, ConsentEntry>,
): Promise<ChunkChoices> {
  const topicIds = new Set([...entries.values()].flatMap(({ consent }) => [...(consent?.choices.keys() ?? [])]));
  const topics = new Map(
    (
      await Topic.query(trx)
        .where({ projectId })
        .whereIn('id', [...topicIds])
        .orderBy('id')
        .forShare()
    ).map((topic): [string, KeptTopic] => [topic.id, topic]),
  );
  const standing = await standingOf(trx, projectId, [...entries.keys()], [...topicIds]);
  const result: ChunkChoices = { kept: 0, changing: new Set() };
  for (const [email, entry] of entries) {
    const known = standing.get(email) ?? { email, leftAllAt: null, topics: [] };
    if (dropFrom(entry, known, topics)) result.kept++;
    if (isChanging(entry, known, topics)) result.changing.add(email);
  }
  return result;
}

/** Returns whether anything was dropped. */
function dropFrom({ write, consent }: ConsentEntry, known: Standing, topics: ReadonlyMap<string, KeptTopic>): boolean {
  if (!consent) return false;
  let isKept = false;
  if (write.subscribed && isOlder(consent.at, known.leftAllAt)) {
    write.subscribed = undefined;
    isKept = true;
  }
  for (const [topicId, { state, at }] of consent.choices) {
    const topic = topics.get(topicId);
    const leftAt = known.topics.find((other) => other.topicId === topicId)?.leftAt ?? null;
    const isOutweighed =
      state === 'SUBSCRIBED' && (isOlder(at, leftAt) || (topic?.kind === 'MARKETING' && isOlder(at, known.leftAllAt)));
    if (isOutweighed) isKept = true;
    // A topic may be deleted while its import waits.
    if (isOutweighed || !topic) consent.choices.delete(topicId);
  }
  return isKept;
}

const isOlder = (at: number, leftAt: Date | null): boolean => leftAt !== null && at < leftAt.getTime();

/** The rule of `choose_topics`, for dry runs. */
const isChanging = ({ consent }: ConsentEntry, known: Standing, topics: ReadonlyMap<string, KeptTopic>): boolean =>
  [...(consent?.choices ?? [])].some(([topicId, { state, context }]) => {
    const chosen = known.topics.find((other) => other.topicId === topicId)?.state ?? null;
    const isPending =
      state === 'SUBSCRIBED' && topics.get(topicId)?.doubleOptIn && chosen !== 'SUBSCRIBED' && !context.proven;
    return (isPending ? 'PENDING' : state) !== chosen;
  });

// As for a contact that a request creates with consent and without topics.
const recordConsents = statement(
  'import-record-consents',
  `select write_consent($1, c.id, c.email, null, 'GRANTED', given.context)
   from unnest($2::uuid[], $3::jsonb[]) as given (id, context)
   join contacts c on c.project_id = $1 and c.id = given.id and c.subscribed`,
);

/** The choices of each row: together, so that consent to one of them leaves the others alone. */
function byContext({ choices }: ImportedConsent): Map<ConsentContext, Record<string, TopicDefault>> {
  const grouped = new Map<ConsentContext, Record<string, TopicDefault>>();
  for (const [topicId, { state, context }] of choices)
    grouped.set(context, { ...grouped.get(context), [topicId]: state });
  return grouped;
}

/** Writes the choices of the contacts that were written, and returns the ids of those that it changed. */
export async function writeImportedChoices(
  trx: Db,
  projectId: string,
  entries: ReadonlyMap<string, ConsentEntry>,
  written: WrittenContact[],
): Promise<Set<string>> {
  const choices: ChoicesOf[] = [];
  const created: { id: string; context: ConsentContext }[] = [];
  for (const { id, email, isNew } of written) {
    const consent = entries.get(email)?.consent;
    if (!consent) continue;
    for (const [context, states] of byContext(consent))
      choices.push({ contactId: id, choices: states, context: isNew ? { ...context, isNew: true } : context });
    if (isNew && consent.choices.size === 0 && consent.context.consent) created.push({ id, context: consent.context });
  }
  if (created.length > 0)
    await recordConsents(trx, [
      projectId,
      created.map(({ id }) => id),
      created.map(({ context }) => JSON.stringify(context)),
    ]);
  const changed = await writeChoices(trx, projectId, choices);
  return new Set(changed.filter((one) => one.changed > 0).map(({ id }) => id));
}
