// Compares what happened with the answers that customers got.
import type { CheckContext, CheckRow } from './check.ts';
import { checkCampaigns } from './check-campaigns.ts';
import { checkChoices, checkTopicCounts, checkTopicMails } from './check-choices.ts';
import { checkContacts, checkSegments } from './check-contacts.ts';
import { checkCounters } from './check-counters.ts';
import { checkForms } from './check-forms.ts';
import { checkMails, checkSends } from './check-mails.ts';
import { checkOpenWorkflows, checkProcesses } from './check-processes.ts';
import { checkExecutions, checkWebhooks } from './check-workflows.ts';

const checks: ((context: CheckContext) => Promise<CheckRow>)[] = [
  checkSends,
  checkMails,
  checkTracks,
  checkCampaigns,
  checkExecutions,
  checkWebhooks,
  checkContacts,
  checkSegments,
  checkTopicMails,
  checkChoices,
  checkTopicCounts,
  checkForms,
  checkCounters,
  checkOpenWorkflows,
  checkProcesses,
  checkAnswers,
];

export async function checkAll(context: CheckContext): Promise<CheckRow[]> {
  const rows: CheckRow[] = [];
  for (const check of checks) rows.push(await check(context));
  return rows;
}

/** Exactly one event for what was accepted, at most one for what is unknown, none for what was rejected. */
async function checkTracks({ db, recorder }: CheckContext): Promise<CheckRow> {
  const { rows } = await db.raw(
    `select c.email, e.name, array_agg(e.id::text) as ids from events e join contacts c on c.id = e.contact_id
     where e.name in ('looked', 'bought', 'joined') group by c.email, e.name`,
  );
  const found = new Map<string, string[]>(
    rows.map((row: { email: string; name: string; ids: string[] }) => [`${row.name} ${row.email}`, row.ids]),
  );
  const violations: string[] = [];
  for (const { email, event, outcome, eventId } of recorder.tracks) {
    const ids = found.get(`${event} ${email}`) ?? [];
    found.delete(`${event} ${email}`);
    const isRight =
      outcome === 'accepted' ? ids.length === 1 && ids[0] === eventId : ids.length <= (outcome === 'unknown' ? 1 : 0);
    if (!isRight)
      violations.push(`${event} of ${email}, ${outcome}: events ${ids.join(', ') || 'none'}, answered ${eventId}`);
  }
  for (const key of found.keys()) violations.push(`nobody tracked ${key}`);
  return { what: 'events once', checked: `${recorder.tracks.length} tracks`, violations };
}

async function checkAnswers({ recorder }: CheckContext): Promise<CheckRow> {
  const requests = [...recorder.operations.values()].reduce(
    (sum, { accepted, rejected, unknown }) => sum + accepted + rejected + unknown,
    0,
  );
  const violations = [...recorder.unexpected].map(([what, count]) => `${count} times ${what}`);
  // A kind of operation that never succeeds proves nothing. Steps of a campaign may come too late and be refused.
  for (const [name, { accepted }] of recorder.operations)
    if (accepted === 0 && !name.includes(':')) violations.push(`no ${name} was accepted`);
  return { what: 'no 5xx but 503', checked: `${requests} operations`, violations };
}
