import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import {
  Topic,
  type TopicConfirmation,
  type TopicDefault,
  type TopicKind,
  type TopicTranslation,
  type TopicVisibility,
} from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, validationError } from '../../platform/errors.ts';
import { isUuid, newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { keyOf } from '../../platform/slug.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import { scheduleReconcileOf } from '../segments/tracking.ts';
import { EXPIRY_HOURS, findConfirmationTemplate, hoursViolations, REMINDER_HOURS } from './confirmation.ts';
import { conditionNamesOf, findTopic, lockTopic } from './find.ts';
import { listTopics, type TopicView, viewTopic } from './list.ts';
import { requireSender } from './sender.ts';

export { topicDefaults, topicKinds, topicStates, topicVisibilities } from '../../db/models/topic.ts';

/** Omitted fields keep their values. */
export interface TopicChange {
  name?: string | undefined;
  description?: string | undefined;
  defaultState?: TopicDefault | undefined;
  visibility?: TopicVisibility | undefined;
  doubleOptIn?: boolean | undefined;
  confirmation?: Partial<TopicConfirmation> | null | undefined;
  consentText?: string | undefined;
  translations?: Record<string, TopicTranslation> | undefined;
  archived?: boolean | undefined;
}

export interface NewTopic extends TopicChange {
  name: string;
  key?: string | undefined;
  kind?: TopicKind | undefined;
}

export interface TopicOptions {
  limits?: { topics: number };
  /** Hours are whole there. */
  production: boolean;
}

const addDefault = statement(
  'topic-add-default',
  `insert into topic_defaults (topic_id, since, project_id, state)
   values ($2, coalesce($3::timestamptz, '-infinity'), $1, $4)
   on conflict (topic_id, since) do update set state = excluded.state`,
);

export async function createTopic(
  db: Db,
  project: ProjectAccess,
  input: NewTopic,
  { limits: { topics: max } = UNLIMITED, production }: TopicOptions = { production: true },
): Promise<TopicView> {
  const { projectId } = project;
  const { key, kind = 'MARKETING', doubleOptIn = false, archived: _, ...change } = input;
  const { defaultState = kind === 'NOTIFICATION' && !doubleOptIn ? 'SUBSCRIBED' : 'UNSUBSCRIBED' } = change;
  requirePossible({ defaultState, doubleOptIn });
  if (key !== undefined && isUuid(key))
    throw validationError([{ field: 'key', message: '"key" must not look like an id', code: 'custom' }]);
  return writing(db, project, async (trx) => {
    // Also serializes the choice of key and position.
    await requireBelowLimit(trx, { what: 'topics', projectId, max });
    const { confirmation, templateFrom } = await checkConfirmation(trx, projectId, change.confirmation, production);
    if (doubleOptIn)
      await requireSender(trx, projectId, 'A topic with doubleOptIn', { from: confirmation?.from, templateFrom });
    const topics = await Topic.query(trx).where({ projectId }).select('key', 'position');
    const topic = await Topic.query(trx)
      .insert({
        id: newId(),
        projectId,
        description: '',
        consentText: '',
        translations: {},
        visibility: 'PUBLIC',
        ...definedOf(change),
        key: chooseKey(
          key,
          input.name,
          topics.map((other) => other.key),
        ),
        kind,
        defaultState,
        doubleOptIn,
        confirmation,
        position: Math.max(0, ...topics.map(({ position }) => position)) + 1,
      })
      .returning('*');
    await addDefault(trx, [projectId, topic.id, null, defaultState]);
    // Conditions may name a deleted topic of this key.
    await scheduleReconcileOf(trx, projectId, conditionNamesOf(topic));
    await recordAudit(trx, project, {
      action: 'topic.created',
      target: { type: 'topic', id: topic.id },
      changes: changesOf({}, { key: topic.key, name: topic.name, kind, defaultState, doubleOptIn }),
    });
    return viewTopic(trx, topic);
  });
}

export async function updateTopic(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: TopicChange,
  { production }: TopicOptions = { production: true },
): Promise<TopicView> {
  const { projectId } = project;
  // A topic of another project is 404, even when the change is invalid.
  await findTopic(db, projectId, id);
  return writing(db, project, async (trx) => {
    const before = await lockTopic(trx, projectId, id);
    const { confirmation, ...rest } = definedOf(change);
    const given = confirmation === undefined ? before.confirmation : confirmation;
    const checked = await checkConfirmation(trx, projectId, given, production);
    const columns = { ...rest, ...(confirmation !== undefined && { confirmation: checked.confirmation }) };
    const { defaultState, doubleOptIn } = { ...before, ...columns };
    requirePossible({ defaultState, doubleOptIn });
    if (doubleOptIn && (!before.doubleOptIn || confirmation !== undefined))
      await requireSender(trx, projectId, 'A topic with doubleOptIn', {
        from: checked.confirmation?.from,
        templateFrom: checked.templateFrom,
      });
    if (columns.archived && !before.archived) await requireNotSending(trx, before);
    const changes = changesOf<Partial<Topic>>(before, columns);
    if (Object.keys(changes).length === 0) return viewTopic(trx, before);
    // For contacts that are created from now on.
    if (defaultState !== before.defaultState) await addDefault(trx, [projectId, id, new Date(), defaultState]);
    const topic = await before.$query(trx).patchAndFetch({ ...columns, updatedAt: new Date() });
    await recordAudit(trx, project, { action: 'topic.updated', target: { type: 'topic', id }, changes });
    return viewTopic(trx, topic);
  });
}

/** Orders the topics that are not archived; 422 unless each is named once. */
export async function reorderTopics(db: Db, project: ProjectAccess, ids: string[]): Promise<TopicView[]> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    await lockName(trx, `topics/${projectId}`);
    const topics = await Topic.query(trx).where({ projectId, archived: false }).orderBy('id').forUpdate();
    const given = ids.map((id) => id.toLowerCase());
    const isComplete = given.length === topics.length && topics.every(({ id }) => given.includes(id));
    if (!isComplete)
      throw validationError([{ field: 'ids', message: '"ids" must name each topic once', code: 'custom' }]);
    const positions = topics.map(({ id }) => given.indexOf(id) + 1);
    if (topics.some(({ position }, n) => position !== positions[n])) {
      for (const [n, topic] of topics.entries()) await topic.$query(trx).patch({ position: positions[n] });
      await recordAudit(trx, project, { action: 'topics.reordered', target: { type: 'project', id: projectId } });
    }
    return listTopics(trx, projectId, false);
  });
}

const findSending = statement<{ name: string }>(
  'topic-sending-campaign',
  `select name from campaigns where project_id = $1 and topic_id = $2 and deleted_at is null
     and status in ('SCHEDULED', 'SENDING') order by name limit 1`,
);

async function requireNotSending(trx: Db, { projectId, id }: Topic): Promise<void> {
  const [campaign] = await findSending(trx, [projectId, id]);
  if (campaign)
    throw new ApiError(409, 'CONFLICT', `The campaign "${campaign.name}" of this topic is scheduled or sending.`, {
      suggestion: 'Wait until it is sent, or cancel it.',
    });
}

function requirePossible({ defaultState, doubleOptIn }: Pick<Topic, 'defaultState' | 'doubleOptIn'>): void {
  if (doubleOptIn && defaultState === 'SUBSCRIBED')
    throw validationError([
      {
        field: 'defaultState',
        message: '"defaultState" must be UNSUBSCRIBED: contacts without a choice have confirmed nothing',
        code: 'custom',
      },
    ]);
}

async function checkConfirmation(
  trx: Db,
  projectId: string,
  given: Partial<TopicConfirmation> | null | undefined,
  production: boolean,
): Promise<{ confirmation: TopicConfirmation | null; templateFrom?: string | null }> {
  if (!given) return { confirmation: null };
  const confirmation: TopicConfirmation = {
    templateId: given.templateId ?? null,
    from: given.from ?? null,
    fromName: given.fromName ?? null,
    reminderAfterHours: given.reminderAfterHours === undefined ? REMINDER_HOURS : given.reminderAfterHours,
    expiresAfterHours: given.expiresAfterHours ?? EXPIRY_HOURS,
  };
  const errors = hoursViolations(confirmation, production, 'confirmation.');
  const found = confirmation.templateId
    ? await findConfirmationTemplate(trx, projectId, confirmation.templateId, 'confirmation.templateId')
    : undefined;
  if (found) errors.push(...found.violations);
  if (errors.length > 0) throw validationError(errors);
  if (confirmation.from) await requireVerifiedSender(trx, projectId, confirmation.from);
  return { confirmation, templateFrom: found?.template?.fromEmail ?? null };
}

/** Returns the key given, or one made of the name; a number makes it unique. */
function chooseKey(given: string | undefined, name: string, taken: string[]): string {
  if (given === undefined) return keyOf(name, { fallback: 'topic', taken });
  if (taken.includes(given)) throw new ApiError(409, 'CONFLICT', `The topic "${given}" already exists.`);
  return given;
}

const definedOf = <T extends object>(given: T): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
