import { Readable } from 'node:stream';
import type { Db } from '../../db/connect.ts';
import type { Contact } from '../../db/models/contact.ts';
import { Execution, ExecutionStep } from '../../db/models/execution.ts';
import { findSuppressionOf } from '../../db/models/suppression.ts';
import { statement } from '../../db/statement.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { heavyWork } from '../access/heavy-work.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { recordAudit } from '../audit/record.ts';
import { findContact } from '../contacts/find.ts';
import { listEmails } from '../emails/list.ts';
import { segmentsOfContact } from '../segments/of-contact.ts';
import { readContactTopics } from '../topics/choices.ts';
import { consentsOf } from '../topics/consents.ts';

const PAGE = 100;
const EXPORT_WAIT_MS = 600_000;

interface Person {
  db: Db;
  projectId: string;
  contactId: string;
  keys: SigningKeys;
}

type Pages = AsyncGenerator<object[]>;

/** Records the export, then returns everything that is stored about a contact as JSON. Reads page by page, as fast as the client does. */
export async function exportContact(
  db: Db,
  project: ProjectAccess,
  contactId: string,
  keys: SigningKeys,
): Promise<Readable> {
  const { projectId } = project;
  // Answers 404 before the response begins.
  const { id, email, subscribed, data, createdAt, updatedAt } = await findContact(db, projectId, contactId);
  const contact = { id, email, subscribed, data, createdAt, updatedAt };
  await recordAudit(db, project, { action: 'contacts.exported', target: { type: 'contact', id } });
  const person = { db, projectId, contactId: id, keys };
  return Readable.from(documentOf(contact, person), { objectMode: false });
}

async function* documentOf(contact: Pick<Contact, 'email'>, person: Person): AsyncGenerator<string> {
  yield `{"contact":${JSON.stringify(contact)}`;
  yield `,"suppression":${JSON.stringify((await suppressionOf(person, contact.email)) ?? null)}`;
  const { topics, snoozedUntil, frequency } = await read(person, () =>
    readContactTopics(person.db, person.projectId, person.contactId),
  );
  yield `,"preferences":${JSON.stringify({ snoozedUntil, frequency, topics })}`;
  const lists: [string, Pages][] = [
    ['segments', segments(person)],
    ['consents', consentsOf(person.db, person.projectId, person.contactId)],
    ['submissions', submissions(person, contact.email)],
    ['events', events(person)],
    ['emails', emails(person)],
    ['executions', executions(person)],
  ];
  for (const [name, pages] of lists) {
    yield `,"${name}":[`;
    let separator = '';
    for await (const page of pages) {
      if (page.length === 0) continue;
      yield separator + page.map((item) => JSON.stringify(item)).join(',');
      separator = ',';
    }
    yield ']';
  }
  yield '}';
}

/** Waits long, because the response has begun and an error would break the download. */
const read = <T>({ db, projectId }: Person, work: () => Promise<T>): Promise<T> =>
  heavyWork(db, 'read', projectId, work, EXPORT_WAIT_MS);

const suppressionOf = (person: Person, email: string) =>
  read(person, async () => {
    const found = await findSuppressionOf(person.db, person.projectId, email);
    return found && { reason: found.reason, note: found.note, createdAt: found.createdAt };
  });

async function* segments(person: Person): Pages {
  const { db, projectId, contactId } = person;
  const found = await read(person, () => segmentsOfContact(db, projectId, contactId));
  yield found.map(({ id, name, slug, type }) => ({ id, name, slug, type }));
}

interface EventRow {
  id: string;
  name: string;
  data: Record<string, unknown>;
  emailId: string | null;
  createdAt: Date;
  /** To the microsecond, which a Date cannot hold. */
  at: string;
}

const eventsAfter = statement<EventRow>(
  'export-events',
  `select id, name, data, email_id, created_at, created_at::text as at from events
   where project_id = $1 and contact_id = $2 and (created_at, id) > ($3::timestamptz, $4::uuid)
   order by created_at, id limit $5`,
);

async function* events(person: Person): Pages {
  const { db, projectId, contactId } = person;
  let last = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };
  for (;;) {
    const { at, id } = last;
    const page = await read(person, () => eventsAfter(db, [projectId, contactId, at, id, PAGE]));
    const end = page.at(-1);
    if (!end) return;
    yield page.map(({ id, name, data, emailId, createdAt }) => ({
      id,
      name,
      data,
      emailId,
      createdAt,
    }));
    last = end;
  }
}

interface SubmissionRow {
  id: string;
  formId: string | null;
  status: string;
  reason: string | null;
  fields: object | null;
  ip: string | null;
  userAgent: string | null;
  pageUrl: string | null;
  createdAt: Date;
  confirmedAt: Date | null;
}

// Those of the address: what waits for its confirmation has no contact yet. Until it is confirmed, another person may have
// sent it, whose IP address and program are not the contact's data.
const submissionsAfter = statement<SubmissionRow>(
  'export-submissions',
  `select id, form_id, status, reason, data as fields, page_url, created_at, confirmed_at,
     case when status = 'CONFIRMED' then context ->> 'ip' end as ip,
     case when status = 'CONFIRMED' then context ->> 'userAgent' end as user_agent from form_submissions
   where project_id = $1 and address_hash = address_hash($1::uuid, $2) and ($3::uuid is null or id > $3) order by id limit $4`,
);

/** What the person has submitted with forms, and the confirmations of topics. */
async function* submissions(person: Person, email: string): Pages {
  const { db, projectId } = person;
  for (let after: string | null = null; ; ) {
    const page: SubmissionRow[] = await read(person, () => submissionsAfter(db, [projectId, email, after, PAGE]));
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
  }
}

async function* emails({ db, projectId, contactId, keys, ...rest }: Person): Pages {
  for (let cursor: string | undefined; ; ) {
    const page = await read({ db, projectId, contactId, keys, ...rest }, () =>
      listEmails(db, projectId, keys, { limit: PAGE, contactId, cursor }),
    );
    yield page.data;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

async function* executions(person: Person): Pages {
  const { db, projectId, contactId } = person;
  for (let after: string | undefined; ; ) {
    const page: Execution[] = await read(person, async () =>
      Execution.query(db)
        .where({ projectId, contactId })
        .modify((query) => after && query.where('id', '>', after))
        .orderBy('id')
        .limit(PAGE),
    );
    const last = page.at(-1);
    if (!last) return;
    const ids = page.map(({ id }) => id);
    const steps = await read(person, async () =>
      ExecutionStep.query(db).where({ projectId }).whereIn('executionId', ids).orderBy(['executionId', 'visit']),
    );
    yield page.map((execution) => executionOf(execution, steps));
    after = last.id;
  }
}

const executionOf = (
  { id, workflowId, status, context, exitReason, error, startedAt, completedAt }: Execution,
  steps: ExecutionStep[],
) => ({
  id,
  workflowId,
  status,
  context,
  exitReason,
  error,
  startedAt,
  completedAt,
  steps: steps
    .filter(({ executionId }) => executionId === id)
    .map(({ type, name, status, branch, output, error, startedAt, completedAt }) => ({
      type,
      name,
      status,
      branch,
      output,
      error,
      startedAt,
      completedAt,
    })),
});
