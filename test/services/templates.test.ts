import { expect } from 'chai';
import { ApiError } from '../../platform/errors.ts';
import { languageOf, languages } from '../../platform/languages.ts';
import { checkTemplate } from '../../platform/templates/index.ts';
import { regenerateKeys } from '../../services/access/keys.ts';
import { footerFor } from '../../services/templates/footer.ts';
import { createTemplate, type NewTemplate, updateTemplate } from '../../services/templates/save.ts';
import { variablesOf } from '../../services/templates/variables.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';

const minimal: NewTemplate = { name: 'Welcome', subject: 'Hi', body: '<p>Hi</p>', type: 'MARKETING' };

describe('saving templates', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  it('rejects a key that was replaced meanwhile with 401 and writes nothing', async () => {
    const { access, id } = await makeProject(database.db);
    const template = await createTemplate(database.db, access, minimal);
    await regenerateKeys(database.db, id);
    for (const work of [
      () => createTemplate(database.db, access, minimal),
      () => updateTemplate(database.db, access, template.id, { name: 'Other' }),
    ])
      expect(await work().catch((error) => error))
        .to.be.instanceOf(ApiError)
        .and.include({ status: 401, code: 'INVALID_API_KEY' });
    const rows = await database.db('templates').where({ projectId: id });
    expect(rows.map(({ name }) => name)).to.deep.equal(['Welcome']);
  });

  it('locks the sender domain against deletion until the commit', async () => {
    const { access, id, senderDomain } = await makeProject(database.db);
    const trx = await database.db.transaction();
    await createTemplate(trx, access, { ...minimal, from: { email: `a@${senderDomain}` } });
    const deleting = database.db.transaction(async (other) => {
      await other.raw("set local lock_timeout = '50ms'");
      await other('domains').where({ projectId: id }).del();
    });
    expect(await deleting.catch((error) => error)).to.have.property('code', '55P03');
    await trx.commit();
    expect(await database.db('templates').where({ projectId: id })).to.have.lengthOf(1);
  });
});

describe('template variables', () => {
  const contact = {
    id: 'c1',
    email: 'ann@example.com',
    subscribed: true,
    createdAt: new Date('2026-01-02T03:04:05Z'),
    data: { plan: 'pro', email: 'forged@example.com', subscribed: 'forged' },
  };
  const links = { unsubscribeUrl: 'https://e/u', subscribeUrl: 'https://e/s', manageUrl: 'https://e/m' };

  it('contain the contact’s data, and built-in variables that data cannot override', () => {
    expect(variablesOf({ contact, links, language: 'de' })).to.deep.equal({
      data: contact.data,
      builtIn: {
        id: 'c1',
        email: 'ann@example.com',
        subscribed: true,
        createdAt: '2026-01-02T03:04:05.000Z',
        locale: 'de',
        ...links,
        everpost_id: 'c1',
        everpost_email: 'ann@example.com',
      },
    });
  });

  it('prefer values of this mail to stored data', () => {
    const { data, builtIn } = variablesOf({
      contact,
      links,
      language: 'de',
      passing: { plan: 'trial', code: 42, locale: 'fr' },
      event: { name: 'purchase' },
    });
    expect(data).to.include({ plan: 'trial', code: 42 });
    expect(builtIn).to.deep.include({ locale: 'fr', event: { name: 'purchase' } });
  });
});

describe('the footer', () => {
  it('is in the contact’s language, else the project’s, else English', () => {
    expect(footerFor('de-AT', 'fr')).to.contain('Abmelden');
    expect(footerFor('tlh', 'fr')).to.contain('Se désabonner');
    expect(footerFor(undefined, 'it')).to.contain('Annulla iscrizione');
    expect(footerFor(null, 'xx')).to.contain('Unsubscribe');
  });

  it('is a valid template with both links in every language', () => {
    const footers = languages.map((language) => footerFor(language, 'en'));
    expect(new Set(footers)).to.have.property('size', 7);
    for (const footer of footers) {
      expect(checkTemplate(footer)).to.deep.equal([]);
      expect(footer).to.contain('href="{{ unsubscribeUrl }}"').and.contain('href="{{ manageUrl }}"');
    }
  });

  it('accepts language tags in any case and with regions', () => {
    expect(['DE', 'de_CH', ' pt-BR ', 'nl'].map((wish) => languageOf(wish))).to.deep.equal(['de', 'de', 'pt', 'nl']);
    for (const nonsense of [undefined, null, 5, {}, '', '-', 'constructor'])
      expect(languageOf(nonsense)).to.equal('en');
  });
});
