import { expect } from 'chai';
import { inTransaction } from '../../../db/connect.ts';
import { keyKind, regenerateKeys } from '../../../services/access/keys.ts';
import { disableProject } from '../../../services/projects/disable.ts';
import { deleteProject, resetProject } from '../../../services/removal/project.ts';
import { type SystemMail, sendSystemMail } from '../../../services/system/mail.ts';
import { SYSTEM_PROJECT_ID } from '../../../services/system/project.ts';
import { scrubSystemMail } from '../../../services/system/remove-links.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../../support/connected-database.ts';
import { mailById } from '../../support/ledger.ts';
import { storedMemberships } from '../../support/rows/accounts.ts';
import { storedContents } from '../../support/rows/mails.ts';
import { storedProject } from '../../support/rows/projects.ts';
import { countRows } from '../../support/rows/tables.ts';
import { type TestSender, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

describe('system mail', () => {
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let sending: TestSender;

  before(async () => {
    database = await connectTestDatabase();
    smtp = await startSmtp();
    sending = testSender(database.url, { url: smtp.url, connections: 1 });
  });
  after(async () => {
    await sending.close();
    await smtp.close();
    await database.close();
  });

  const mail = {
    from: 'no-reply@everpost.example',
    to: 'ann@example.com',
    subject: 'Join {{ 7 * 7 }} <Shop>',
    paragraphs: ['Bob & <b>Eve</b> invite you to {{ email }}.', '{% raw %}'],
    link: { url: 'http://app.test/invitations/a?b=1&c=2', text: 'Accept' },
  };

  async function send(given: SystemMail): Promise<string> {
    const id = await sendSystemMail(database.db, given);
    if (!id) throw new Error('no mail was written');
    return id;
  }

  it('is sent through the ledger from a domain that no project owns', async () => {
    const id = await send(mail);
    expect(await mailById(database.db, id)).to.include({
      projectId: SYSTEM_PROJECT_ID,
      status: 'PENDING',
      sourceType: 'TRANSACTIONAL',
    });
    await sending.send();
    expect(await mailById(database.db, id)).to.include({ status: 'SENT' });
  });

  it('shows input of users verbatim, not as template or HTML', async () => {
    smtp.mails.length = 0;
    await send(mail);
    await sending.send();
    const text = smtp.mails[0]?.raw.toString().replace(/=\r\n/g, '') ?? '';
    expect(text).to.contain('Join {{ 7 * 7 }} <Shop>');
    expect(text).to.contain('Bob &amp; &lt;b&gt;Eve&lt;/b&gt; invite you to {{ email }}.');
    expect(text).to.contain('{% raw %}');
    expect(text).to.match(/href=(3D)?"http:\/\/app\.test\/invitations\/a\?b(=|=3D)1&amp;c/);
    expect(text).to.match(/^Auto-Submitted: auto-generated/m);
  });

  it('removes links of sent mails and keeps those of pending ones', async () => {
    const sent = await send(mail);
    await sending.send();
    const waiting = await send(mail);
    await scrubSystemMail(database.db);
    const stored = async (emailId: string) =>
      JSON.stringify(await storedContents(database.db, { emailId }).first('variables'));
    expect(await stored(sent)).not.to.contain('/invitations/');
    expect(await stored(waiting)).to.contain('/invitations/');
  });

  it('has a project that cannot be opened, changed or removed', async () => {
    for (const work of [
      () => regenerateKeys(database.db, SYSTEM_PROJECT_ID),
      () => disableProject(database.db, SYSTEM_PROJECT_ID, { reason: 'x' }),
      () => resetProject(database.db, SYSTEM_PROJECT_ID),
      () => deleteProject(database.db, SYSTEM_PROJECT_ID),
    ])
      expect(await work().catch((error) => error)).to.include({ status: 404 });
    const row = await storedProject(database.db, SYSTEM_PROJECT_ID);
    expect(keyKind(row.publicKey), 'its public key is none').to.equal(undefined);
    expect(row.secretKeyHash, 'no key has this hash').to.have.length(1);
    expect(await storedMemberships(database.db, { projectId: SYSTEM_PROJECT_ID })).to.have.length(0);
  });

  it('is not sent when the transaction is rolled back', async () => {
    const before = await countRows(database.db, 'emails');
    await inTransaction(database.db, async (trx) => {
      await sendSystemMail(trx, mail);
      throw new Error('no');
    }).catch(() => {});
    expect(await countRows(database.db, 'emails')).to.equal(before);
  });
});
