import { expect } from 'chai';
import { QUARANTINE_REASON } from '../../services/sending/composer.ts';
import { mailQueueOptions } from '../../worker/task-queue-options.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import { addContacts, recipientTo, standing, startCampaign } from '../support/campaigns.ts';
import { poisonousComposer, SILENCE_MS } from '../support/composer.ts';
import { mailById } from '../support/ledger.ts';
import { setContacts } from '../support/rows/contacts.ts';
import { testSender } from '../support/sending.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { silent, temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

describe('a mail that stops every process that composes it', () => {
  let temporal: OwnNamespace;
  let stack: Stack;
  const quarantined: string[] = [];
  const ends: (() => Promise<unknown> | unknown)[] = [];

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
    ends.push(
      () => temporal.close(),
      () => stack.end(),
    );
    // The role `mail` in this process, because only here its compose processes are poisonous.
    const composer = poisonousComposer({
      limits: { silenceMs: SILENCE_MS, heapMb: 64 },
      onQuarantined: ({ subject }) => quarantined.push(subject),
    });
    const sending = testSender(stack.database.url, { url: stack.smtp.url, composer });
    const stopping = new AbortController();
    const workers = new TemporalWorkers({
      settings: temporalSettings(temporal.address, temporal.namespace),
      temporal,
      duties: [mailQueueOptions({ sender: sending.sender, stopping: stopping.signal })],
      log: silent,
    });
    ends.push(async () => {
      stopping.abort();
      await workers.stop();
      await sending.close();
      await composer.close();
    });
    await stack.startWorker({}, ['workflows', 'bulk', 'relay']);
    await temporal.client.workflow.start('sender', { taskQueue: 'everpost-workflows', workflowId: 'sender/1' });
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  const sendWithSubject = async (subject: string): Promise<string> => {
    const { server, project } = stack;
    const answer = await server.post('/v1/send', {
      to: 'stuck@example.com',
      from: `shop@${project.senderDomain}`,
      subject,
      body: '<p>Hello</p>',
    });
    expect(answer).to.have.status(200);
    return answer.body.data.emails[0].email;
  };
  const becomes = (id: string, status: string) =>
    eventually(async () => (await mailById(stack.database.db, id)).status === status, { what: status });

  for (const poison of ['HANG', 'KILL', 'FILL HEAP'])
    it(`ends FAILED with a reason (${poison}), and other mail is sent once`, async () => {
      const { smtp, server } = stack;
      const before = smtp.mails.length;
      const stuck = await sendWithSubject(poison);
      const others = await Promise.all(Array.from({ length: 10 }, () => stack.send()));
      for (const id of others) await becomes(id, 'SENT');
      await becomes(stuck, 'FAILED');
      expect((await server.get(`/emails/${stuck}`)).body).to.include({ status: 'FAILED', reason: QUARANTINE_REASON });
      const { data } = (await server.get('/emails?status=FAILED')).body;
      expect(data.map(({ id }: { id: string }) => id)).to.include(stuck);
      expect(quarantined).to.include(poison);
      expect(smtp.mails).to.have.length(before + others.length);
      expect(smtp.mailsTo('stuck@example.com')).to.deep.equal([]);
      for (const id of others)
        expect(await mailById(stack.database.db, id)).to.include({ attempts: 1, unknownOutcomes: 0 });
    });

  it('ends FAILED in a campaign, and the other recipients get their mail once', async () => {
    const { database, project, smtp } = stack;
    await addContacts(database.db, project, 30);
    await setContacts(
      database.db,
      { projectId: project.id, email: 'p7@example.com' },
      { data: JSON.stringify({ name: 'KILL' }) },
    );
    const before = smtp.mails.length;
    const { id } = await startCampaign(database.db, project);
    await eventually(async () => (await standing(database.db, project, id)).sent === 29, {
      what: '29 sent mails',
    });
    await eventually(async () => (await standing(database.db, project, id)).failed === 1);
    expect(await recipientTo(database.db, id, 'p7@example.com')).to.include({ reason: QUARANTINE_REASON });
    const addresses = smtp.mails.slice(before).map(({ to }) => to[0]);
    expect(addresses.filter((to) => to?.startsWith('p'))).to.have.length(29);
    expect(new Set(addresses).size).to.equal(addresses.length);
  });
});
