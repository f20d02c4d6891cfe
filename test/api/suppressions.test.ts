import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { writeContacts } from '../../services/contacts/write.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { recordNotices } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { readEventsOfContact, readEventsOfMail } from '../support/reading.ts';
import { markSent, waitingNotices } from '../support/rows/mails.ts';
import { eraseSuppressedAddress, storedSuppressions } from '../support/rows/projects.ts';
import { eventually } from '../support/waiting.ts';

describeApi('the suppression list', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const send = async (to: string, by = project): Promise<string> => {
    const mail = { to, from: `shop@${by.senderDomain}`, subject: 'Hi', body: 'Hi', subscribed: true };
    const answer = await by.server.post('/v1/send', mail);
    expect(answer).to.have.status(200);
    return answer.body.data.emails[0].email;
  };
  /** A mail in the state after delivery. */
  const sent = async (to: string, by = project): Promise<string> => {
    const id = await send(to, by);
    await markSent(api.db, id);
    return id;
  };
  const applyNotice = async (id: string, kind: 'bounce' | 'complaint', bounceType?: 'Permanent' | 'Transient') => {
    await recordNotices(api.db, [{ mail: { id }, kind, bounceType }]);
    await eventually(async () => (await applyNotices(api.db)) >= 0 && !(await waiting(id)));
  };
  const waiting = async (id: string) => (await waitingNotices(api.db, { emailId: id })).length > 0;
  const listed = async (query = '') => (await project.server.get(`/suppressions${query}`)).body;
  const contact = async (email: string) =>
    (await project.server.get(`/contacts?search=${encodeURIComponent(email)}`)).body.data[0];

  it('finds addresses by a part, by the whole even after its contact was deleted, and by reason', async () => {
    for (const email of ['ann@one.example', 'bob@one.example', 'joann@two.example'])
      expect(await project.server.post('/suppressions', { email })).to.have.status(201);
    await project.server.post('/suppressions', { email: 'bob@one.example', reason: 'HARD_BOUNCE' });
    const found = async (query: string) => {
      const { data, total } = await listed(query);
      expect(total).to.equal(data.length);
      return data.map(({ email }: { email: string | null }) => email);
    };
    expect(await found('?search=ANN%40')).to.deep.equal(['joann@two.example', 'ann@one.example']);
    expect(await found('?search=%25')).to.deep.equal([]);
    expect(await found('?reason=HARD_BOUNCE')).to.deep.equal(['bob@one.example']);
    expect(await found('?reason=HARD_BOUNCE&search=ann')).to.deep.equal([]);
    const first = await listed('?search=example&limit=2');
    expect(first).to.include({ total: 3, hasMore: true });
    expect((await listed(`?search=example&limit=2&cursor=${first.cursor}`)).data).to.have.length(1);
    expect(await project.server.get(`/suppressions?search=other&cursor=${first.cursor}`)).to.have.status(400);
    await eraseSuppressedAddress(api.db, 'bob@one.example');
    expect(await found('?search=bob%40one.example')).to.deep.equal([null]);
    expect(await project.server.get('/suppressions?reason=OTHER')).to.have.status(400);
  });

  it('lists addresses that hard-bounced or complained, newest first, and unsubscribes their contacts', async () => {
    const bounced = await sent('a@x.example');
    const complained = await sent('b@x.example');
    const soft = await sent('c@x.example');
    await applyNotice(bounced, 'bounce', 'Permanent');
    await applyNotice(complained, 'complaint');
    await applyNotice(soft, 'bounce', 'Transient');
    const page = await listed();
    expect(page).to.include({ hasMore: false, total: 2, cursor: null });
    expect(
      page.data.map(({ id: _, createdAt: __, ...shown }: { id: string; createdAt: string }) => shown),
    ).to.deep.equal([
      { email: 'b@x.example', reason: 'COMPLAINT', note: null, emailId: complained },
      { email: 'a@x.example', reason: 'HARD_BOUNCE', note: null, emailId: bounced },
    ]);
    expect(await contact('a@x.example')).to.include({ subscribed: false });
    expect(await contact('b@x.example')).to.include({ subscribed: false });
    expect(await contact('c@x.example')).to.include({ subscribed: true });
  });

  it('replaces a complaint by a hard bounce, and never the reverse', async () => {
    const first = await sent('d@x.example');
    const second = await sent('d@x.example');
    const third = await sent('d@x.example');
    await applyNotice(first, 'complaint');
    await applyNotice(second, 'bounce', 'Permanent');
    await applyNotice(third, 'complaint');
    const { data } = await listed();
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ reason: 'HARD_BOUNCE', emailId: second });
  });

  it('is paged with its own cursors', async () => {
    for (const name of ['one', 'two', 'three'])
      await applyNotice(await sent(`${name}@x.example`), 'bounce', 'Permanent');
    const first = await listed('?limit=2');
    expect(first).to.include({ hasMore: true, total: 3 });
    const rest = await listed(`?limit=2&cursor=${first.cursor}`);
    expect(rest).to.include({ hasMore: false, total: 0 });
    expect([...first.data, ...rest.data].map(({ email }) => email)).to.deep.equal([
      'three@x.example',
      'two@x.example',
      'one@x.example',
    ]);
    expect(await project.server.get('/suppressions?cursor=made-up')).to.be.envelope(400, 'BAD_REQUEST');
    const other = await api.project();
    expect(await other.server.get(`/suppressions?cursor=${first.cursor}`)).to.be.envelope(400, 'BAD_REQUEST');
    expect((await other.server.get('/suppressions')).body.data).to.deep.equal([]);
  });

  it('records mail to a hard-bounced address as FAILED, with its event', async () => {
    await applyNotice(await sent('gone@x.example'), 'bounce', 'Permanent');
    await applyNotice(await sent('cross@x.example'), 'complaint');
    const id = await send('Gone@X.example');
    expect((await project.server.get(`/emails/${id}`)).body).to.include({ status: 'FAILED', reason: 'suppressed' });
    expect((await project.server.get(`/emails/${await send('cross@x.example')}`)).body).to.include({
      status: 'PENDING',
    });
    await eventually(async () => (await publishResults(api.db)) >= 0 && (await eventsOf(id)).length > 0);
    expect((await eventsOf(id))[0]).to.include({ name: 'email.failed' });
    // The suppression does not apply to another project.
    const other = await api.project();
    const theirs = await send('gone@x.example', other);
    expect((await other.server.get(`/emails/${theirs}`)).body).to.include({ status: 'PENDING' });
  });
  const eventsOf = (emailId: string) => readEventsOfMail(project, emailId);

  it('keeps only a hash after the contact is deleted, and unsubscribes the address when it returns', async () => {
    await applyNotice(await sent('back@x.example'), 'complaint');
    const { id } = await contact('back@x.example');
    expect(await project.server.delete(`/contacts/${id}`)).to.have.status(204);
    const { data } = await listed();
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ email: null, reason: 'COMPLAINT' });
    const rows = await storedSuppressions(api.db, { projectId: project.id });
    expect(JSON.stringify(rows)).to.not.contain('back@x.example');

    const again = await project.server.post('/contacts', { email: 'back@x.example', subscribed: true });
    expect(again).to.have.status(201);
    expect(again.body).to.include({ subscribed: false });
    // An explicit change of a known contact still subscribes it.
    const patched = await project.server.patch(`/contacts/${again.body.id}`, { subscribed: true });
    expect(patched.body).to.include({ subscribed: true });
  });

  it('applies to imports and every other way of creating contacts', async () => {
    for (const name of ['i1', 'i2', 'i3']) {
      await applyNotice(await sent(`${name}@x.example`), 'bounce', 'Permanent');
      const { id } = await contact(`${name}@x.example`);
      await project.server.delete(`/contacts/${id}`);
    }
    await writeContacts(api.db, project.id, [
      { email: 'i1@x.example', subscribedWhenNew: true, patch: {}, deletes: [] },
      { email: 'new@x.example', subscribedWhenNew: true, patch: {}, deletes: [] },
    ]);
    await send('i2@x.example');
    await project.browser.post('/v1/track', { email: 'i3@x.example', event: 'visit', subscribed: true });
    for (const name of ['i1', 'i2', 'i3'])
      expect(await contact(`${name}@x.example`), name).to.include({ subscribed: false });
    expect(await contact('new@x.example')).to.include({ subscribed: true });
  });

  it('unsubscribes a contact that changes to a listed address, with the event', async () => {
    await applyNotice(await sent('old@x.example'), 'complaint');
    const created = await project.server.post('/contacts', { email: 'mover@x.example', subscribed: true });
    const { id } = await contact('old@x.example');
    await project.server.delete(`/contacts/${id}`);
    const moved = await project.server.patch(`/contacts/${created.body.id}`, { email: 'old@x.example' });
    expect(moved.body).to.include({ email: 'old@x.example', subscribed: false });
    const events = await readEventsOfContact(project, created.body.id);
    expect(events.map(({ name, data }) => [name, data.reason])).to.deep.equal([['contact.unsubscribed', 'suppressed']]);
  });

  describe('DELETE /suppressions/:email', () => {
    it('allows mail to the address again, also after the contact was deleted', async () => {
      await applyNotice(await sent('fixed@x.example'), 'bounce', 'Permanent');
      const { id } = await contact('fixed@x.example');
      await project.server.delete(`/contacts/${id}`);
      expect(await project.server.delete('/suppressions/Fixed%40X.example')).to.have.status(204);
      expect((await listed()).data).to.deep.equal([]);
      const mail = await send('fixed@x.example');
      expect((await project.server.get(`/emails/${mail}`)).body).to.include({ status: 'PENDING' });
    });

    it('answers 404 to an address that is not listed, or listed by another project', async () => {
      await applyNotice(await sent('theirs@x.example'), 'bounce', 'Permanent');
      const other = await api.project();
      for (const email of ['theirs@x.example', 'nobody@x.example', 'no-address', newId()])
        expect(await other.server.delete(`/suppressions/${email}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect((await listed()).total).to.equal(1);
    });
  });
});
