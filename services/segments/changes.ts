import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type Look, settle } from './apply.ts';
import { eachOnItsOwn } from './each.ts';
import { holdLookingAt } from './tracked.ts';

const AT_ONCE = 1_000;

interface Note {
  id: string;
  contact_id: string;
  /** Null: everything about the contact. */
  dependencies: string[] | null;
  is_held: boolean;
  is_gone: boolean;
}

const waiting = statement<{ project_id: string }>(
  'segments-waiting',
  `with recursive taker as (
     (select project_id from contact_changes order by project_id limit 1)
     union all
     select (select c.project_id from contact_changes c where c.project_id > taker.project_id order by c.project_id limit 1)
     from taker where taker.project_id is not null
   )
   select project_id from taker where project_id is not null`,
);

// Nobody is waited for: who holds a contact at this moment may be waiting for another one that we would hold.
const claim = statement<Note>(
  'segments-claim',
  `with mine as materialized (
     select id, contact_id, dependencies from contact_changes where project_id = $1 order by id limit $2
     for update skip locked
   ),
   held as materialized (
     select id from contacts where project_id = $1 and id in (select contact_id from mine) for update skip locked
   )
   select mine.*, held.id is not null as is_held,
     not exists (select 1 from contacts c where c.id = mine.contact_id) as is_gone
   from mine left join held on held.id = mine.contact_id`,
);

/**
 * Settles what has been noted about contacts: one round for every project that has notes, so that a tenant's import
 * does not hold up the others. Gives back how many notes are done with. All of a round is one transaction: who dies in
 * the middle has done nothing, and another finds the notes.
 */
export async function applyContactChanges(db: Db, limit = AT_ONCE): Promise<number> {
  let done = 0;
  await eachOnItsOwn(await waiting(db, []), async ({ project_id: projectId }) => {
    done += await inTransaction(db, (trx) => settleProject(trx, projectId, limit));
  });
  return done;
}

async function settleProject(trx: Db, projectId: string, limit: number): Promise<number> {
  const notes = (await claim(trx, [projectId, limit])).filter((note) => note.is_held || note.is_gone);
  const changed = notes.filter((note) => note.is_held);
  const held = await holdLookingAt(trx, projectId, everyDependency(changed));
  if (!held) return 0;
  await settle(
    trx,
    projectId,
    together(changed),
    held,
    notes.map(({ id }) => id),
  );
  return notes.length;
}

const everyDependency = (notes: Note[]): string[] | 'all' =>
  notes.some(({ dependencies }) => dependencies === null)
    ? 'all'
    : [...new Set(notes.flatMap(({ dependencies }) => dependencies ?? []))];

/** One look per contact, however often it was noted. */
function together(notes: Note[]): Look[] {
  const byContact = new Map<string, Set<string> | 'all'>();
  for (const { contact_id: id, dependencies } of notes) {
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
