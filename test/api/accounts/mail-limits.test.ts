import { expect } from 'chai';
import { readSettings } from '../../../platform/settings.ts';
import { sweepAccounts } from '../../../services/users/attempts.ts';
import { sendRequestedMails } from '../../../services/users/requests.ts';
import { cookieOf, person, systemMails } from '../../support/accounts.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { ageAttempts, clearAttempts, setAttempts, storedUsers } from '../../support/rows/accounts.ts';

let addresses = 0;
const newAddress = () => `new${++addresses}@limits.example`;

describe('sign-ups and mail to strangers', () => {
  let api: TestApi;
  /** Two processes on one database, behind a proxy. */
  let second: TestApi;

  before(async () => {
    const env = { SIGNUPS_PER_IP_PER_HOUR: '3', TRUST_PROXY: 'true' };
    api = await startTestApi({ env });
    second = await startTestApi({ env, database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
  });
  after(async () => {
    await second.stop();
    await api.stop();
  });
  beforeEach(() => clearAttempts(api.db));

  const password = 'correct horse';
  const signUp = (ip: string, at = api, email = newAddress()) =>
    at.post('/auth/signup', { email, password }, { 'x-forwarded-for': ip });

  describe('SIGNUPS_PER_IP_PER_HOUR', () => {
    it('rejects further sign-ups from an IP with 429 in all processes until the hour ends', async () => {
      for (const at of [api, second, api]) expect(await signUp('192.0.2.1', at)).to.have.status(201);
      const email = newAddress();
      const answer = await signUp('192.0.2.1', second, email);
      expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 3_600);
      expect(await storedUsers(api.db, { email })).to.have.length(0);
      expect(await systemMails(api.db, email)).to.have.length(0);
      expect(await signUp('192.0.2.2'), 'another IP').to.have.status(201);
      await ageAttempts(api.db, 61);
      expect(await signUp('192.0.2.1')).to.have.status(201);
    });

    it('counts an IPv6 /64 network as one client', async () => {
      for (const ip of ['2001:db8:1:2::1', '2001:db8:1:2:3::', '2001:db8:1:2:ffff:ffff:ffff:ffff'])
        expect(await signUp(ip)).to.have.status(201);
      expect(await signUp('2001:0db8:0001:0002::9')).to.have.status(429);
      expect(await signUp('2001:db8:1:3::1'), 'another network').to.have.status(201);
    });

    it('accepts exactly the limit of concurrent sign-ups', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => signUp('192.0.2.3', n % 2 ? api : second)));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(3);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(5);
    });

    it('does not count failed sign-ups', async () => {
      const { email } = await person(api);
      for (let n = 0; n < 4; n++) expect(await signUp('192.0.2.4', api, email)).to.have.status(409);
      for (let n = 0; n < 3; n++) expect(await signUp('192.0.2.4')).to.have.status(201);
      expect(await signUp('192.0.2.4')).to.have.status(429);
    });

    it('keeps its count when expired counters are swept', async () => {
      for (let n = 0; n < 3; n++) await signUp('192.0.2.5');
      await ageAttempts(api.db, 30);
      await sweepAccounts(api.db);
      expect(await signUp('192.0.2.5')).to.have.status(429);
    });

    it('is unlimited when set to 0', async () => {
      const open = await startTestApi({
        env: { SIGNUPS_PER_IP_PER_HOUR: '0', TRUST_PROXY: 'true' },
        database: { db: api.db, url: api.databaseUrl, close: async () => {} },
      });
      for (let n = 0; n < 5; n++) expect(await signUp('192.0.2.6', open)).to.have.status(201);
      await open.stop();
    });
  });

  it('counts failed logins of an IPv6 /64 network as one client', async () => {
    const guess = (n: number) =>
      api.post(
        '/auth/login',
        { email: newAddress(), password: 'x' },
        { 'x-forwarded-for': `2001:db8:9:9::${n.toString(16)}` },
      );
    await guess(1);
    await setAttempts(api.db, 49);
    expect(await guess(2)).to.have.status(401);
    expect(await guess(3)).to.have.status(429);
  });

  it('sends at most 20 mails of all kinds a day to an unverified address', async () => {
    const email = newAddress();
    for (let n = 0; n < 22; n++) {
      const answer = await signUp(`198.51.100.${n}`, api, email);
      expect(answer).to.have.status(201);
      // Signing up again sends the mail again: a loop that a stranger can run with any address. Deleting the account
      // removes its mails, so they are counted here.
      const [mail] = await systemMails(api.db, email);
      expect(mail !== undefined, `mail ${n + 1}`).to.equal(n < 20);
      expect(await api.delete('/users/@me', undefined, { cookie: cookieOf(answer) })).to.have.status(204);
    }
  });

  it('sends no mail about password changes to an unverified address', async () => {
    const someone = await person(api, undefined, { emailVerified: false });
    const body = { currentPassword: someone.password, newPassword: 'battery staple' };
    expect(await someone.post('/users/@me/password', body)).to.have.status(200);
    expect(await systemMails(api.db, someone.email)).to.have.length(0);
  });

  it('sends at most 20 requested mails a day to one address and answers the same', async () => {
    const { email } = await person(api);
    for (let n = 0; n < 24; n++) {
      expect(await api.post('/auth/request-password-reset', { email })).to.have.status(200);
      await sendRequestedMails(api.db, readSettings({ BASE_URL: 'http://app.test' }));
      await ageAttempts(api.db, 16, { windowMinutes: 15 });
    }
    expect(await systemMails(api.db, email)).to.have.length(20);
  });

  describe('project names', () => {
    const saved = async (name: unknown) => {
      const someone = await person(api);
      return someone.post('/users/@me/projects', { name });
    };

    it('rejects names that are too long as given or normalized with 422', async () => {
      expect(await saved('x'.repeat(100))).to.have.status(201);
      expect(await saved('x'.repeat(101))).to.have.validationError('name', 'too_big');
      expect(await saved('\ufdfa'.repeat(50)), 'each becomes 18 characters').to.have.validationError('name', 'too_big');
    });

    it('rejects line breaks and control characters with 422', async () => {
      for (const name of ['a\nb', 'a\r\nBcc: x@y.example', 'a\u2028b', 'a\u0085b', 'a\tb', 'a\u0000b', 'a\u202eb'])
        expect(await saved(name), JSON.stringify(name)).to.have.validationError('name', 'invalid_string');
    });

    it('applies the same rules to updates', async () => {
      const project = await api.project();
      const change = (name: string) => project.owner.patch(`/users/@me/projects/${project.id}`, { name });
      expect(await change('x'.repeat(101))).to.have.validationError('name', 'too_big');
      expect(await change('a\nb')).to.have.validationError('name', 'invalid_string');
    });
  });
});
