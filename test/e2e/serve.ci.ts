// `everpost serve`: what API and worker promise holds when both are one process.
import { expect } from 'chai';
import { type ApiProject, createProjectWithClients } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { mailById } from '../support/ledger.ts';
import { type Env, type ServiceProcess, startServe } from '../support/processes.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnNamespace, ownNamespace } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('everpost serve', () => {
  let temporal: OwnNamespace;
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let env: Env;
  let serve: ServiceProcess;
  let project: ApiProject;

  before(async () => {
    temporal = await ownNamespace();
    database = await connectTestDatabase();
    smtp = await startSmtp();
    env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: smtp.url,
      LOG_LEVEL: 'info',
    };
  });
  beforeEach(async () => {
    serve = await startServe(env);
    project = await createProjectWithClients(database.db, serve.url);
  });
  afterEach(async () => {
    smtp.behave();
    await serve?.kill();
  });
  after(async () => {
    await smtp?.close();
    await database?.close();
    await temporal?.close();
  });

  async function send(to: string): Promise<string> {
    const body = { to, from: `shop@${project.senderDomain}`, subject: 'Hello', body: '<p>Hello {{ name }}</p>' };
    const answer = await project.server.post('/v1/send', body);
    expect(answer.status).to.equal(200);
    return answer.body.data.emails[0].email;
  }
  const isSent = (id: string) =>
    eventually(async () => (await mailById(database.db, id)).status === 'SENT', { what: 'a sent mail' });

  it('accepts a mail and sends it, and ends on SIGTERM after its work', async () => {
    const first = await send('ann@example.com');
    await isSent(first);
    // Still in flight when the signal comes.
    smtp.misbehave({ at: 'accepted', do: { delayMs: 2_000 }, to: 'late@example.com', times: 1 });
    const late = await send('late@example.com');
    await smtp.received(1, { to: 'late@example.com' });
    expect(await serve.stop()).to.deep.equal({ code: 0, signal: null });
    expect(await mailById(database.db, late)).to.include({ status: 'SENT', unknownOutcomes: 0 });
    expect(serve.logs()).to.include('"msg":"shut down"');
  });

  it('sends every accepted mail once after it was killed', async () => {
    smtp.misbehave({ at: 'connect', do: 'hang' });
    const addresses = Array.from({ length: 5 }, (_, n) => `killed${n}@example.com`);
    const ids = await Promise.all(addresses.map(send));
    expect(await serve.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    smtp.behave();
    serve = await startServe(env);
    await Promise.all(ids.map(isSent));
    for (const to of addresses) expect(smtp.mailsTo(to), to).to.have.lengthOf(1);
  });
});
