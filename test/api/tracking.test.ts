import { expect } from 'chai';
import { connectDb } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { signToken } from '../../platform/crypto/signed-token.ts';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { type ApiProject, describeApi, startTestApi } from '../support/api.ts';
import { mailById } from '../support/ledger.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { readEventsOfMail } from '../support/reading.ts';
import { addMailRows, waitingNotices } from '../support/rows/mails.ts';
import { emptyTables, lockTable, whileHidden } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

const KEY = 'a key of sixteen or more';
const OLD_KEY = 'the key that was before it';
const pages = new MailLinks({ baseUrl: '', secretKeys: [KEY] });

/** Signed tracking links of any mail and target. */
const linksBy = (key: string, projectId: string) => {
  const bytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex');
  const mail = (id: string, of = projectId) => signToken([key], 'mail', Buffer.concat([bytes(id), bytes(of)]));
  return {
    openUrl: (id: string) => `/t/o/${mail(id)}`,
    clickUrl: (id: string, target: string, of = projectId) =>
      `/t/c/${mail(id, of)}.${signToken([key], `target ${projectId}`, target)}`,
  };
};

describeApi('tracking', { env: { SECRET_KEY: `${KEY},${OLD_KEY}` } }, (api) => {
  let project: ApiProject;
  let links: ReturnType<typeof linksBy>;

  before(async () => {
    project = await api.project();
    links = linksBy(KEY, project.id);
  });
  beforeEach(() => emptyTables(api.db, 'email_notices', 'events'));

  /** A mail that the relay accepted. */
  async function mail(): Promise<Email> {
    const id = newId();
    const sent = { status: 'SENT', sentAt: new Date() };
    await addMailRows(api.db, { id, projectId: project.id, contactId: newId(), ...sent });
    return mailById(api.db, id);
  }
  const go = (path: string, init: RequestInit = {}, url = api.url) =>
    fetch(url + path, { redirect: 'manual', ...init });
  /** Waits for so many: an answer does not wait long for a slow database. */
  const notices = async (count = 0) => {
    const rows = await eventually(
      async () => {
        const waiting = await waitingNotices(api.db);
        return waiting.length >= count && waiting;
      },
      { what: `${count} notices` },
    );
    return rows.map(({ emailId, kind, link }) => ({ emailId, kind, link }));
  };

  describe('GET /t/o/:token', () => {
    it('returns an image with no-store and records an open', async () => {
      const { id } = await mail();
      const response = await go(links.openUrl(id));
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('image/gif');
      expect(response.headers.get('cache-control')).to.equal('no-store');
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(bytes.subarray(0, 6).toString()).to.equal('GIF89a');
      expect(await notices(1)).to.deep.equal([{ emailId: id, kind: 'open', link: null }]);
      await applyNotices(api.db);
      const after = await mailById(api.db, id);
      expect(after).to.include({ status: 'OPENED' });
      expect(after.openedAt).to.be.instanceOf(Date);
    });

    it('accepts the pixel and link URLs of a rendered mail', async () => {
      const { id } = await mail();
      const tracked = pages.tracked.of({ id, projectId: project.id });
      expect((await go(tracked.openUrl)).status).to.equal(200);
      expect((await go(tracked.clickUrl(' https://a.example/ ') ?? '')).headers.get('location')).to.equal(
        'https://a.example/',
      );
      expect(await notices(2)).to.have.length(2);
    });

    it('returns the same image with 404 for a forged token', async () => {
      const { id } = await mail();
      for (const token of ['x', id, links.clickUrl(id, 'https://a.example/').split('/').at(-1) ?? '']) {
        const response = await go(`/t/o/${token}`);
        expect(response.status).to.equal(404);
        expect(response.headers.get('content-type')).to.equal('image/gif');
      }
      expect(await notices()).to.deep.equal([]);
    });

    it('records one first open for 200 concurrent requests', async () => {
      const { id } = await mail();
      const path = links.openUrl(id);
      const responses = await Promise.all(Array.from({ length: 200 }, () => go(path)));
      for (const { status } of responses) expect(status).to.equal(200);
      expect(await notices(200)).to.have.length(200);
      await applyNotices(api.db);
      const events = await readEventsOfMail(project, id);
      expect(events.map(({ name }) => name).every((name) => name === 'email.open')).to.equal(true);
      expect(events.map(({ data }) => data.isFirst).filter(Boolean)).to.have.length(1);
    });
  });

  describe('GET /t/c/:token', () => {
    it('redirects to the target of the link and counts each link', async () => {
      const { id } = await mail();
      const targets = [
        'https://shop.example/a?b=1&c=2#d',
        'http://user:pw@other.example:8080/',
        'https://ü.example/ö ä',
      ];
      for (const target of targets) {
        const response = await go(links.clickUrl(id, target));
        expect(response.status).to.equal(302);
        expect(response.headers.get('location')).to.equal(new URL(target).href);
        expect(response.headers.get('cache-control')).to.equal('no-store');
      }
      expect(await notices(targets.length)).to.deep.equal(
        targets.map((link) => ({ emailId: id, kind: 'click', link })),
      );
      await applyNotices(api.db);
      const after = await mailById(api.db, id);
      expect(after).to.include({ status: 'CLICKED', openedAt: null });
      const events = await readEventsOfMail(project, id);
      expect(events.map(({ name, data }) => [name, data.isFirst])).to.deep.equal([
        ['email.click', true],
        ['email.click', false],
        ['email.click', false],
      ]);
    });

    it('does not redirect to an unsigned target', async () => {
      const { id } = await mail();
      const good = links.clickUrl(id, 'https://a.example/').split('/').at(-1) ?? '';
      const [first = '', target = ''] = good.split('.');
      const evil = (purpose: string, key = KEY) => `${first}.${signToken([key], purpose, 'https://evil.example/')}`;
      const bad = {
        'a bare address': encodeURIComponent('https://evil.example/'),
        'a bare id': id,
        'an address in base64': Buffer.from('https://evil.example/').toString('base64url'),
        'a changed one': good.replace(/^.{30}/, 'A'.repeat(30)),
        'one cut short': good.slice(0, -1),
        'the token of an open': links.openUrl(id).split('/').at(-1) ?? '',
        'a target without its mail': target,
        'two targets': `${good}.${target}`,
        'an empty target': `${first}.${signToken([KEY], `target ${project.id}`, '')}`,
        'no target': `${first}.`,
        'a target signed for another purpose': evil('contact'),
        'a target of another project': evil(`target ${newId()}`),
        'a mail of another project': links.clickUrl(id, 'https://evil.example/', newId()).split('/').at(-1) ?? '',
        'another key': evil(`target ${project.id}`, 'an unlisted key'),
      };
      for (const [what, token] of Object.entries(bad)) {
        const response = await go(`/t/c/${token}`);
        expect(response.status, what).to.equal(404);
        expect(response.headers.get('location'), what).to.equal(null);
        expect(await response.text()).to.contain('This link does not work');
      }
      expect(await notices()).to.deep.equal([]);
    });

    for (const target of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '//evil.example', '/x', 'x'])
      it(`does not redirect to ${target}, even when it is signed`, async () => {
        const { id } = await mail();
        const response = await go(links.clickUrl(id, target));
        expect(response.status).to.equal(404);
        expect(response.headers.get('location')).to.equal(null);
      });

    it('accepts tokens of an older key while that is listed', async () => {
      const { id } = await mail();
      const old = linksBy(OLD_KEY, project.id);
      expect((await go(old.clickUrl(id, 'https://a.example/'))).status).to.equal(302);
      expect((await go(old.openUrl(id))).status).to.equal(200);
    });

    it('answers HEAD requests without counting them', async () => {
      const { id } = await mail();
      const path = links.clickUrl(id, 'https://a.example/');
      expect((await go(path, { method: 'HEAD' })).status).to.equal(302);
      expect((await go(links.openUrl(id), { method: 'HEAD' })).status).to.equal(200);
      expect(await notices()).to.deep.equal([]);
    });

    it('redirects when recording the click fails', async () => {
      const { id } = await mail();
      await whileHidden(api.db, 'email_notices', async () => {
        expect((await go(links.clickUrl(id, 'https://a.example/'))).status).to.equal(302);
        expect((await go(links.openUrl(id))).status).to.equal(200);
        await eventually(() => api.logs.some(({ msg }) => msg === 'open or click could not be recorded'), {
          what: 'a line in the log',
        });
      });
    });

    it('redirects without waiting for the click to be recorded', async () => {
      const { id } = await mail();
      await api.db.transaction(async (trx) => {
        await lockTable(trx, 'email_notices');
        const all = await Promise.all(Array.from({ length: 20 }, () => go(links.clickUrl(id, 'https://a.example/'))));
        for (const { status } of all) expect(status).to.equal(302);
      });
    });

    it('redirects while the database is unavailable', async () => {
      const postgres = await startOwnPostgres();
      const db = connectDb({ databaseUrl: postgres.url, poolSize: 2 });
      const offline = await startTestApi({
        env: { SECRET_KEY: KEY },
        database: { db, url: postgres.url, close: async () => {} },
      });
      try {
        await postgres.stop();
        const response = await go(links.clickUrl(newId(), 'https://a.example/'), {}, offline.url);
        expect(response.status).to.equal(302);
        expect(response.headers.get('location')).to.equal('https://a.example/');
        expect((await go(links.openUrl(newId()), {}, offline.url)).status).to.equal(200);
        const page = pages.contactLinks({ contactId: newId(), emailId: newId() }).manageUrl;
        const answer = await go(page, {}, offline.url);
        expect(answer.status, 'a page answers 503').to.equal(503);
        expect(await answer.text()).to.contain('Please try again');
      } finally {
        await offline.stop();
        await db.destroy();
        await postgres.stop();
      }
    });
  });
});
