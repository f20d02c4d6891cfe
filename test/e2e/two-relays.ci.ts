import { expect } from 'chai';
import { attemptLogOf } from '../../services/emails/attempts.ts';
import { addContacts, startCampaign } from '../support/campaigns.ts';
import { makeProject, type TestProject } from '../support/connected-database.ts';
import { mailById } from '../support/ledger.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { storedMails } from '../support/rows/mails.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const RECIPIENTS = 300;
const CONNECTIONS = 3;

describe('two SMTP relays', () => {
  let temporal: OwnNamespace;
  let stack: Stack;
  let worker: ServiceProcess;
  let a: SmtpStandIn;
  let b: SmtpStandIn;
  let project: TestProject;

  before(async () => {
    temporal = await ownNamespace();
    b = await startSmtp();
    stack = await startStack(temporal, { SMTP_MAX_CONNECTIONS: String(CONNECTIONS), RATE_LIMIT_PER_MINUTE: '0' });
    a = stack.smtp;
    worker = await stack.startWorker({ SMTP_URL: `${a.url}, ${b.url}`, SMTP_RELAY_PAUSE_MS: '500' });
  });
  after(async () => {
    await stack?.end();
    await b?.close();
    await temporal?.close();
  });
  beforeEach(async () => {
    project = await makeProject(stack.database.db);
    await addContacts(stack.database.db, project, RECIPIENTS);
    // Each recipient has a domain of its own, or a relay that holds mail would make the domain slow.
    await stack.database.db.raw(
      `update contacts set email = replace(email, '@', '@' || split_part(email, '@', 1) || '.') where project_id = ?`,
      [project.id],
    );
    for (const relay of [a, b]) {
      relay.behave();
      relay.mails.length = 0;
    }
  });

  const nameOf = ({ port }: SmtpStandIn) => `127.0.0.1:${port}`;
  const received = () => a.mails.length + b.mails.length;
  const receives = (relay: SmtpStandIn, count: number) => {
    const before = relay.mails.length;
    return eventually(() => relay.mails.length >= before + count, { what: `${count} more mails` });
  };
  /** Starts a campaign and waits until both relays have got some of its mail. They hold the rest. */
  const startedCampaign = async (): Promise<string> => {
    for (const relay of [a, b]) relay.holdAfter(20);
    const { id } = await startCampaign(stack.database.db, project);
    await Promise.all([receives(a, 20), receives(b, 20)]);
    return id;
  };
  const rows = (campaignId: string) =>
    storedMails(stack.database.db, { campaignId }).select('id', 'status', 'attempts', 'attemptLog');
  const endOf = async (campaignId: string) => {
    await eventually(async () => (await rows(campaignId)).every(({ status }) => status !== 'PENDING'), {
      what: 'the end of the campaign',
    });
    const copies = [...a.mails, ...b.mails].map(({ to }) => to[0]);
    expect(copies, 'no recipient gets two mails').to.have.length(new Set(copies).size);
    return rows(campaignId);
  };
  const metric = async (line: string) => (await (await fetch(`${worker.url}/metrics`)).text()).includes(line);
  /** Sends single mails until the relay has got one. */
  const isUsedAgain = (relay: SmtpStandIn) =>
    eventually(
      async () => {
        const before = relay.mails.length;
        const id = await stack.send();
        await eventually(async () => (await mailById(stack.database.db, id)).status === 'SENT');
        return relay.mails.length > before;
      },
      { what: 'a mail at the relay that is back' },
    );

  it('share a campaign, and one gets the rest when the other dies', async () => {
    const id = await startedCampaign();
    await a.close();
    const byA = a.mails.length;
    b.behave();
    const mails = await endOf(id);
    const unknown = mails.filter(({ status }) => status === 'UNKNOWN');
    expect(unknown.length, 'in flight when it died').to.be.at.most(2 * CONNECTIONS);
    for (const { attemptLog } of unknown) expect(attemptLog[0].relay).to.equal(nameOf(a));
    expect(mails.filter(({ status }) => status === 'SENT')).to.have.length(RECIPIENTS - unknown.length);
    expect(b.mails.length).to.be.at.least(RECIPIENTS - byA - unknown.length);
    await eventually(() => metric(`everpost_relay_usable{relay="${nameOf(a)}"} 0`), { what: 'the pause' });
    expect(await metric(`everpost_relay_usable{relay="${nameOf(b)}"} 1`)).to.equal(true);
    await a.reopen();
    await isUsedAgain(a);
    expect(await metric(`everpost_relay_usable{relay="${nameOf(a)}"} 1`)).to.equal(true);
  });

  it('send a whole campaign when one answers 421 for a while, and no attempt counts there', async () => {
    const id = await startedCampaign();
    a.behave();
    a.misbehave({ at: 'sender', do: { code: 421, text: 'try later' } });
    // Left out, so that even the mail that met the 421 goes to the other.
    await eventually(() => metric(`everpost_relay_usable{relay="${nameOf(a)}"} 0`), { what: 'the pause' });
    b.behave();
    b.holdAfter(20);
    await receives(b, 20);
    a.behave();
    b.behave();
    const mails = await endOf(id);
    for (const { status, attempts } of mails)
      expect({ status, attempts }).to.deep.equal({ status: 'SENT', attempts: 1 });
    expect(received()).to.equal(RECIPIENTS);
    await isUsedAgain(a);
  });

  it('go on with the other while one does not answer, and its mails in flight are finished by it', async () => {
    const id = await startedCampaign();
    a.behave();
    a.misbehave({ at: 'accepted', do: 'hang' });
    b.behave();
    const isLeftToA = async () => {
      const pending = (await rows(id)).filter(({ status }) => status === 'PENDING');
      return pending.length > 0 && pending.length <= 2 * CONNECTIONS;
    };
    await eventually(isLeftToA, { what: 'a campaign of which only mails in flight are left' });
    a.behave();
    for (const { status, attempts } of await endOf(id))
      expect({ status, attempts }).to.deep.equal({ status: 'SENT', attempts: 1 });
    expect(received()).to.equal(RECIPIENTS);
  });

  it('never offer a mail with an unknown outcome to the other relay', async () => {
    for (const relay of [a, b]) relay.misbehave({ at: 'accepted', to: 'ann@example.com', do: 'hang' });
    const id = await stack.send('ann@example.com');
    const copies = (relay: SmtpStandIn) => relay.mailsTo('ann@example.com').length;
    await eventually(() => copies(a) + copies(b) === 1, { what: 'the mail' });
    const [taken, other] = copies(a) === 1 ? [a, b] : [b, a];
    await taken.close();
    await eventually(async () => (await mailById(stack.database.db, id)).unknownOutcomes === 1, {
      what: 'the unknown outcome',
    });
    // Others are sent meanwhile.
    other.behave();
    const next = await stack.send();
    await eventually(async () => (await mailById(stack.database.db, next)).status === 'SENT');
    expect(await mailById(stack.database.db, id)).to.include({ status: 'PENDING', attempts: 1 });
    await taken.reopen();
    await eventually(async () => (await mailById(stack.database.db, id)).status === 'SENT');
    expect([copies(taken), copies(other)]).to.deep.equal([2, 0]);
    const log = await attemptLogOf(stack.database.db, stack.project.id, id);
    expect(log.map(({ outcome, relay }) => [outcome, relay])).to.deep.equal([
      ['unknown', nameOf(taken)],
      ['sent', nameOf(taken)],
    ]);
  });
});
