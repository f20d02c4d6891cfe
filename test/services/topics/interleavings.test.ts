// "No email begins against the table" (docs/decisions/topics.md), whatever happens at the same time.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Db } from '../../../db/connect.ts';
import { ApiError } from '../../../platform/errors.ts';
import type { ProjectAccess } from '../../../services/access/keys.ts';
import { updateContact } from '../../../services/contacts/save.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { createImport } from '../../../services/jobs/create.ts';
import { runSlice } from '../../../services/jobs/run.ts';
import { deleteContact } from '../../../services/removal/contact.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { changeContactTopics, readContactTopics } from '../../../services/topics/choices.ts';
import { createTopic } from '../../../services/topics/save.ts';
import { addContacts } from '../../support/campaigns.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { type TestSender, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

const PEOPLE = 12;
const HOUR_MS = 3_600_000;

type TopicKey = 'news' | 'orders';
const keys: TopicKey[] = ['news', 'orders'];

/** What is known of an address; null where it is no contact. */
interface Facts {
  subscribed: boolean;
  snoozed: boolean;
  states: Record<TopicKey, string>;
}

/** The facts that counted from the beginning of the operation that made them until the end of the next one. */
interface Period {
  from: number;
  until: number;
  facts: Facts | null;
}

/** The table of the contract, in plain words. A stranger counts as subscribed and has the default of both topics. */
function mayBeSent(facts: Facts | null, needsSubscription: boolean, topic: TopicKey | undefined): boolean {
  if (!facts) return true;
  if (needsSubscription && (!facts.subscribed || facts.snoozed)) return false;
  return topic === undefined || facts.states[topic] === 'SUBSCRIBED';
}

const person = fc.integer({ min: 0, max: PEOPLE - 1 });
const key = fc.constantFrom(...keys);
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('choose' as const), person, key, joins: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('subscribe' as const), person, joins: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snooze' as const), person, joins: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), person }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('import' as const), person, key, joins: fc.boolean() }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('send' as const), person, key }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

describe('choices, deletions, imports and sends at random on two senders', function () {
  this.timeout(300_000);
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let senders: TestSender[];

  before(async () => {
    database = await connectTestDatabase(12);
    db = database.db;
    smtp = await startSmtp();
    senders = [1, 2].map(() => testSender(database.url, { url: smtp.url, connections: 4 }));
  });
  after(async () => {
    for (const sender of senders) await sender.close();
    await smtp.close();
    await database.close();
  });

  const now = async (): Promise<number> => (await db.raw('select clock_timestamp() as at')).rows[0].at.getTime();

  async function makeCase() {
    const project = await makeProject(db);
    const { access, senderDomain } = project;
    await addContacts(db, project, PEOPLE, { prefix: `i${project.id.slice(-8)}-` });
    await createTopic(db, access, { name: 'News', defaultState: 'SUBSCRIBED' });
    await createTopic(db, access, { name: 'Orders', kind: 'NOTIFICATION' });
    const from = { email: `news@${senderDomain}` };
    const template = await createTemplate(db, access, { name: 't', subject: 's', body: 'b', type: 'MARKETING', from });
    return { project, access, from, templateId: template.id };
  }
  type Case = Awaited<ReturnType<typeof makeCase>>;

  const addressOf = ({ project }: Case, n: number) => `i${project.id.slice(-8)}-${n}@example.com`;
  const idOf = async ({ project }: Case, email: string): Promise<string | undefined> =>
    (await db('contacts').where({ projectId: project.id, email }).first('id'))?.id;

  async function factsOf(given: Case, email: string): Promise<Facts | null> {
    const id = await idOf(given, email);
    if (!id) return null;
    const { subscribed, snoozedUntil, topics } = await readContactTopics(db, given.project.id, id);
    const states = Object.fromEntries(topics.map((topic) => [topic.key, topic.state])) as Facts['states'];
    return { subscribed, snoozed: snoozedUntil !== null, states };
  }

  async function carryOut(given: Case, operation: Operation): Promise<void> {
    const { access, from, templateId } = given;
    const email = addressOf(given, operation.person);
    const stateOf = (joins: boolean) => (joins ? ('SUBSCRIBED' as const) : ('UNSUBSCRIBED' as const));
    if (operation.kind === 'send') return send(access, email, operation.key, { from, templateId });
    if (operation.kind === 'import') return importOne(access, email, operation.key, operation.joins);
    const id = await idOf(given, email);
    if (!id) return;
    if (operation.kind === 'delete') return deleteContact(db, access, id);
    if (operation.kind === 'subscribe') await updateContact(db, access, id, { subscribed: operation.joins });
    else if (operation.kind === 'choose')
      await changeContactTopics(db, access, id, { topics: { [operation.key]: stateOf(operation.joins) } });
    else {
      const snoozedUntil = operation.joins ? null : new Date(Date.now() + HOUR_MS);
      await changeContactTopics(db, access, id, { snoozedUntil });
    }
  }

  async function send(
    access: ProjectAccess,
    email: string,
    topic: TopicKey,
    { from, templateId }: Pick<Case, 'from' | 'templateId'>,
  ): Promise<void> {
    const content = topic === 'news' ? { template: templateId } : { from, subject: 's', body: 'b' };
    await sendEmails(db, access, { to: [{ email }], ...content, topic });
  }

  async function importOne(access: ProjectAccess, email: string, topic: TopicKey, joins: boolean): Promise<void> {
    const id = await createImport(db, access, Buffer.from(`email,topic:${topic}\n${email},${joins}\n`));
    for (let ended = false; !ended; ) ({ ended } = await runSlice(db, id, () => true));
  }

  /** Carries out what concerns one address in order, and returns what counted when. */
  async function periodsOf(given: Case, n: number, operations: Operation[]): Promise<Period[]> {
    const email = addressOf(given, n);
    const periods: Period[] = [{ from: 0, until: Number.POSITIVE_INFINITY, facts: await factsOf(given, email) }];
    for (const operation of operations) {
      const begun = await now();
      await carryOut(given, operation).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
      });
      const last = periods.at(-1);
      if (last) last.until = await now();
      periods.push({ from: begun, until: Number.POSITIVE_INFINITY, facts: await factsOf(given, email) });
    }
    return periods;
  }

  it('begin no email that the table forbids', async () => {
    let begun = 0;
    let skipped = 0;
    const run = async (operations: Operation[]) => {
      const given = await makeCase();
      let isOver = false;
      const sending = senders.map(async (sender) => {
        while (!isOver) await sender.send();
        await sender.send();
      });
      const people = Array.from({ length: PEOPLE }, (_, n) => n);
      const ends = people.map((n) =>
        periodsOf(
          given,
          n,
          operations.filter((one) => one.person === n),
        ),
      );
      const periods = await Promise.all(ends).finally(() => {
        isOver = true;
      });
      await Promise.all(sending);
      const byAddress = new Map(periods.map((list, n) => [addressOf(given, n), list]));
      const { rows } = await db.raw(
        `select e.id, c.to_email as email, e.status, t.key, e.needs_subscription, e.attempt_log as attempts
         from emails e join email_contents c on c.email_id = e.id left join topics t on t.id = e.topic_id
         where e.project_id = ?`,
        [given.project.id],
      );
      for (const { id, email, status, key, needs_subscription: needs, attempts } of rows) {
        if (status === 'SKIPPED') skipped++;
        for (const { startedAt, endedAt } of attempts ?? []) {
          begun++;
          const [from, to] = [Date.parse(startedAt), Date.parse(endedAt)];
          const counted = byAddress.get(email)?.filter((period) => period.from <= to && period.until >= from) ?? [];
          const mayBegin = counted.some(({ facts }) => mayBeSent(facts, needs === true, key ?? undefined));
          expect(mayBegin, `email ${id} of ${key} at ${startedAt}: ${JSON.stringify(counted)}`).to.equal(true);
        }
      }
    };
    const operations = fc.array(operation, { minLength: 250, maxLength: 300, size: 'max' });
    await fc.assert(fc.asyncProperty(operations, run), { numRuns: 3, endOnFailure: true });
    expect(begun, 'emails that began').to.be.above(50);
    expect(skipped, 'emails that were skipped').to.be.above(20);
  });
});
