import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { applyMembership, type MembershipEvaluation } from './apply.ts';
import { applyRecounts } from './count.ts';
import { forEachIndependently } from './each.ts';
import { lockDependentSegments } from './tracked.ts';

const BATCH_SIZE = 1_000;

/** A row of contact_changes. */
interface ContactChange {
  id: string;
  contactId: string;
  /** Null: everything about the contact. */
  dependencies: string[] | null;
  isLocked: boolean;
  isGone: boolean;
}

// An index walk that skips from one project to the next.
const projectsWithChanges = statement<{ projectId: string }>(
  'segments-changed-projects',
  `with recursive project as (
     (select project_id from contact_changes order by project_id limit 1)
     union all
     select (select c.project_id from contact_changes c where c.project_id > project.project_id
             order by c.project_id limit 1)
     from project where project.project_id is not null
   )
   select project_id from project where project_id is not null`,
);

// Skips locked contacts, because their owner may wait for another one that this transaction has locked.
const claim = statement<ContactChange>(
  'segments-claim',
  `with mine as materialized (
     select id, contact_id, dependencies from contact_changes where project_id = $1 order by id limit $2
     for update skip locked
   ),
   locked as materialized (
     select id from contacts where project_id = $1 and id in (select contact_id from mine) for update skip locked
   )
   select mine.*, locked.id is not null as is_locked,
     not exists (select 1 from contacts c where c.id = mine.contact_id) as is_gone
   from mine left join locked on locked.id = mine.contact_id`,
);

/**
 * Applies recorded changes of contacts to tracked segments and returns how many. Takes one batch of every project, so that
 * a tenant's import does not delay the others. A batch is one transaction: after a crash another process finds its changes.
 */
export async function applyContactChanges(db: Db, limit = BATCH_SIZE): Promise<number> {
  let total = 0;
  await forEachIndependently(await projectsWithChanges(db, []), async ({ projectId }) => {
    total += await inTransaction(db, (trx) => applyBatch(trx, projectId, limit));
  });
  return total;
}

async function applyBatch(trx: Db, projectId: string, limit: number): Promise<number> {
  const changes = (await claim(trx, [projectId, limit])).filter((change) => change.isLocked || change.isGone);
  const toEvaluate = changes.filter((change) => change.isLocked);
  const locked = await lockDependentSegments(trx, projectId, allDependencies(toEvaluate));
  if (!locked) return 0;
  await applyMembership(
    trx,
    projectId,
    evaluationsOf(toEvaluate),
    locked,
    changes.map(({ id }) => id),
  );
  return changes.length;
}

const allDependencies = (changes: ContactChange[]): string[] | 'all' =>
  changes.some(({ dependencies }) => dependencies === null)
    ? 'all'
    : [...new Set(changes.flatMap(({ dependencies }) => dependencies ?? []))];

/** Merges the changes of each contact into one evaluation. */
function evaluationsOf(changes: ContactChange[]): MembershipEvaluation[] {
  const byContact = new Map<string, Set<string> | 'all'>();
  for (const { contactId: id, dependencies } of changes) {
    const before = byContact.get(id);
    if (dependencies === null || before === 'all') byContact.set(id, 'all');
    else byContact.set(id, new Set([...(before ?? []), ...dependencies]));
  }
  return [...byContact].map(([contactId, dependencies]) => ({
    contactId,
    concerns: (segment) =>
      dependencies === 'all' || [...dependencies].some((dependency) => segment.dependencies.has(dependency)),
  }));
}

/** Housekeeping: applies all recorded changes of contacts, except those of locked contacts and segments. */
export async function applyAllContactChanges(db: Db): Promise<number> {
  let total = 0;
  for (;;) {
    const applied = await applyContactChanges(db);
    await applyRecounts(db);
    if (applied === 0) return total;
    total += applied;
  }
}
