import type { Db } from '../../db/connect.ts';
import type { TopicDefault, TopicKind, TopicState } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import { validationError } from '../../platform/errors.ts';
import { type ConsentContext, type ConsentEvidence, consentContextOf } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { contactNotFound } from '../contacts/save.ts';
import { archivedTopic, findTopicsNamed } from './find.ts';

export const frequencyUnits = ['DAY', 'WEEK', 'MONTH'] as const;

/** The most emails that a contact wants. */
export interface Frequency {
  count: number;
  per: (typeof frequencyUnits)[number];
}

export interface ContactTopic {
  topicId: string;
  key: string;
  name: string;
  kind: TopicKind;
  state: TopicState;
  source: 'CHOICE' | 'DEFAULT';
  since: Date;
  consentId: string | null;
}

export interface ContactTopics {
  subscribed: boolean;
  snoozedUntil: Date | null;
  frequency: Frequency | null;
  topics: ContactTopic[];
}

export const confirmationModes = ['SEND', 'SKIP'] as const;

/** What a request says about topics, by key or id. */
export interface ChoicesInput {
  topics?: Record<string, TopicDefault> | undefined;
  consent?: ConsentEvidence | undefined;
  /** SKIP: the caller has had the choice confirmed, as `consent` proves. */
  confirmation?: (typeof confirmationModes)[number] | undefined;
}

export interface PreferencesChange extends ChoicesInput {
  snoozedUntil?: Date | null | undefined;
  frequency?: Frequency | null | undefined;
}

const readContact = statement<Omit<ContactTopics, 'topics'>>(
  'contact-preferences',
  'select subscribed, snoozed_until, frequency from contacts where project_id = $1 and id = $2',
);

const readTopics = statement<ContactTopic>(
  'contact-topics',
  `select t.id as topic_id, t.key, t.name, t.kind, topic_state($1, t.id, c.id, c.created_at) as state,
     case when ct.topic_id is null then 'DEFAULT' else 'CHOICE' end as source,
     coalesce(ct.since, greatest(c.created_at, t.created_at)) as since, ct.consent_id
   from contacts c join topics t on t.project_id = c.project_id and not t.archived
   left join contact_topics ct on ct.project_id = $1 and ct.contact_id = c.id and ct.topic_id = t.id
   where c.project_id = $1 and c.id = $2 order by t.position, t.id`,
);

/** Returns the effective state of every topic in use. */
export async function readContactTopics(db: Db, projectId: string, contactId: string): Promise<ContactTopics> {
  const [contact] = await readContact(db, [projectId, contactId]);
  if (!contact) throw contactNotFound();
  return { ...contact, topics: await readTopics(db, [projectId, contactId]) };
}

const lock = statement('contact-lock', 'select 1 from contacts where project_id = $1 and id = $2 for update');

// The trigger of the contact records who snoozes.
const writePreferences = statement(
  'contact-write-preferences',
  `with named as materialized (select set_config('everpost.consent', $7, true))
   update contacts c set updated_at = now(), snoozed_until = case when $3 then $4::timestamptz else c.snoozed_until end,
     frequency = case when $5 then $6::jsonb else c.frequency end
   from named where c.project_id = $1 and c.id = $2`,
);

const choose = statement('contact-choose-topics', 'select choose_topics($1, $2, $3::jsonb, $4::jsonb)');

const chooseMany = statement<{ id: string; changed: number }>(
  'contacts-choose-topics',
  `select contact_id as id, sum(choose_topics($1, contact_id, choices, context))::integer as changed
   from unnest($2::uuid[], $3::jsonb[], $4::jsonb[]) as given (contact_id, choices, context) group by contact_id`,
);

/** Choices of one contact, by topic id. A contact may have several with different contexts. */
export interface ChoicesOf {
  contactId: string;
  choices: Record<string, TopicDefault>;
  context: ConsentContext;
}

/** Writes choices of many contacts, which are locked, and returns how many of each contact have changed. */
export async function writeChoices(
  trx: Db,
  projectId: string,
  given: ChoicesOf[],
): Promise<{ id: string; changed: number }[]> {
  if (given.length === 0) return [];
  return chooseMany(trx, [
    projectId,
    given.map(({ contactId }) => contactId),
    given.map(({ choices }) => JSON.stringify(choices)),
    given.map(({ context }) => JSON.stringify(context)),
  ]);
}

/** Changes topics, snooze and frequency of a contact, all or nothing. */
export async function changeContactTopics(
  db: Db,
  project: ProjectAccess,
  contactId: string,
  { snoozedUntil, frequency, ...choices }: PreferencesChange,
): Promise<ContactTopics> {
  const { projectId } = project;
  if (snoozedUntil) requireSnooze(snoozedUntil);
  return writing(db, project, async (trx) => {
    if ((await lock.count(trx, [projectId, contactId])) === 0) throw contactNotFound();
    const context = consentContextOf(project);
    if (snoozedUntil !== undefined || frequency !== undefined)
      await writePreferences(trx, [
        projectId,
        contactId,
        snoozedUntil !== undefined,
        snoozedUntil ?? null,
        frequency !== undefined,
        frequency ? JSON.stringify(frequency) : null,
        JSON.stringify(context),
      ]);
    await chooseTopics(trx, project, contactId, choices);
    return readContactTopics(trx, projectId, contactId);
  });
}

/** Writes what a request says about topics. The contact is locked or has just been written. */
export async function chooseTopics(
  trx: Db,
  project: ProjectAccess,
  contactId: string,
  input: ChoicesInput,
  { isNew = false } = {},
): Promise<void> {
  const choices = await resolveChoices(trx, project.projectId, input);
  if (choices === undefined) return;
  await choose(trx, [
    project.projectId,
    contactId,
    JSON.stringify(choices),
    JSON.stringify(contextOf(project, input, isNew)),
  ]);
}

/** Returns the states by topic id, or undefined for a request without topics. */
export async function resolveChoices(
  db: Db,
  projectId: string,
  { topics, consent, confirmation }: ChoicesInput,
): Promise<Record<string, TopicDefault> | undefined> {
  if (confirmation === 'SKIP' && (!consent?.at || !consent.source))
    throw validationError([
      { field: 'confirmation', message: '"confirmation" SKIP needs "consent" with "at" and "source"', code: 'custom' },
    ]);
  const given = Object.entries(topics ?? {});
  if (given.length === 0) return undefined;
  const found = await findTopicsNamed(
    db,
    projectId,
    given.map(([name]) => name),
  );
  return Object.fromEntries(
    given.flatMap(([name, state]) => {
      const topic = found.get(name);
      if (!topic) return [];
      if (topic.archived && state === 'SUBSCRIBED') throw archivedTopic(topic, `topics.${name}`);
      return [[topic.id, state]];
    }),
  );
}

/** What `choose_topics` records about the request. */
export function contextOf(
  project: Pick<ProjectAccess, 'actor'>,
  { consent, confirmation }: ChoicesInput,
  isNew: boolean,
): ConsentContext {
  return {
    ...consentContextOf(project),
    ...(consent && { consent: true, evidence: consent }),
    ...(confirmation === 'SKIP' && { proven: true }),
    ...(isNew && { isNew: true }),
  };
}

const MAX_SNOOZE_YEARS = 2;

function requireSnooze(until: Date): void {
  const latest = new Date();
  latest.setUTCFullYear(latest.getUTCFullYear() + MAX_SNOOZE_YEARS);
  if (until > new Date() && until <= latest) return;
  const message = `"snoozedUntil" must be in the future, at most ${MAX_SNOOZE_YEARS} years ahead`;
  throw validationError([{ field: 'snoozedUntil', message, code: 'custom' }]);
}
