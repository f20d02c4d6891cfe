import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { readMail } from '../support/reading.ts';
import { storedContent } from '../support/rows/mails.ts';
import { countRows } from '../support/rows/tables.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describeApi('POST /v1/send', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const mail = (more: object = {}) => ({
    to: 'ann@example.com',
    from: `hello@${project.senderDomain}`,
    subject: 'Hello',
    body: '<p>Hello</p>',
    ...more,
  });
  const send = (more: object = {}) => project.server.post('/v1/send', mail(more));
  const contentOf = async (more: object) => {
    const answer = await send(more);
    expect(answer).to.have.status(200);
    return storedContent(api.db, answer.body.data.emails[0].email);
  };

  it('answers 200 with the contact and e-mail of the recipient', async () => {
    const answer = await send();
    expect(answer).to.have.status(200);
    expect(answer.body).to.have.all.keys('success', 'data');
    expect(answer.body.success).to.equal(true);
    expect(answer.body.data).to.have.all.keys('emails', 'timestamp');
    const { emails, timestamp } = answer.body.data;
    expect(emails).to.have.length(1);
    expect(emails[0]).to.have.all.keys('contact', 'email');
    expect(emails[0].contact).to.have.all.keys('id', 'email');
    expect(emails[0].contact.email).to.equal('ann@example.com');
    expect(emails[0].contact.id).to.match(UUID);
    expect(emails[0].email).to.match(UUID);
    expect(new Date(timestamp).toISOString()).to.equal(timestamp);
    const shown = await readMail(project, emails[0].email);
    expect(shown).to.include({ contactId: emails[0].contact.id, to: 'ann@example.com', status: 'PENDING' });
  });

  it('accepts a recipient as text, as an object and as a list of either, in order', async () => {
    const answer = await send({
      to: ['B@example.com', { email: ' c@example.com', name: 'Cy' }, { email: 'd@example.com' }],
    });
    expect(answer).to.have.status(200);
    const addresses = answer.body.data.emails.map(({ contact }: { contact: { email: string } }) => contact.email);
    expect(addresses).to.deep.equal(['b@example.com', 'c@example.com', 'd@example.com']);
    expect(await contentOf({ to: { email: 'e@example.com', name: 'Eve' } })).to.include({
      toEmail: 'e@example.com',
      toName: 'Eve',
    });
  });

  describe('the sender', () => {
    const address = () => `hello@${project.senderDomain}`;
    const cases: [string, () => object, string | null][] = [
      ['an address', () => ({ from: address() }), null],
      ['an address, with the deprecated name', () => ({ from: address(), name: 'Old' }), 'Old'],
      ['Name <address>', () => ({ from: `Everpost Team <${address()}>` }), 'Everpost Team'],
      ['"Name" <address>', () => ({ from: `"Team, the" <${address()}>` }), 'Team, the'],
      ['<address>', () => ({ from: `<${address()}>` }), null],
      ['Name <address>, which wins over name', () => ({ from: `New <${address()}>`, name: 'Old' }), 'New'],
      ['an object', () => ({ from: { email: address(), name: 'Team' } }), 'Team'],
      [
        'an object with a name, which wins over name',
        () => ({ from: { email: address(), name: 'New' }, name: 'Old' }),
        'New',
      ],
      [
        'an object without a name, for which name does not count',
        () => ({ from: { email: address() }, name: 'Old' }),
        null,
      ],
      ['an object without a name', () => ({ from: { email: address().toUpperCase() } }), null],
      ['an object with an empty name', () => ({ from: { email: address(), name: '' } }), null],
    ];
    for (const [what, given, name] of cases)
      it(`may be ${what}`, async () => {
        expect(await contentOf(given())).to.include({ fromEmail: address(), fromName: name });
      });
  });

  it('accepts names in any language, including zero-width joiners', async () => {
    for (const name of ['ශ්\u200dරී', 'می\u200cخواهم', '👨\u200d👩\u200d👧', 'O’Brien', '株式会社'])
      expect(await contentOf({ to: { email: 'ann@example.com', name } })).to.include({ toName: name });
  });

  it('stores subject, body and reply address as given', async () => {
    const given = { subject: 'Grüße\t😀', body: '<b>{{ name }}</b>\n', reply: 'Support@Example.com' };
    expect(await contentOf(given)).to.include({
      subject: given.subject,
      html: given.body,
      replyTo: 'support@example.com',
    });
  });

  it('accepts a subject of 998 characters', async () => {
    expect(await send({ subject: 'x'.repeat(998) })).to.have.status(200);
  });

  describe('422', () => {
    const faulty: [string, object, string, string][] = [
      ['no recipient', { to: undefined }, 'to', 'required'],
      ['an empty list of recipients', { to: [] }, 'to', 'too_small'],
      ['more than 1,000 recipients', { to: Array.from({ length: 1001 }, (_, n) => `a${n}@b.co`) }, 'to', 'too_big'],
      ['a recipient that is not an address', { to: 'nobody' }, 'to', 'invalid_string'],
      ['a recipient that is a number', { to: 5 }, 'to', 'invalid_type'],
      ['a recipient without an address', { to: { name: 'Ann' } }, 'to.email', 'required'],
      ['one invalid recipient among valid ones', { to: ['a@b.co', { email: 'no' }] }, 'to.1.email', 'invalid_string'],
      ['a line break in a name', { to: { email: 'a@b.co', name: 'A\r\nBcc: x@y.co' } }, 'to.name', 'invalid_string'],
      ['no sender', { from: undefined }, 'from', 'required'],
      ['a sender that is not an address', { from: 'nobody' }, 'from', 'invalid_string'],
      ['a sender with an unclosed bracket', { from: 'Ann <a@b.co' }, 'from', 'invalid_string'],
      ['a line break in the name of the sender', { from: 'A\r\nB <a@b.co>' }, 'from', 'invalid_string'],
      ['a sender without an address', { from: { name: 'Ann' } }, 'from.email', 'required'],
      ['a line break in the deprecated name', { name: 'A\nB' }, 'name', 'invalid_string'],
      ['no subject', { subject: undefined }, 'subject', 'required'],
      ['an empty subject', { subject: '' }, 'subject', 'too_small'],
      ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject', 'too_big'],
      ['a line feed in the subject', { subject: 'a\nBcc: x@y.co' }, 'subject', 'invalid_string'],
      ['a carriage return in the subject', { subject: 'a\rb' }, 'subject', 'invalid_string'],
      ['no body', { body: undefined }, 'body', 'required'],
      ['an empty body', { body: '' }, 'body', 'too_small'],
      ['a body that is an object', { body: {} }, 'body', 'invalid_type'],
      ['an invalid reply address', { reply: 'no' }, 'reply', 'invalid_string'],
      ['subscribed as text', { subscribed: 'yes' }, 'subscribed', 'invalid_type'],
      ['data as an array', { data: [] }, 'data', 'invalid_type'],
    ];
    it('reports each validation error once', async () => {
      const faultsOf = async (to: unknown) =>
        (await send({ to })).body.error.errors.map(({ field, code }: Record<string, string>) => [field, code]);
      expect(await faultsOf([])).to.deep.equal([['to', 'too_small']]);
      expect(await faultsOf(['nobody'])).to.deep.equal([['to.0', 'invalid_string']]);
      expect(await faultsOf('a@b.co\nBcc: x@y.co')).to.deep.equal([['to', 'invalid_string']]);
    });
    for (const [what, more, field, code] of faulty)
      it(`on ${what}`, async () => {
        expect(await send(more)).to.have.validationError(field, code);
      });
  });

  it('answers 403 INTERNAL_SERVER_ERROR with a suggestion to an unverified domain, and writes nothing', async () => {
    const before = await countRows(api.db, 'emails');
    const answer = await send({ from: 'hello@unverified.example' });
    expect(answer).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
    expect(answer.body.error.suggestion).to.contain('unverified.example');
    expect(await countRows(api.db, 'emails')).to.equal(before);
  });

  it('answers 403 to a domain of another project', async () => {
    const other = await api.project();
    expect(await send({ from: `hello@${other.senderDomain}` })).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
  });
});
