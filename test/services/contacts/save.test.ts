import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { ApiError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { regenerateKeys } from '../../../services/access/keys.ts';
import { saveContact, updateContact } from '../../../services/contacts/save.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { contactById, storedContacts } from '../../support/rows/contacts.ts';
import { storedEvents } from '../../support/rows/events.ts';
import { setProject } from '../../support/rows/projects.ts';

const email = 'ann@example.com';

describe('saving a contact', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  after(() => database.close());

  const recordedEvents = async (projectId: string) => (await storedEvents(db, { projectId })).map(({ name }) => name);

  const refusal = async (work: Promise<unknown>): Promise<ApiError> => {
    const error = await work.then(
      () => new Error('the request was accepted'),
      (reason) => reason,
    );
    expect(error).to.be.instanceOf(ApiError);
    return error;
  };

  it('creates a subscribed contact and returns it', async () => {
    const { access, id } = await makeProject(db);
    const { contact, isNew } = await saveContact(db, access, { email, data: { plan: 'pro' } });
    expect(isNew).to.equal(true);
    expect(contact).to.deep.include({ email, subscribed: true, data: { plan: 'pro' } });
    expect(contact.createdAt).to.deep.equal(contact.updatedAt);
    expect(await storedContacts(db, { projectId: id, id: contact.id })).to.have.lengthOf(1);
    expect(await recordedEvents(id)).to.deep.equal([]);
  });

  it('changes an existing contact, keeps its subscription, and returns the new state', async () => {
    const { access, id } = await makeProject(db);
    const first = await saveContact(db, access, { email, subscribed: false, data: { keep: 1, drop: 2 } });
    const second = await saveContact(db, access, { email, data: { drop: null, add: 3 } });
    expect(second.isNew).to.equal(false);
    expect(second.contact.id).to.equal(first.contact.id);
    expect(second.contact).to.deep.include({ subscribed: false, data: { keep: 1, add: 3 } });
    expect(second.contact.updatedAt.getTime()).to.be.at.least(first.contact.updatedAt.getTime());
    expect(await recordedEvents(id)).to.deep.equal([]);
  });

  it('keeps updatedAt when nothing changes', async () => {
    const { access } = await makeProject(db);
    const first = await saveContact(db, access, { email, data: { a: 1 } });
    const second = await saveContact(db, access, { email, subscribed: true, data: { a: 1 } });
    expect(second.contact.updatedAt).to.deep.equal(first.contact.updatedAt);
  });

  it('records one event for each change of subscription', async () => {
    const { access, id } = await makeProject(db);
    const { contact } = await saveContact(db, access, { email });
    await saveContact(db, access, { email, subscribed: false });
    await saveContact(db, access, { email, subscribed: false });
    await updateContact(db, access, contact.id, { subscribed: true });
    await updateContact(db, access, contact.id, { subscribed: true });
    await updateContact(db, access, contact.id, { email: 'anna@example.com', subscribed: false });
    expect(await recordedEvents(id)).to.deep.equal([
      'contact.unsubscribed',
      'contact.subscribed',
      'contact.unsubscribed',
    ]);
  });

  it('records one event when ten requests make the same change concurrently', async () => {
    const { access, id } = await makeProject(db);
    const { contact } = await saveContact(db, access, { email });
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        n % 2
          ? updateContact(db, access, contact.id, { subscribed: false })
          : saveContact(db, access, { email, subscribed: false }),
      ),
    );
    expect(await recordedEvents(id)).to.deep.equal(['contact.unsubscribed']);
  });

  it('creates one contact and loses no key when many operations write concurrently', async () => {
    const { access, id } = await makeProject(db);
    const writes = Array.from({ length: 24 }, (_, n) => {
      const data = { [`k${n}`]: n };
      return n % 2 ? saveContact(db, access, { email, data }) : trackEvent(db, access, { email, event: 'e', data });
    });
    await Promise.all(writes);
    const [contact, ...others] = await storedContacts(db, { projectId: id });
    expect(others).to.deep.equal([]);
    await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        updateContact(db, access, contact.id, { data: { [`p${n}`]: n, [`k${n}`]: null } }),
      ),
    );
    const after = await contactById(db, contact.id);
    expect(Object.keys(after.data)).to.have.members(Array.from({ length: 24 }, (_, n) => `p${n}`));
  });

  describe('by its id', () => {
    it('changes only what is given', async () => {
      const { access } = await makeProject(db);
      const { contact } = await saveContact(db, access, { email, subscribed: false, data: { a: 1 } });
      const same = await updateContact(db, access, contact.id, {});
      expect(same).to.deep.equal(contact);
      const moved = await updateContact(db, access, contact.id, { email: 'anna@example.com' });
      expect(moved).to.deep.include({ id: contact.id, email: 'anna@example.com', subscribed: false, data: { a: 1 } });
      expect(moved.updatedAt.getTime()).to.be.greaterThan(contact.updatedAt.getTime());
    });

    it('rejects the address of another contact with 409 and changes nothing', async () => {
      const { access } = await makeProject(db);
      const elsewhere = await makeProject(db);
      await saveContact(db, elsewhere.access, { email: 'bob@example.com' });
      const { contact } = await saveContact(db, access, { email });
      await updateContact(db, access, contact.id, { email: 'bob@example.com' });
      await saveContact(db, access, { email });
      const error = await refusal(updateContact(db, access, contact.id, { email, data: { a: 1 } }));
      expect(error).to.include({ status: 409, code: 'CONFLICT' });
      expect((await contactById(db, contact.id)).data).to.deep.equal({});
    });

    it('gives an address to one of eight concurrent requests and rejects the others with 409', async () => {
      const { access, id } = await makeProject(db);
      const contacts = await Promise.all(
        Array.from({ length: 8 }, (_, n) => saveContact(db, access, { email: `c${n}@example.com` })),
      );
      const results = await Promise.allSettled(
        contacts.map(({ contact }) => updateContact(db, access, contact.id, { email: 'wanted@example.com' })),
      );
      const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(refused).to.have.lengthOf(7);
      for (const error of refused) expect(error).to.be.instanceOf(ApiError).and.include({ status: 409 });
      expect(await storedContacts(db, { projectId: id, email: 'wanted@example.com' })).to.have.lengthOf(1);
    });

    it('rejects concurrent swaps of two addresses with 409, never with a deadlock', async () => {
      const { access } = await makeProject(db);
      const { contact: a } = await saveContact(db, access, { email: 'a@example.com' });
      const { contact: b } = await saveContact(db, access, { email: 'b@example.com' });
      const results = await Promise.allSettled([
        updateContact(db, access, a.id, { email: 'b@example.com' }),
        updateContact(db, access, b.id, { email: 'a@example.com' }),
      ]);
      for (const result of results) if (result.status === 'rejected') expect(result.reason).to.include({ status: 409 });
      expect(results.map(({ status }) => status)).to.include('rejected');
    });

    it('answers 404 for an unknown id and for a contact of another project', async () => {
      const { access } = await makeProject(db);
      const elsewhere = await makeProject(db);
      const { contact } = await saveContact(db, elsewhere.access, { email });
      for (const id of [newId(), contact.id])
        expect(await refusal(updateContact(db, access, id, { subscribed: false }))).to.include({
          status: 404,
          code: 'CONTACT_NOT_FOUND',
        });
    });
  });

  describe('data over 128 KB', () => {
    const part = (name: string) => ({ [name]: 'x'.repeat(60_000) });

    it('is rejected with 422 by every operation, and stored data stays', async () => {
      const { access } = await makeProject(db);
      await saveContact(db, access, { email, data: part('a') });
      const { contact } = await saveContact(db, access, { email, data: part('b') });
      for (const work of [
        () => saveContact(db, access, { email, data: part('c') }),
        () => updateContact(db, access, contact.id, { data: part('c') }),
        () => trackEvent(db, access, { email, event: 'e', data: part('c') }),
      ]) {
        const error = await refusal(work());
        expect(error).to.include({ status: 422, code: 'VALIDATION_ERROR' });
        expect(error.extras.errors?.[0]).to.include({ field: 'data', code: 'too_big' });
      }
      expect(Object.keys((await contactById(db, contact.id)).data)).to.have.members(['a', 'b']);
      await updateContact(db, access, contact.id, { data: { a: null, ...part('c') } });
    });

    it('is not reached by the largest request of 64 KB', async () => {
      const { access } = await makeProject(db);
      const data = Object.fromEntries(Array.from({ length: 5_200 }, (_, n) => [`k${n}`, n]));
      expect(Buffer.byteLength(JSON.stringify(data))).to.be.lessThan(64 * 1024);
      const { contact } = await saveContact(db, access, { email, data });
      expect(Object.keys(contact.data)).to.have.lengthOf(5_200);
    });
  });

  it('answers 401 for a replaced key and 403 for a disabled project', async () => {
    const { access, id } = await makeProject(db);
    const { contact } = await saveContact(db, access, { email });
    await setProject(db, id, { disabled: true, disabledReason: 'too many bounces' });
    expect(await refusal(saveContact(db, access, { email }))).to.include({ status: 403, code: 'PROJECT_DISABLED' });
    expect(await refusal(updateContact(db, access, contact.id, {}))).to.include({ status: 403 });
    await setProject(db, id, { disabled: false });
    await regenerateKeys(db, id);
    expect(await refusal(saveContact(db, access, { email }))).to.include({ status: 401, code: 'INVALID_API_KEY' });
    expect(await refusal(updateContact(db, access, contact.id, {}))).to.include({ status: 401 });
  });
});
