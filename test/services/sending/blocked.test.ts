import { expect } from 'chai';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import type { Db } from '../../../db/connect.ts';
import { Listener } from '../../../db/listener.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { createLogger } from '../../../platform/logger.ts';
import { releaseAllBlockedMail, releaseBlockedMail } from '../../../services/blocking/release.ts';
import { addSigningKey, makeDomainKey } from '../../../services/domains/keys.ts';
import { findSigner, SignerCache } from '../../../services/domains/signing-key.ts';
import type { ResultCounts } from '../../../services/sending/outcome.ts';
import { addSuppressions } from '../../../services/suppressions/add.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { addMail, addMails, mailById } from '../../support/ledger.ts';
import { storedMails } from '../../support/rows/mails.ts';
import { setDomains, setProject, storedDomains } from '../../support/rows/projects.ts';
import { emptyTables } from '../../support/rows/tables.ts';
import { counts, inDoubt, type TestSender, type TestSenderOptions, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

const DOMAIN = 'demo.localhost';

describe('mail that is blocked or delayed', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let sending: TestSender;
  let project: string;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
    smtp = await startSmtp();
    sending = testSender(database.url, { url: smtp.url, connections: 5 });
    project = (await makeProject(db)).id;
    await setDomains(db, { projectId: project }, { domain: DOMAIN });
  });
  after(async () => {
    await sending.close();
    await smtp.close();
    await database.close();
  });
  beforeEach(async () => {
    await emptyTables(db, 'emails', 'email_bodies', 'email_contents', 'outgoing_mails', 'senders', 'suppressions');
    await db('projects').update({ disabled: false, sendingBlockedReason: null });
    await setDomains(db, {}, { status: 'VERIFIED' });
    smtp.behave();
    smtp.mails.length = 0;
  });

  const deliver = async (more: Partial<TestSenderOptions> = {}): Promise<ResultCounts> => {
    if (Object.keys(more).length === 0) return sending.send();
    const own = testSender(database.url, { url: smtp.url, ...more });
    return own.send().finally(() => own.close());
  };

  const causes = {
    'project disabled': {
      begin: () => setProject(db, project, { disabled: true }),
      end: (trx: Db) => setProject(trx, project, { disabled: false }),
    },
    'domain not verified': {
      begin: () => setDomains(db, { domain: DOMAIN }, { status: 'PENDING' }),
      end: (trx: Db) => setDomains(trx, { domain: DOMAIN }, { status: 'VERIFIED' }),
    },
    'billing limit reached': {
      begin: () => setProject(db, project, { sendingBlockedReason: 'billing limit reached' }),
      end: (trx: Db) => setProject(trx, project, { sendingBlockedReason: null }),
    },
  };

  for (const [reason, { begin, end }] of Object.entries(causes))
    it(`stays PENDING with its reason (${reason}) and is sent after the cause has ended`, async () => {
      const mail = await addMail(db, { project });
      await begin();
      expect(await deliver()).to.deep.equal(counts({ blocked: 1 }));
      expect(await mailById(db, mail)).to.include({ status: 'PENDING', reason, attempts: 0 });
      expect(await deliver(), 'it stays out of the way').to.deep.equal(counts({}));
      await db.transaction(async (trx) => {
        await end(trx);
        await releaseBlockedMail(trx, { projectId: project });
      });
      expect(await mailById(db, mail)).to.include({ status: 'PENDING', reason: null });
      expect(await deliver()).to.deep.equal(counts({ sent: 1 }));
      expect(await mailById(db, mail)).to.include({ status: 'SENT', attempts: 1 });
      expect(smtp.mails).to.have.length(1);
    });

  it('is released by the periodic check, however its cause ended', async () => {
    const mails = await addMails(db, 3, { project });
    await causes['project disabled'].begin();
    await deliver();
    expect(await releaseAllBlockedMail(db), 'the cause is still there').to.equal(0);
    await causes['project disabled'].end(db);
    expect(await releaseAllBlockedMail(db)).to.equal(3);
    expect(await deliver()).to.deep.equal(counts({ sent: 3 }));
    for (const id of mails) expect(await mailById(db, id)).to.include({ status: 'SENT', reason: null });
  });

  it('stays blocked while one of two causes lasts', async () => {
    const mail = await addMail(db, { project });
    await causes['project disabled'].begin();
    await causes['domain not verified'].begin();
    await deliver();
    await causes['project disabled'].end(db);
    await releaseBlockedMail(db, { projectId: project });
    expect(await mailById(db, mail)).to.include({ status: 'PENDING', reason: 'project disabled' });
    await causes['domain not verified'].end(db);
    await releaseBlockedMail(db, { projectId: project });
    expect(await deliver()).to.deep.equal(counts({ sent: 1 }));
  });

  it('is released only for the given project', async () => {
    const other = (await makeProject(db)).id;
    const mail = await addMail(db, { project });
    await causes['project disabled'].begin();
    await deliver();
    await causes['project disabled'].end(db);
    await releaseBlockedMail(db, { projectId: other });
    expect(await mailById(db, mail)).to.include({ reason: 'project disabled' });
  });

  it('ends FAILED when its address was suppressed after it was accepted', async () => {
    const mail = await addMail(db, { project, to: 'gone@example.com' });
    const { contactId } = await mailById(db, mail);
    const bounce = { projectId: project, address: 'gone@example.com', contactId, emailId: mail };
    await db.transaction((trx) => addSuppressions(trx, [{ ...bounce, reason: 'HARD_BOUNCE' }]));
    expect(await deliver()).to.deep.equal(counts({ failed: 1 }));
    expect(await mailById(db, mail)).to.include({ status: 'FAILED', reason: 'suppressed', attempts: 0 });
    expect(smtp.mails).to.deep.equal([]);
  });

  it('is slowed when its recipient domain is slow, and does not delay mail to other domains', async () => {
    const to = 'ann@slow.example';
    let now = 0;
    const own = testSender(database.url, { url: smtp.url, connections: 5, clock: () => now });
    smtp.misbehave({ at: 'message', to, do: 'hang' });
    const slow = await addMails(db, 8, { project, to });
    const other = await addMail(db, { project });
    const stop = new AbortController();
    const run = own.send({ stop: stop.signal, untilIdle: false });
    await smtp.received(1);
    expect(smtp.mails[0]?.messageId, 'there was a connection left').to.contain(other);
    await eventually(async () => (await inDoubt(db)).length === 4, { what: 'four of five connections in use' });
    now += 4_000;
    expect(own.pace.delayOf('slow.example'), 'it is known to be slow').to.be.above(0);
    const late = await addMail(db, { project, to });
    own.sender.wake('mail');
    const putBack = await eventually(async () => {
      const mail = await mailById(db, late);
      return mail.dueAt > new Date() && mail;
    });
    expect(putBack).to.include({ status: 'PENDING', attempts: 0 });
    expect(putBack.reason).to.equal('sending to slow.example is throttled; it will be sent later');
    const next = await addMail(db, { project });
    own.sender.wake('mail');
    await smtp.received(2);
    smtp.behave();
    const ended = () => storedMails(db, { status: 'SENT' }).whereIn('id', [...slow, late, other, next]);
    await eventually(async () => (await ended()).length === 11, { what: 'all mails, also the one that was put back' });
    stop.abort();
    expect(await run).to.deep.equal(counts({ sent: 11 }));
    await own.close();
    for (const id of [other, next]) expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
  });

  it('is signed with the key of its domain', async () => {
    const domain = await storedDomains(db, { domain: DOMAIN }).first();
    const secrets: [string] = ['a secret that seals'];
    const key = await addSigningKey(db, domain.id, await makeDomainKey(secrets));
    await addMail(db, { project });
    await deliver({ signerFor: (projectId, name) => findSigner(db, secrets, projectId, name) });
    const { results } = await dkimVerify(smtp.mails[0]?.raw ?? '', {
      resolver: async (name: string) => {
        expect(name).to.equal(`${key.selector}._domainkey.${DOMAIN}`);
        return [[`v=DKIM1; k=rsa; p=${key.publicKey}`]];
      },
    });
    expect(results.map(({ status }) => status.result)).to.deep.equal(['pass']);
  });

  it("waits without counting an attempt while its domain's key cannot be opened, and other mail is sent", async () => {
    const other = await makeProject(db);
    const domain = await storedDomains(db, { domain: DOMAIN }).first();
    await emptyTables(db, 'domain_keys');
    await addSigningKey(db, domain.id, await makeDomainKey(['the key that sealed']));
    const broken = await addMail(db, { project });
    const fine = await addMail(db, { project: other.id, fromEmail: `shop@${other.senderDomain}` });
    const listener = new Listener({ databaseUrl: database.url, log: createLogger('test', 'silent') });
    const signers = (keys: SigningKeys) => new SignerCache(db, listener, keys);
    const wrong = signers(['quite another key']);
    const signerFor = (projectId: string, name: string) => wrong.signerFor(projectId, name);
    expect(await deliver({ signerFor })).to.deep.equal(counts({ sent: 1 }));
    const waiting = await mailById(db, broken);
    expect(waiting).to.include({ status: 'PENDING', attempts: 0 });
    expect(waiting.reason).to.match(/^cannot be signed: .*SECRET_KEY.*\(SECRET_KEY=new,old\) and restart\.$/);
    expect(await mailById(db, fine)).to.include({ status: 'SENT' });
    await storedMails(db).where({ id: broken }).update({ dueAt: new Date() });
    const right = signers(['quite another key', 'the key that sealed']);
    await deliver({ signerFor: (projectId, name) => right.signerFor(projectId, name) });
    expect(await mailById(db, broken)).to.include({ status: 'SENT', attempts: 1 });
    expect(smtp.mails.at(-1)?.raw.toString()).to.match(/^DKIM-Signature:/m);
  });

  it('is sent no faster than the send rate', async () => {
    const rate = 20;
    await addMails(db, 9, { project });
    const started = performance.now();
    expect(await deliver({ sendRatePerSecond: rate })).to.deep.equal(counts({ sent: 9 }));
    expect(performance.now() - started).to.be.at.least((8 / rate) * 1_000 - 25);
  });
});
