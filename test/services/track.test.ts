import { expect } from 'chai';
import { ApiError } from '../../platform/errors.ts';
import { regenerateKeys } from '../../services/access/keys.ts';
import { trackEvent } from '../../services/events/track.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { storedContacts } from '../support/rows/contacts.ts';
import { storedEvents } from '../support/rows/events.ts';
import { setProject } from '../support/rows/projects.ts';

describe('tracking an event', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  const eventsOf = (projectId: string) => storedEvents(database.db, { projectId });
  const contactsOf = (projectId: string) => storedContacts(database.db, { projectId });

  it('creates a subscribed contact and records the event without a subscription event', async () => {
    const { access, id } = await makeProject(database.db);
    const tracked = await trackEvent(database.db, access, {
      email: 'ann@example.com',
      event: 'signup',
      data: { plan: 'pro' },
    });
    const [contact] = await contactsOf(id);
    expect(contact).to.include({ id: tracked.contactId, email: 'ann@example.com', subscribed: true });
    expect(contact.data).to.deep.equal({ plan: 'pro' });
    const events = await eventsOf(id);
    expect(events).to.have.lengthOf(1);
    expect(events[0]).to.include({ id: tracked.eventId, name: 'signup', contactId: tracked.contactId });
  });

  it('patches data: null deletes, an empty string is ignored, a non-persistent value reaches the event only', async () => {
    const { access, id } = await makeProject(database.db);
    const email = 'ann@example.com';
    await trackEvent(database.db, access, {
      email,
      event: 'a',
      data: { keep: 1, drop: 2, stay: 'x', email: 'no@example.com' },
    });
    await trackEvent(database.db, access, {
      email,
      event: 'b',
      data: { drop: null, stay: '', code: { value: 7, persistent: false }, tier: { value: 'gold', persistent: true } },
    });
    const [contact] = await contactsOf(id);
    expect(contact.data).to.deep.equal({ keep: 1, stay: 'x', tier: 'gold' });
    const [, second] = await eventsOf(id);
    expect(second.data).to.deep.equal({ code: 7, tier: 'gold' });
  });

  it('keeps a subscription unless `subscribed` is given, and records each change once', async () => {
    const { access, id } = await makeProject(database.db);
    const email = 'ann@example.com';
    for (const subscribed of [false, undefined, false, true, undefined, true])
      await trackEvent(database.db, access, { email, event: 'e', subscribed });
    const names = (await eventsOf(id)).map((event) => event.name).filter((name) => name !== 'e');
    expect(names).to.deep.equal(['contact.subscribed']);
    expect((await contactsOf(id))[0]).to.include({ subscribed: true });
  });

  it('keeps all keys and events of 50 concurrent calls for one new contact', async () => {
    const { access, id } = await makeProject(database.db);
    const many = Array.from({ length: 50 }, (_, n) => n);
    await Promise.all(
      many.map((n) =>
        trackEvent(database.db, access, { email: 'new@example.com', event: 'e', data: { [`k${n}`]: n } }),
      ),
    );
    const contacts = await contactsOf(id);
    expect(contacts).to.have.lengthOf(1);
    expect(contacts[0].data).to.deep.equal(Object.fromEntries(many.map((n) => [`k${n}`, n])));
    expect(await eventsOf(id)).to.have.lengthOf(50);
  });

  it('records exactly the subscription changes of 40 concurrent calls', async () => {
    const { access, id } = await makeProject(database.db);
    const email = 'flip@example.com';
    await trackEvent(database.db, access, { email, event: 'e', subscribed: false });
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        trackEvent(database.db, access, { email, event: 'e', subscribed: n % 2 === 0 }),
      ),
    );
    const names = (await eventsOf(id)).map((event) => event.name as string);
    const on = names.filter((name) => name === 'contact.subscribed').length;
    const off = names.filter((name) => name === 'contact.unsubscribed').length;
    const [contact] = await contactsOf(id);
    expect(on - off).to.equal(contact.subscribed ? 1 : 0);
    expect(on).to.be.greaterThan(0);
  });

  it('does not update a contact that stays the same', async () => {
    const { access, id } = await makeProject(database.db);
    await trackEvent(database.db, access, { email: 'ann@example.com', event: 'e', data: { a: 1 } });
    const [before] = await contactsOf(id);
    await trackEvent(database.db, access, { email: 'ann@example.com', event: 'e', data: { a: 1 } });
    expect((await contactsOf(id))[0]).to.deep.equal(before);
  });

  it('rejects a key that was replaced meanwhile with 401 and writes nothing', async () => {
    const { access, id } = await makeProject(database.db);
    await regenerateKeys(database.db, id);
    const refused = await trackEvent(database.db, access, { email: 'a@example.com', event: 'e' }).catch(
      (error) => error,
    );
    expect(refused).to.be.instanceOf(ApiError).and.include({ status: 401, code: 'INVALID_API_KEY' });
    expect(await contactsOf(id)).to.deep.equal([]);
  });

  it('rejects a project that was disabled meanwhile with 403 and writes nothing', async () => {
    const { access, id } = await makeProject(database.db);
    await setProject(database.db, id, { disabled: true, disabledReason: 'too many bounces' });
    const refused = await trackEvent(database.db, access, { email: 'a@example.com', event: 'e' }).catch(
      (error) => error,
    );
    expect(refused).to.be.instanceOf(ApiError).and.include({ status: 403, code: 'PROJECT_DISABLED' });
    expect(await contactsOf(id)).to.deep.equal([]);
  });

  it('creates separate contacts for the same address in two projects', async () => {
    const one = await makeProject(database.db);
    const two = await makeProject(database.db);
    for (const { access } of [one, two])
      await trackEvent(database.db, access, { email: 'same@example.com', event: 'e' });
    const [a] = await contactsOf(one.id);
    const [b] = await contactsOf(two.id);
    expect(a.id).not.to.equal(b.id);
  });
});
