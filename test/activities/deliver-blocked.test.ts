import { expect } from 'chai';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { emailActivities } from '../../activities/emails.ts';
import type { Db } from '../../db/connect.ts';
import { SealError } from '../../platform/crypto/seal.ts';
import { createMailer, type Mailer } from '../../platform/smtp/mailer.ts';
import { releaseAllBlockedMail, releaseBlockedMail } from '../../services/blocking/release.ts';
import { addSigningKey, makeDomainKey } from '../../services/domains/keys.ts';
import { findSigner } from '../../services/domains/signing-key.ts';
import type { DeliveryDeps } from '../../services/emails/deliver.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { type Counts, noCounts } from '../../services/emails/delivery-settlement.ts';
import { SendRateLimit } from '../../services/emails/send-rate.ts';
import { addSuppressions } from '../../services/suppressions/add.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { addBatch, addMail, addMails, mailById } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { activityEnvironment } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

const DOMAIN = 'demo.localhost';
const counts = (change: Partial<Counts>): Counts => ({ ...noCounts(), ...change });

describe('mail that is blocked or delayed', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let mailer: Mailer;
  let project: string;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
    smtp = await startSmtp();
    mailer = createMailer({ url: smtp.url, maxConnections: 5 });
    project = (await makeProject(db)).id;
    await db('domains').where({ projectId: project }).update({ domain: DOMAIN });
  });
  after(async () => {
    mailer.close(true);
    await smtp.close();
    await database.close();
  });
  beforeEach(async () => {
    await db.raw('truncate emails, email_contents, delivery_batches, suppressions');
    await db('projects').update({ disabled: false, sendingBlockedReason: null });
    await db('domains').update({ status: 'VERIFIED' });
    smtp.behave();
    smtp.mails.length = 0;
  });

  const deliver = async (more: Partial<DeliveryDeps> = {}): Promise<Counts> => {
    const batchId = await addBatch(db);
    await db('emails')
      .where({ status: 'PENDING' })
      .whereNull('batchId')
      .where('dueAt', '<=', db.fn.now())
      .update({ batchId });
    const stopping = new AbortController().signal;
    const ledger = new DeliveryLedger(db);
    const deps = { db, mailer, renderer: testRenderer(), links: testLinks, ledger, stopping, ...more };
    return activityEnvironment().run(emailActivities(deps).deliverBatch, batchId);
  };

  const causes = {
    'project disabled': {
      begin: () => db('projects').where({ id: project }).update({ disabled: true }),
      end: (trx: Db) => trx('projects').where({ id: project }).update({ disabled: false }),
    },
    'domain not verified': {
      begin: () => db('domains').where({ domain: DOMAIN }).update({ status: 'PENDING' }),
      end: (trx: Db) => trx('domains').where({ domain: DOMAIN }).update({ status: 'VERIFIED' }),
    },
    'billing limit reached': {
      begin: () => db('projects').where({ id: project }).update({ sendingBlockedReason: 'billing limit reached' }),
      end: (trx: Db) => trx('projects').where({ id: project }).update({ sendingBlockedReason: null }),
    },
  };

  for (const [reason, { begin, end }] of Object.entries(causes))
    it(`stays PENDING with its reason (${reason}) and is sent after the cause has ended`, async () => {
      const mail = await addMail(db, { project });
      await begin();
      expect(await deliver()).to.deep.equal(counts({ held: 1 }));
      expect(await mailById(db, mail)).to.include({ status: 'PENDING', reason, attempts: 0, batchId: null });
      expect(await deliver(), 'it stays out of the way').to.deep.equal(noCounts());
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

  it('is delayed when its recipient domain is slow, and does not delay mail to other domains', async () => {
    const to = 'ann@slow.example';
    smtp.misbehave({ at: 'message', to, do: 'hang' });
    await addMails(db, 8, { project, to });
    const stuck = deliver();
    const onWire = async () => (await db('emails').where({ status: 'SENDING' })).length === 4;
    await eventually(onWire, { what: 'four of five connections in use' });
    const other = await addMail(db, { project });
    expect(await deliver(), 'there is a connection left').to.deep.equal(counts({ sent: 1 }));
    expect(await mailById(db, other)).to.include({ status: 'SENT' });
    await eventually(() => mailer.slots.isCrowded('slow.example'), { what: 'a domain that is known to be slow' });
    const late = await addMail(db, { project, to });
    expect(await deliver(), 'without an attempt').to.deep.equal(counts({ held: 1 }));
    const putOff = await mailById(db, late);
    expect(putOff).to.include({ status: 'PENDING', attempts: 0, batchId: null });
    expect(putOff.reason).to.match(/^mail to slow\.example takes long just now/);
    smtp.behave();
    const { sent, held } = await stuck;
    expect(sent + held).to.equal(8);
  });

  it('is signed with the key of its domain', async () => {
    const domain = await db('domains').where({ domain: DOMAIN }).first();
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

  it("is retried later when its domain's key cannot be decrypted, and other mail is sent", async () => {
    const other = await makeProject(db);
    const broken = await addMail(db, { project });
    const fine = await addMail(db, { project: other.id });
    await db('email_contents')
      .where({ emailId: fine })
      .update({ fromEmail: `shop@${other.senderDomain}` });
    const signerFor = async (projectId: string) => {
      if (projectId === project) throw new SealError('sealed with a key that is gone');
      return undefined;
    };
    expect(await deliver({ signerFor })).to.deep.equal(counts({ sent: 1, deferred: 1 }));
    const reason = 'cannot be signed: sealed with a key that is gone';
    expect(await mailById(db, broken)).to.include({ status: 'PENDING', attempts: 1, reason });
    expect(await mailById(db, fine)).to.include({ status: 'SENT' });
  });

  it('is sent no faster than the send rate', async () => {
    const rate = 20;
    const paced = createMailer({ url: smtp.url, maxConnections: 5, pace: new SendRateLimit(db, rate) });
    await addMails(db, 9, { project });
    const started = performance.now();
    expect(await deliver({ mailer: paced })).to.deep.equal(counts({ sent: 9 }));
    expect(performance.now() - started).to.be.at.least((8 / rate) * 1_000 - 25);
    paced.close();
  });
});
