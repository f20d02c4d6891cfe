import { expect } from 'chai';
import { type Person, person } from '../support/accounts.ts';
import { describeApi } from '../support/api.ts';

describeApi('the language of an account', (api) => {
  let user: Person;

  before(async () => {
    user = await person(api);
  });

  const language = async () => (await user.get('/users/@me')).body.language;

  it('is null until the user chooses one, and null again when the user follows the browser', async () => {
    expect(await language()).to.equal(null);
    const changed = await user.patch('/users/@me', { language: 'de' });
    expect(changed).to.have.status(200);
    expect(changed.body).to.include({ id: user.id, language: 'de' });
    expect(await language()).to.equal('de');
    expect((await user.patch('/users/@me', {})).body.language).to.equal('de');
    expect((await user.patch('/users/@me', { language: null })).body.language).to.equal(null);
    expect(await language()).to.equal(null);
  });

  for (const given of ['fr', '', 'DE', 7, ['de'], { de: true }])
    it(`rejects ${JSON.stringify(given)} with 422`, async () => {
      expect(await user.patch('/users/@me', { language: given })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await language()).to.equal(null);
    });

  it('is changed with a session only, and changes nothing else of the account', async () => {
    expect(await api.patch('/users/@me', { language: 'de' })).to.have.status(401);
    const body = { language: 'en', operator: true, emailVerified: false, email: 'x@example.com' };
    expect((await user.patch('/users/@me', body)).body).to.include({ email: user.email, operator: false });
  });
});
