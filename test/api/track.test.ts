import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { readContact, readEventsOfContact } from '../support/reading.ts';
import { countRows } from '../support/rows/tables.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describeApi('POST /v1/track', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  it('answers 200 with the ids of contact and event, and the time', async () => {
    const answer = await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'signed-up' });
    expect(answer).to.have.status(200);
    expect(answer.body).to.have.all.keys('success', 'data');
    expect(answer.body.success).to.equal(true);
    const { contact, event, timestamp } = answer.body.data;
    expect(answer.body.data).to.have.all.keys('contact', 'event', 'timestamp');
    expect(contact).to.match(UUID);
    expect(event).to.match(UUID);
    expect(new Date(timestamp).toISOString()).to.equal(timestamp);
    const [shown] = await readEventsOfContact(project, contact);
    expect(shown).to.include({ id: event, contactId: contact, name: 'signed-up' });
  });

  it('finds the same contact for any spelling of an address', async () => {
    const first = await project.browser.post('/v1/track', { email: 'bob@example.com', event: 'a' });
    const second = await project.browser.post('/v1/track', { email: '  Bob@Example.COM ', event: 'b' });
    expect(second.body.data.contact).to.equal(first.body.data.contact);
    expect(second.body.data.event).not.to.equal(first.body.data.event);
  });

  it('stores data and subscription, and accepts null as no data', async () => {
    const { body } = await project.browser.post('/v1/track', {
      email: 'eve@example.com',
      event: 'bought',
      subscribed: false,
      data: { plan: 'pro', seats: 3 },
    });
    const contact = await readContact(project, body.data.contact);
    expect(contact.subscribed).to.equal(false);
    expect(contact.data).to.deep.equal({ plan: 'pro', seats: 3 });
    expect(
      await project.browser.post('/v1/track', { email: 'eve@example.com', event: 'x', data: null }),
    ).to.have.status(200);
  });

  it('ignores unknown fields', async () => {
    const answer = await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'x', colour: 'red' });
    expect(answer).to.have.status(200);
  });

  for (const event of [
    'email.sent',
    'email.anything',
    'contact.subscribed',
    'contact.unsubscribed',
    'segment.vip.entry',
    'segment.vip.exit',
    'segment.a\u2028b.entry',
  ])
    it(`answers 422 reserved_event on ${JSON.stringify(event)}`, async () => {
      const answer = await project.browser.post('/v1/track', { email: 'ann@example.com', event });
      expect(answer).to.have.validationError('event', 'reserved_event');
    });

  describe('422', () => {
    const faulty: [string, object, string, string][] = [
      ['no e-mail', { event: 'x' }, 'email', 'required'],
      ['no event', { email: 'a@b.co' }, 'event', 'required'],
      ['an empty e-mail', { email: '', event: 'x' }, 'email', 'invalid_string'],
      ['an invalid e-mail', { email: 'ann at example', event: 'x' }, 'email', 'invalid_string'],
      ['an e-mail without a dot in its domain', { email: 'ann@localhost', event: 'x' }, 'email', 'invalid_string'],
      ['an e-mail with a line break', { email: 'ann\r\n@example.com', event: 'x' }, 'email', 'invalid_string'],
      [
        'an e-mail with an invisible character',
        { email: 'ann\u200b@example.com', event: 'x' },
        'email',
        'invalid_string',
      ],
      ['a local part over 64 characters', { email: `${'a'.repeat(65)}@b.co`, event: 'x' }, 'email', 'invalid_string'],
      ['an e-mail over 254 characters', { email: `a@${'b.'.repeat(130)}co`, event: 'x' }, 'email', 'invalid_string'],
      ['an e-mail that is a number', { email: 5, event: 'x' }, 'email', 'invalid_type'],
      ['an e-mail that is null', { email: null, event: 'x' }, 'email', 'invalid_type'],
      ['an empty event', { email: 'a@b.co', event: '' }, 'event', 'too_small'],
      ['an event of 256 characters', { email: 'a@b.co', event: 'x'.repeat(256) }, 'event', 'too_big'],
      ['subscribed as text', { email: 'a@b.co', event: 'x', subscribed: 'true' }, 'subscribed', 'invalid_type'],
      ['subscribed as a number', { email: 'a@b.co', event: 'x', subscribed: 1 }, 'subscribed', 'invalid_type'],
      ['data as an array', { email: 'a@b.co', event: 'x', data: [1] }, 'data', 'invalid_type'],
      ['data as text', { email: 'a@b.co', event: 'x', data: '{}' }, 'data', 'invalid_type'],
    ];
    for (const [what, body, field, code] of faulty)
      it(`on ${what}`, async () => {
        expect(await project.browser.post('/v1/track', body)).to.have.validationError(field, code);
      });

    it('lists every validation error, with the received value where it is short', async () => {
      const answer = await project.browser.post('/v1/track', { email: 'no', event: 7, subscribed: 'x'.repeat(500) });
      expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
      const { errors } = answer.body.error;
      expect(errors.map(({ field }: { field: string }) => field)).to.have.members(['email', 'event', 'subscribed']);
      const byField = Object.fromEntries(errors.map((fault: { field: string }) => [fault.field, fault]));
      expect(byField.email.received).to.equal('no');
      expect(byField.event.received).to.equal(7);
      expect(byField.subscribed).not.to.have.property('received');
    });

    it('writes nothing', async () => {
      const before = await countRows(api.db, 'events');
      await project.browser.post('/v1/track', { email: 'a@b.co', event: 'email.sent' });
      expect(await countRows(api.db, 'events')).to.equal(before);
    });
  });
});
