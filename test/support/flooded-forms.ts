import { expect } from 'chai';
import { client } from './api.ts';
import { makeProject, type TestProject } from './connected-database.ts';
import { type FloodOptions, flood } from './form-flood.ts';
import { ownNamespace, startProcessStack } from './stack.ts';
import { eventually } from './waiting.ts';

const PROJECTS = 5;
const PER_ADDRESS = 3;
const PERMANENT = ['sender', 'domain', 'reconciler', 'retention', 'segmentSweep', 'formTimer'];
const MINUTE_MS = 60_000;

interface Flood extends Pick<FloodOptions, 'times' | 'bare' | 'challengeOf'> {
  addresses: number;
}

/**
 * Floods a form of each of five projects through real processes, and checks what became of it: every answer says the same,
 * each stored submission is decided once, no address gets more than its three emails, and Temporal has nothing to do.
 */
export async function checkFlood({ addresses, ...options }: Flood) {
  const temporal = await ownNamespace();
  // No name server answers there, and a failed lookup refuses nobody. One client sends everything.
  const stack = await startProcessStack(temporal, {
    DNS_SERVERS: '127.0.0.1:9',
    RATE_LIMIT_PER_MINUTE: '0',
    FORM_SUBMISSIONS_PER_IP_PER_HOUR: '0',
  });
  const { db } = stack.database;
  try {
    await stack.startWorker();
    const projects = [stack.project];
    while (projects.length < PROJECTS) projects.push(await makeProject(db));
    const formIds = await Promise.all(projects.map((project) => makeForm(stack.api.url, project)));
    const began = Date.now();
    const people = Array.from({ length: addresses }, (_, n) => `p${n}@d${n % 50}.example.com`);
    const answers = await flood({ url: stack.api.url, formIds, addresses: people, ...options });

    const stored = await db('formSubmissions').count().first();
    expect(Number(stored?.count), JSON.stringify(answers)).to.equal(answers['202 RECEIVED']);
    expect(Object.keys(answers)).to.include.members(['202 RECEIVED', '422']);
    for (const answer of Object.keys(answers)) expect(answer).to.be.oneOf(['202 RECEIVED', '200', '422', '429']);
    const isDecided = async () => (await db('formSubmissions').where({ status: 'RECEIVED' })).length === 0;
    await eventually(isDecided, { what: 'all decisions', timeoutMs: 20 * MINUTE_MS });
    const isSent = async () => (await db('emails').where({ status: 'PENDING' })).length === 0;
    await eventually(isSent, { what: 'all emails', timeoutMs: 10 * MINUTE_MS });

    const { rows: perForm } = await db.raw(
      `select s.form_id, c.to_email, count(*)::integer as count from emails e join form_submissions s on s.id = e.submission_id
       join email_contents c on c.email_id = e.id group by 1, 2`,
    );
    const perAddress = new Map<string, number>();
    for (const { to_email: to, count } of perForm) {
      expect(count, to).to.equal(1);
      perAddress.set(to, (perAddress.get(to) ?? 0) + count);
    }
    expect(Math.max(...perAddress.values())).to.equal(PER_ADDRESS);
    // The others notify the owners of the attack.
    const toPeople = stack.smtp.mails.filter(({ to }) => people.includes(to[0] ?? ''));
    expect(toPeople).to.have.length(perForm.length);
    const ids = projects.map(({ id }) => id);
    for (const table of ['contacts', 'consents', 'events'])
      expect(await db(table).whereIn('projectId', ids), table).to.deep.equal([]);

    const started: Record<string, number> = {};
    for await (const { type } of temporal.client.workflow.list()) started[type] = (started[type] ?? 0) + 1;
    expect(Object.keys(started).filter((type) => !PERMANENT.includes(type))).to.deep.equal([]);
    // One run of a Schedule a minute, however many submissions there are.
    expect(started.formTimer ?? 0).to.be.at.most((Date.now() - began) / MINUTE_MS + 2);
    return { answers, emails: perForm.length, started, seconds: Math.round((Date.now() - began) / 1000) };
  } finally {
    await stack.end();
    await temporal.close();
  }
}

async function makeForm(url: string, { secretKey, senderDomain }: TestProject): Promise<string> {
  const server = client(url, { authorization: `Bearer ${secretKey}` });
  const answer = await server.post('/forms', { name: 'Newsletter', from: `news@${senderDomain}` });
  expect(answer, JSON.stringify(answer.body)).to.have.status(201);
  return answer.body.id;
}
