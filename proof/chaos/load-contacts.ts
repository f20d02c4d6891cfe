import { addressOf } from './addresses.ts';
import type { LoadContext } from './load-context.ts';

const ROWS = 200;

/** Uploads a file of new contacts. Not repeated: a second upload would be a second job. */
export async function importContacts({ client, recorder, next }: LoadContext): Promise<void> {
  const file = next();
  const emails = Array.from({ length: ROWS }, (_, row) => addressOf(`import${file}-`, row));
  const form = new FormData();
  const rows = emails.map((email, row) => `${email},${row}`);
  form.set('file', new Blob([`email,row\n${rows.join('\n')}\n`], { type: 'text/csv' }), 'contacts.csv');
  const reply = await client.call('POST', '/contacts/import', form);
  recorder.imports.push({ outcome: reply.outcome, jobId: reply.body?.jobId, emails });
  recorder.count('import', reply.outcome);
}

/** Changes contacts that no other operation uses. */
export async function runBulkJob({ client, recorder, random, setup }: LoadContext): Promise<void> {
  const contactIds = setup.bulkContacts.splice(0, 20);
  if (contactIds.length === 0) return;
  const action = random.pick(['subscribe', 'unsubscribe', 'delete'] as const);
  const reply = await client.call('POST', `/contacts/bulk-${action}`, { contactIds });
  recorder.bulks.push({ outcome: reply.outcome, jobId: reply.body?.jobId, action, contactIds });
  recorder.count('bulk job', reply.outcome);
}

export async function deleteOne({ client, recorder, setup }: LoadContext): Promise<void> {
  const id = setup.contactsToDelete.pop();
  if (!id) return;
  const reply = await client.insist('DELETE', `/contacts/${id}`);
  // The answer to a first request may have been lost.
  const isGone = reply.outcome === 'accepted' || reply.status === 404;
  if (isGone) recorder.deleted.add(id);
  recorder.count('delete', isGone ? 'accepted' : reply.outcome);
}

/** Moves a contact into or out of the tracked segment, or leaves it where it is. */
export async function changeScore({ client, recorder, random, setup }: LoadContext): Promise<void> {
  const email = setup.scored.splice(random.between(0, setup.scored.length - 1), 1)[0];
  if (!email) return;
  const score = random.between(0, 100);
  const reply = await client.insist('POST', '/contacts', { email, data: { score } });
  recorder.scores.set(email, reply.outcome === 'accepted' ? score : undefined);
  recorder.count('score', reply.outcome);
  // Back in the pool: one customer at a time changes a contact, so the last score is certain.
  setup.scored.push(email);
}
