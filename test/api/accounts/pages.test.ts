import { expect } from 'chai';
import { readSettings } from '../../../platform/settings.ts';
import { sendRequestedMails } from '../../../services/users/requests.ts';
import { cookieOf, person, tokenTo } from '../../support/accounts.ts';
import { type ApiAnswer, describeApi } from '../../support/api.ts';
import { changeProject } from '../../support/reading.ts';
import { clearAttempts, userByEmail } from '../../support/rows/accounts.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

describeApi('pages of links in system mail', (api) => {
  beforeEach(() => clearAttempts(api.db));

  const expectPage = (answer: ApiAnswer, status: number, text: RegExp) => {
    expect(answer).to.have.status(status);
    expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).to.contain("default-src 'none'");
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(answer.body).to.match(text);
  };

  it('GET /verify-email/:token changes nothing, its form verifies', async () => {
    const email = 'v@pages.example';
    await api.post('/auth/signup', { email, password: 'correct horse' });
    const path = `/verify-email/${await tokenTo(api.db, email)}`;
    for (let n = 0; n < 2; n++) expectPage(await api.get(path), 200, /<form method="post">/);
    expect(await userByEmail(api.db, email)).to.include({ emailVerified: false });
    expectPage(await api.post(path, 'password=correct+horse', form), 200, /v@pages\.example is verified/);
    expect(await userByEmail(api.db, email)).to.include({ emailVerified: true });
    expectPage(await api.get(path), 400, /no longer works/);
    expectPage(await api.post(path, '', form), 400, /no longer works/);
  });

  it('answers with a page when a field of the form breaks a rule', async () => {
    for (const path of ['verify-email', 'reset-password', 'invitations'])
      expectPage(await api.post(`/${path}/any`, `password=${'x'.repeat(2_000)}`, form), 422, /cannot be used/);
  });

  it('GET /reset-password/:token asks for a password and its form sets it', async () => {
    const someone = await person(api);
    await api.post('/auth/request-password-reset', { email: someone.email });
    await sendRequestedMails(api.db, readSettings({ BASE_URL: 'http://app.test' }));
    const path = `/reset-password/${await tokenTo(api.db, someone.email)}`;
    expectPage(await api.get(path), 200, /type="password" name="password" required minlength="8"/);
    expectPage(await api.post(path, 'password=short', form), 422, /at least 8 characters/);
    expectPage(await api.post(path, 'password=battery+staple', form), 200, /Your password is set/);
    expect(await someone.get('/users/@me')).to.have.status(401);
    const login = await api.post('/auth/login', { email: someone.email, password: 'battery staple' });
    expect(login).to.have.status(200);
    expectPage(await api.post(path, 'password=once+more+please', form), 400, /no longer works/);
  });

  it('GET /invitations/:token shows the project and its form accepts', async () => {
    const project = await api.project();
    await changeProject(project, { name: '<script>alert(1)</script>' });
    const email = 'guest@pages.example';
    const kit = { logoUrl: 'https://cdn.shop.example/logo.png', colors: { button: '#b00020' } };
    expect(await project.server.put('/brand-kit', kit)).to.have.status(200);
    await project.owner.post(`/projects/${project.id}/members`, { email, role: 'ADMIN' });
    const path = `/invitations/${await tokenTo(api.db, email)}`;
    const page = await api.get(path);
    expectPage(page, 200, /guest@pages\.example, with the role Admin\./);
    expect(page.body).to.contain('&lt;script&gt;').and.not.to.contain('<script>');
    expect(page.body).to.contain(kit.logoUrl).and.contain('--brand: #b00020');
    expectPage(await api.post(path, 'password=', form), 422, /at least 8 characters/);
    const accepted = await api.post(path, 'password=long+enough', form);
    expectPage(accepted, 200, /You are now a member/);
    const answer = await api.get(`/projects/${project.id}`, { cookie: cookieOf(accepted) });
    expect(answer.body).to.include({ role: 'ADMIN' });
    expectPage(await api.get(path), 400, /no longer works/);
  });

  it('GET /verify-email/:token asks for the password or a new one, unless the browser has the session', async () => {
    const someone = await person(api, undefined, { emailVerified: false });
    await api.post('/auth/request-verification', { email: someone.email });
    await sendRequestedMails(api.db, readSettings({ BASE_URL: 'http://app.test' }));
    const path = `/verify-email/${await tokenTo(api.db, someone.email)}`;
    const anonymous = await api.get(path);
    expectPage(anonymous, 200, /name="password" required autocomplete="current-password"/);
    expect(anonymous.body).to.match(/name="newPassword" required minlength="8"/);
    const other = await person(api);
    expect((await other.get(path)).body, "another user's session").to.contain('type="password"');
    expect((await someone.get(path)).body).not.to.contain('type="password"');
    expectPage(await api.post(path, 'password=wrong', form), 401, /Incorrect email address or password/);
    expectPage(await api.post(path, 'newPassword=short', form), 422, /at least 8 characters/);
    expectPage(await someone.post(path, '', form), 200, /is verified/);
    expect(await someone.get('/users/@me'), 'its session stays').to.have.status(200);
  });

  it('POST /verify-email/:token sets the new password that its form asks for', async () => {
    const email = 'chosen@pages.example';
    await api.post('/auth/signup', { email, password: 'of a stranger' });
    const path = `/verify-email/${await tokenTo(api.db, email)}`;
    expectPage(await api.post(path, 'newPassword=battery+staple', form), 200, /You can log in with the new password/);
    expect(await api.post('/auth/login', { email, password: 'of a stranger' })).to.have.status(401);
    expect(await api.post('/auth/login', { email, password: 'battery staple' })).to.have.status(200);
  });

  it('POST /verify-email/:token answers 401 to a wrong password and 429 after five of them', async () => {
    const email = 'guessed@pages.example';
    await api.post('/auth/signup', { email, password: 'correct horse' });
    const path = `/verify-email/${await tokenTo(api.db, email)}`;
    for (let n = 0; n < 5; n++) expectPage(await api.post(path, 'password=guess', form), 401, /Incorrect/);
    expectPage(await api.post(path, 'password=correct+horse', form), 429, /Too many attempts/);
    await clearAttempts(api.db);
    expectPage(await api.post(path, 'password=correct+horse', form), 200, /is verified/);
  });

  it('GET /invitations/:token asks an existing account to log in, and accepts with its session', async () => {
    const project = await api.project();
    const guest = await person(api);
    await project.owner.post(`/projects/${project.id}/members`, { email: guest.email, role: 'MEMBER' });
    const path = `/invitations/${await tokenTo(api.db, guest.email)}`;
    expectPage(await api.get(path), 200, /log in as person\d+@people\.example to accept/);
    const other = await person(api);
    for (const client of [api, other]) expectPage(await client.post(path, '', form), 401, /Log in to accept/);
    expect((await guest.get(path)).body).not.to.contain('type="password"');
    expectPage(await guest.post(path, '', form), 200, /You are now a member/);
    expect(await guest.get(`/projects/${project.id}`)).to.have.status(200);
    expect(await other.get(`/projects/${project.id}`)).to.have.status(404);
  });

  it('POST /invitations/:token logs in with the password of the account, throttled, and accepts', async () => {
    const project = await api.project();
    const guest = await person(api);
    await project.owner.post(`/projects/${project.id}/members`, { email: guest.email, role: 'MEMBER' });
    const path = `/invitations/${await tokenTo(api.db, guest.email)}`;
    for (let n = 0; n < 5; n++) expectPage(await api.post(path, 'password=guess', form), 401, /Incorrect/);
    const throttled = await api.post(path, 'password=correct+horse', form);
    expectPage(throttled, 429, /Too many attempts/);
    expect(Number(throttled.headers.get('retry-after'))).to.be.within(1, 900);
    await clearAttempts(api.db);
    const accepted = await api.post(path, 'password=correct+horse', form);
    expectPage(accepted, 200, /You are now a member/);
    const me = await api.get('/users/@me', { cookie: cookieOf(accepted) });
    expect(me.body).to.include({ id: guest.id });
    expect(await guest.get(`/projects/${project.id}`)).to.have.status(200);
  });

  it('rejects a form of another site with 403 and keeps the token valid', async () => {
    const project = await api.project();
    const email = 'forged@pages.example';
    await project.owner.post(`/projects/${project.id}/members`, { email, role: 'MEMBER' });
    const path = `/invitations/${await tokenTo(api.db, email)}`;
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await api.post(path, 'password=long+enough', { ...form, origin });
      expect(answer).to.be.envelope(403, 'FORBIDDEN');
      expect(answer.headers.get('set-cookie')).to.equal(null);
    }
    const own = await api.post(path, 'password=long+enough', { ...form, origin: 'http://app.test' });
    expectPage(own, 200, /You are now a member/);
  });

  it('answers invalid tokens in any spelling with a 400 page', async () => {
    for (const token of ['x', 'a'.repeat(5_000), '%27%20or%201=1', '..%2f..%2fetc', 'null'])
      for (const path of ['verify-email', 'reset-password', 'invitations'])
        for (const answer of [
          await api.get(`/${path}/${token}`),
          await api.post(`/${path}/${token}`, 'password=long+enough', form),
        ])
          expectPage(answer, 400, /no longer works/);
  });
});
