import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { type Catcher, startCatcher } from '../../dev/mail-catcher/catcher.ts';
import { MailStore } from '../../dev/mail-catcher/store.ts';
import { returnToken } from '../../services/emails/return-token.ts';
import { readReturnedMail, takesReturnedMail } from '../../services/notices/returned-mail.ts';
import { testKeys } from '../support/keys.ts';
import { startSmtp } from '../support/smtp.ts';

interface Mailbox {
  Name: string;
  Address: string;
}

interface MessageList {
  total: number;
  count: number;
  messages_count: number;
  start: number;
  messages: {
    ID: string;
    MessageID: string;
    From: Mailbox;
    To: Mailbox[];
    Bcc: Mailbox[];
    Subject: string;
    Created: string;
    Size: number;
    Snippet: string;
    Attachments: number;
  }[];
}

interface MessageDetails {
  Attachments: { PartID: string; FileName: string; Size: number }[];
  Inline: { ContentID: string }[];
}

const PNG = Buffer.from('iVBORw0KGgo=', 'base64');

describe('the mail catcher', () => {
  let dir: string;
  let catcher: Catcher;

  const open = async (limit?: number) => {
    catcher = await startCatcher({ dir, smtpPort: 0, httpPort: 0, limit });
  };

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'everpost-mail-'));
    await open();
  });

  afterEach(async () => {
    await catcher.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const send = async (...mails: SendMailOptions[]): Promise<void> => {
    const transport = createTransport({ url: catcher.smtpUrl, pool: true, maxConnections: 1 });
    for (const mail of mails) {
      await transport.sendMail({ from: 'Ann <ann@demo.localhost>', to: 'bob@example.com', text: 'Hello', ...mail });
    }
    transport.close();
  };
  const get = (path: string) => fetch(`${catcher.url}${path}`);
  const list = async (path = '/api/v1/messages'): Promise<MessageList> =>
    (await get(path)).json() as Promise<MessageList>;
  const search = (query: string) => list(`/api/v1/search?query=${encodeURIComponent(query)}`);
  const subjects = ({ messages }: MessageList) => messages.map(({ Subject }) => Subject);

  describe('GET /api/v1/messages', () => {
    it('lists the newest first, in the shape of Mailpit', async () => {
      const before = Date.now();
      await send({ subject: 'One' }, { subject: 'Zwei – ä', to: 'Bob B <bob@example.com>', bcc: 'eve@example.com' });
      const { messages, ...page } = await list();
      expect(page).to.deep.include({ total: 2, count: 2, messages_count: 2, start: 0 });
      expect(messages.map(({ Subject }) => Subject)).to.deep.equal(['Zwei – ä', 'One']);
      expect(messages[0]).to.deep.include({
        From: { Name: 'Ann', Address: 'ann@demo.localhost' },
        To: [{ Name: 'Bob B', Address: 'bob@example.com' }],
        Bcc: [{ Name: '', Address: 'eve@example.com' }],
        Attachments: 0,
        Snippet: 'Hello',
      });
      expect(messages[0]?.MessageID).to.match(/^[^<]+@demo\.localhost$/);
      expect(Date.parse(messages[0]?.Created ?? '')).to.be.within(before, Date.now());
    });

    it('pages by start and limit, and answers 400 to a limit that is no number', async () => {
      await send({ subject: '1' }, { subject: '2' }, { subject: '3' });
      const page = await list('/api/v1/messages?start=1&limit=1');
      expect(subjects(page)).to.deep.equal(['2']);
      expect(page).to.include({ total: 3, count: 1, messages_count: 3, start: 1 });
      expect((await get('/api/v1/messages?limit=x')).status).to.equal(400);
    });
  });

  describe('recipients that misbehave', () => {
    const refusalOf = async (to: string): Promise<string> =>
      send({ to }).then(
        () => 'accepted',
        (error: { response: string }) => error.response,
      );

    it('refuses, defers and answers late by domain, and accepts all others', async () => {
      expect(await refusalOf('ann@refuse.localhost')).to.match(/^550 5\.1\.1 /);
      expect(await refusalOf('ann@POLICY.localhost')).to.match(/^550 5\.7\.1 /);
      expect(await refusalOf('ann@defer.localhost')).to.match(/^451 4\.2\.2 /);
      expect(await refusalOf('ann@notrefuse.localhost')).to.equal('accepted');
      const late = send({ to: 'ann@slow.localhost', subject: 'late' });
      await send({ subject: 'in time' });
      expect(subjects(await list())[0], 'before the other').to.equal('in time');
      await late;
      expect(subjects(await list())[0]).to.equal('late');
    });

    it('accepts mail to bounce.localhost and complaint.localhost, and reports it to the listener', async () => {
      await catcher.stop();
      const listener = await startSmtp();
      catcher = await startCatcher({ dir, smtpPort: 0, httpPort: 0, returnedMailPort: listener.port });
      const headers = { 'X-Everpost-Id': returnToken(testKeys, '0198a1b2-0000-7000-8000-000000000001') };
      await send({ to: 'ann@bounce.localhost', headers }, { to: 'bob@complaint.localhost', headers });
      const reports = await listener.received(2);
      const notices = await Promise.all(
        reports.map(({ to: [to = ''], raw }) => {
          expect(takesReturnedMail(testKeys, to)).to.equal(true);
          return readReturnedMail(testKeys, to, raw);
        }),
      );
      const mail = { id: '0198a1b2-0000-7000-8000-000000000001' };
      expect(notices.flat()).to.deep.include.members([
        { mail, kind: 'bounce', bounceType: 'Permanent', reason: 'smtp; 550 5.1.1 User unknown' },
        { mail, kind: 'complaint', reason: 'abuse' },
      ]);
      await listener.close();
    });

    it('are named on the page', async () => {
      const page = await (await get('/')).text();
      for (const name of ['refuse', 'policy', 'defer', 'slow', 'bounce', 'complaint'])
        expect(page).to.contain(`${name}.localhost`);
    });
  });

  describe('GET /api/v1/search', () => {
    beforeEach(() =>
      send(
        { subject: 'Welcome aboard', to: 'ann@example.com', text: 'The code is 4711.' },
        {
          subject: 'Receipt',
          to: 'Bob <bob@example.com>',
          from: 'Shop <shop@demo.localhost>',
          attachments: [{ filename: 'a.txt', content: 'x' }],
        },
      ),
    );

    const cases: [query: string, found: string[]][] = [
      ['to:"ann@example.com"', ['Welcome aboard']],
      ['to:ANN@example.com', ['Welcome aboard']],
      ['to:"nobody@example.com"', []],
      ['subject:"welcome aboard"', ['Welcome aboard']],
      ['from:shop', ['Receipt']],
      ['4711', ['Welcome aboard']],
      ['to:example.com subject:receipt', ['Receipt']],
      ['to:example.com -subject:receipt', ['Welcome aboard']],
      ['has:attachment', ['Receipt']],
      ['', ['Receipt', 'Welcome aboard']],
    ];
    for (const [query, found] of cases) {
      it(`finds ${found.length} for ${query || 'nothing'}`, async () => {
        const answer = await search(query);
        expect(subjects(answer)).to.deep.equal(found);
        expect(answer).to.include({ messages_count: found.length, total: 2 });
      });
    }
  });

  describe('GET /api/v1/message/:ID', () => {
    it('returns both bodies, all recipients and the attachments', async () => {
      const html = '<p>Hi <b>Bob</b> <img src="cid:logo"></p>';
      await send({
        subject: 'All',
        cc: 'carl@example.com',
        replyTo: 'help@demo.localhost',
        text: 'Hi Bob',
        html,
        attachments: [
          { filename: 'ä.txt', content: 'twelve bytes' },
          { filename: 'logo.png', content: PNG, cid: 'logo', contentDisposition: 'inline' },
        ],
      });
      const [{ ID = '' } = {}] = (await list()).messages;
      const message = (await (await get(`/api/v1/message/${ID}`)).json()) as MessageDetails;
      expect(message).to.deep.include({
        ID,
        Subject: 'All',
        From: { Name: 'Ann', Address: 'ann@demo.localhost' },
        To: [{ Name: '', Address: 'bob@example.com' }],
        Cc: [{ Name: '', Address: 'carl@example.com' }],
        ReplyTo: [{ Name: '', Address: 'help@demo.localhost' }],
        Bcc: [],
        Text: 'Hi Bob\n',
        HTML: `${html}\n`,
      });
      const [attached] = message.Attachments;
      expect(message.Attachments).to.have.length(1);
      expect(attached).to.include({ FileName: 'ä.txt', ContentType: 'text/plain', Size: 12 });
      expect(message.Inline.map(({ ContentID }) => ContentID)).to.deep.equal(['logo']);
      const part = await get(`/api/v1/message/${ID}/part/${attached?.PartID}`);
      expect(await part.text()).to.equal('twelve bytes');
      expect(((await (await get('/api/v1/message/latest')).json()) as { ID: string }).ID).to.equal(ID);
    });

    it('returns the headers by name and the unchanged bytes', async () => {
      await send({ subject: 'Raw', messageId: '<m@demo.localhost>', headers: { 'X-Mark': ['one', 'two'] } });
      const headers = (await (await get('/api/v1/message/latest/headers')).json()) as Record<string, string[]>;
      expect(headers).to.deep.include({ 'X-Mark': ['one', 'two'], Subject: ['Raw'] });
      expect(headers['Message-ID']).to.deep.equal(['<m@demo.localhost>']);
      expect(headers['Message-Id']).to.deep.equal(['<m@demo.localhost>']);
      const raw = await get('/api/v1/message/latest/raw');
      expect(raw.headers.get('content-type')).to.contain('text/plain');
      expect(await raw.text()).to.contain('X-Mark: one\r\nX-Mark: two\r\n');
    });

    it('answers 404 for an unknown mail', async () => {
      for (const path of ['', '/headers', '/raw', '/part/1']) {
        expect((await get(`/api/v1/message/nothing${path}`)).status).to.equal(404);
      }
    });
  });

  describe('DELETE /api/v1/messages', () => {
    const remove = (body?: string) => fetch(`${catcher.url}/api/v1/messages`, { method: 'DELETE', body });

    it('deletes the named mails, or all, and they stay deleted after a restart', async () => {
      await send({ subject: '1' }, { subject: '2' }, { subject: '3' });
      const second = (await list()).messages[1]?.ID;
      expect((await remove(JSON.stringify({ IDs: [second] }))).status).to.equal(200);
      await catcher.stop();
      await open();
      expect(subjects(await list())).to.deep.equal(['3', '1']);
      expect(await (await remove()).text()).to.equal('ok');
      await catcher.stop();
      await open();
      expect(await list()).to.include({ total: 0 });
    });

    it('answers 400 to an invalid body and deletes nothing', async () => {
      await send({ subject: 'Stays' });
      expect((await remove('{')).status).to.equal(400);
      expect((await remove('{"IDs":"all"}')).status).to.equal(400);
      expect(await list()).to.include({ total: 1 });
    });
  });

  describe('its files', () => {
    it('restore every mail after a restart, and are readable by their owner only', async () => {
      await send({ subject: 'Kept', text: 'Line\n.\nLine' });
      const before = await (await get('/api/v1/message/latest/raw')).text();
      await catcher.stop();
      await open();
      expect(await (await get('/api/v1/message/latest/raw')).text()).to.equal(before);
      await send({ subject: 'New' });
      expect(subjects(await list())).to.deep.equal(['New', 'Kept']);
      for (const file of readdirSync(dir)) expect(statSync(join(dir, file)).mode & 0o077).to.equal(0);
    });

    it('lose only the record that a crash cut off', async () => {
      await send({ subject: 'Whole' });
      await catcher.stop();
      const [file = ''] = readdirSync(dir);
      appendFileSync(join(dir, file), '{"id":"half","created":"","from":"","to":[],"size":5000}\nFrom: x');
      await open();
      await send({ subject: 'After' });
      await catcher.stop();
      await open();
      expect(subjects(await list())).to.deep.equal(['After', 'Whole']);
    });

    it('keep the newest mails up to the limit', async () => {
      await catcher.stop();
      await open(3);
      await send(...[1, 2, 3, 4, 5].map((n) => ({ subject: String(n) })));
      expect(subjects(await list())).to.deep.equal(['5', '4', '3']);
      await catcher.stop();
      await open(3);
      expect(subjects(await list())).to.deep.equal(['5', '4', '3']);
    });
  });

  describe('its files, many of them', () => {
    it('are removed when all their mails are deleted, and deleted mails stay deleted', () => {
      const small = join(dir, 'small');
      const fill = (store: MailStore, count: number) =>
        Array.from({ length: count }, (_, n) =>
          store.add({ from: 'a@x', to: ['b@x'] }, Buffer.from(`Subject: ${n}\r\n\r\n${n}`)),
        );
      const first = new MailStore(small, 4, 150);
      const ids = fill(first, 10);
      expect(readdirSync(small).length).to.be.within(2, 5);
      first.delete([ids[8] ?? '']);
      first.close();
      const second = new MailStore(small, 4, 150);
      const kept = second.newestFirst();
      expect(kept.map(({ summary }) => summary.Subject)).to.deep.equal(['9', '7', '6']);
      expect(kept.map((mail) => second.raw(mail).toString().at(-1))).to.deep.equal(['9', '7', '6']);
      second.delete();
      expect(readdirSync(small)).to.have.length(1);
      second.close();
    });
  });

  describe('its pages', () => {
    it('list mails and show one, with all content of the sender escaped', async () => {
      await send({ subject: '<script>alert(1)</script>', html: '<script>alert(2)</script><p>Hi</p>' });
      const page = await (await get('/')).text();
      expect(page).to.contain('&lt;script&gt;alert(1)').and.not.contain('<script');
      const [, view = ''] = /href="(\/view\/[^"]+)"/.exec(page) ?? [];
      const message = await get(view);
      expect(message.headers.get('content-security-policy')).to.contain("default-src 'none'");
      const text = await message.text();
      expect(text).to.not.contain('<script');
      expect(text).to.match(/<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" src="\/view\/\w+\.html"/);
      const body = await get(`${view}.html`);
      expect(body.headers.get('content-security-policy'))
        .to.match(/^sandbox /)
        .and.not.contain('allow-scripts');
      expect(await body.text()).to.contain('<p>Hi</p>');
    });

    it('shorten long subjects, snippets and lists of recipients', async () => {
      const to = Array.from({ length: 9 }, (_, n) => `reader${n}@example.com`);
      await send({ subject: 'subject '.repeat(50), text: 'word '.repeat(400), to });
      const page = await (await get('/')).text();
      const [, subject = ''] = /<a href="\/view\/[^>]*>(.*?)<\/a>/.exec(page) ?? [];
      expect(subject).to.have.lengthOf.at.most(151).and.match(/…$/);
      const [, snippet = ''] = /<span class="snippet">(.*)<\/span>/.exec(page) ?? [];
      expect(snippet).to.have.lengthOf.at.most(121).and.match(/…$/);
      expect(page).to.contain('reader2@example.com and 6 more').and.not.contain('reader3@');
    });

    it('search, and show a text when nothing is found', async () => {
      expect(await (await get('/')).text()).to.contain('No mail yet');
      await send({ subject: 'Findable' });
      expect(await (await get('/?query=subject:findable')).text()).to.contain('Findable');
      expect(await (await get('/?query=subject:other')).text()).to.contain('Nothing found');
      expect((await get('/view/nothing')).status).to.equal(404);
      expect((await get('/elsewhere')).status).to.equal(404);
    });
  });
});
