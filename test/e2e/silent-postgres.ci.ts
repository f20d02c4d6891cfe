import { expect } from 'chai';
import { addContacts } from '../support/campaigns.ts';
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const RECIPIENTS = 600;

describe('a worker whose Postgres connections stop answering', () => {
  let temporal: OwnNamespace | undefined;
  let stack: Stack | undefined;
  let proxy: PostgresProxy | undefined;

  afterEach(async () => {
    await stack?.end();
    await proxy?.close();
    await temporal?.close();
  });

  it('recovers and sends mail of the API and of a running campaign', async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal, { RATE_LIMIT_PER_MINUTE: '0' });
    const { database, smtp, project, server } = stack;
    proxy = await startPostgresProxy(database.url);
    await addContacts(database.db, project, RECIPIENTS);
    await stack.startWorker({ DATABASE_URL: proxy.url, DATABASE_WORKER_STATEMENT_TIMEOUT_MS: '1000' });

    smtp.misbehave({ at: 'message', do: { delayMs: 20 } });
    const created = await server.post('/campaigns', {
      name: 'Spring',
      subject: 'Hi',
      body: '<p>Hi</p>',
      audienceType: 'ALL',
      from: `news@${project.senderDomain}`,
    });
    const { id } = created.body.data;
    expect(await server.post(`/campaigns/${id}/send`)).to.have.status(200);
    await smtp.received(100);

    proxy.silence();
    await stack.send('ann@example.com');
    await eventually(() => smtp.mailsTo('ann@example.com').length > 0, { what: 'the mail of the API' });
    const campaign = await eventually(
      async () => {
        const { body } = await server.get(`/campaigns/${id}`);
        return body.pendingCount === 0 && body.totalRecipients === RECIPIENTS && body;
      },
      { what: 'the end of the campaign' },
    );
    expect(campaign.sentCount + campaign.unknownCount).to.equal(RECIPIENTS);
    // Campaign mail is sent at most once, whatever fails.
    const addresses = smtp.mails.flatMap(({ to }) => to).filter((to) => to.startsWith('p'));
    expect(addresses).to.have.length(new Set(addresses).size);
  });
});
