import { createHash } from 'node:crypto';
import type { Db } from '../../../db/connect.ts';
import { NO_CAMPAIGN } from '../../../db/models/mail-counts.ts';
import { newId } from '../../../platform/ids.ts';
import { questionId } from '../../../services/conditions/email-results.ts';
import { before } from '../../../services/conditions/instants.ts';
import type { EmailOutcome, EmailQuestion, SubjectEmails } from '../../../services/conditions/types.ts';
import { addMailRows } from '../../support/rows/mails.ts';

/** An email of a contact, with what came of it. */
export interface TestEmail {
  campaign?: string;
  template?: string;
  step?: string;
  status: 'PENDING' | 'SENT' | 'UNKNOWN' | 'FAILED' | 'SKIPPED' | 'CANCELLED';
  reason?: string | undefined;
  createdAt: Date;
  sentAt: Date | null;
  opened: boolean;
  clicked: boolean;
  openedByPerson: boolean;
  clickedByPerson: boolean;
  bounced: 'Permanent' | 'Transient' | undefined;
  complained: boolean;
  unsubscribed: boolean;
  /** Clicked links, and whether a person clicked them; undefined in rows of an earlier version. */
  links: { link: string; human: boolean | undefined }[];
}

const linkId = (link: string): string => createHash('md5').update(link).digest('hex');

/** Inserts the emails of contacts. `timeOf` writes a date as a column. */
export async function insertEmails(
  db: Db,
  projectId: string,
  contacts: { id: string; emails: TestEmail[] }[],
  timeOf: (date: Date, n: number) => string,
): Promise<void> {
  const rows = contacts.flatMap(({ id: contactId, emails }, n) => {
    const when = (is: boolean) => (is ? timeOf(new Date(), n) : null);
    return emails.map((email) => ({ email, row: { ...ledgerRow(email, when), projectId, contactId }, n }));
  });
  if (rows.length === 0) return;
  await addMailRows(
    db,
    rows.map(({ email, row, n }) => ({
      ...row,
      createdAt: timeOf(email.createdAt, n),
      sentAt: email.sentAt && timeOf(email.sentAt, n),
    })),
  );
  const clicks = rows.flatMap(({ email, row }) =>
    email.links.map(({ link, human }) => ({
      projectId,
      campaignId: email.campaign ?? NO_CAMPAIGN,
      linkId: linkId(link),
      emailId: row.id,
      human: human ?? null,
      link,
    })),
  );
  if (clicks.length === 0) return;
  const links = [...new Set(clicks.map(({ link }) => link))].map((link) => ({ projectId, id: linkId(link), link }));
  await db('links').insert(links);
  await db('campaign_link_clicks').insert(clicks.map(({ link: _, ...click }) => click));
}

const ledgerRow = (email: TestEmail, when: (is: boolean) => string | null) => ({
  id: newId(),
  campaignId: email.campaign ?? null,
  templateId: email.template ?? null,
  stepId: email.step ?? null,
  status: email.status,
  reason: email.reason ?? null,
  openedAt: when(email.opened || email.openedByPerson),
  clickedAt: when(email.clicked || email.clickedByPerson),
  humanOpenedAt: when(email.openedByPerson),
  humanClickedAt: when(email.clickedByPerson),
  bouncedAt: when(email.bounced !== undefined),
  bounceType: email.bounced ?? null,
  complainedAt: when(email.complained),
  unsubscribedAt: when(email.unsubscribed),
});

/** The rules of section 4, written a second time for the comparison. */
export const emailsInMemory = (emails: TestEmail[], questions: EmailQuestion[], now: Date): SubjectEmails =>
  new Map(
    questions.map((question) => {
      const asked = inQuestion(emails, question);
      const matching = asked.filter((email) => outcomes[question.outcome](email, question, now)).length;
      return [questionId(question), { received: asked.filter(received).length, matching }];
    }),
  );

function inQuestion(emails: TestEmail[], { source, variant, last }: EmailQuestion): TestEmail[] {
  if (variant !== undefined) return [];
  const all = emails.filter((email) =>
    source.kind === 'campaigns' ? email.campaign !== undefined : email[source.kind] === source.id,
  );
  if (last === undefined) return all;
  // Of equal moments the one that was written last.
  return all
    .filter(received)
    .map((email, n) => ({ email, n }))
    .sort((a, b) => receivedAt(b.email) - receivedAt(a.email) || b.n - a.n)
    .slice(0, last)
    .map(({ email }) => email);
}

const received = ({ status, bounced }: TestEmail): boolean =>
  (status === 'SENT' || status === 'UNKNOWN') && bounced === undefined;

const receivedAt = ({ sentAt, createdAt }: TestEmail): number => (sentAt ?? createdAt).getTime();

const isLink = (link: string, asked: string): boolean =>
  asked.endsWith('*') ? link.startsWith(asked.slice(0, -1)) : link === asked;

const clicked = (email: TestEmail, { link, machine }: EmailQuestion): boolean => {
  if (link === undefined) return email.clickedByPerson || (machine && email.clicked);
  return email.links.some((one) => isLink(one.link, link) && (machine || (one.human ?? email.clickedByPerson)));
};

const limit = ({ span }: EmailQuestion, now: Date): number => before(now, span ?? { amount: 1, unit: 'days' });

const outcomes: Record<EmailOutcome, (email: TestEmail, question: EmailQuestion, now: Date) => boolean> = {
  received,
  opened: (email, { machine }) =>
    email.openedByPerson || email.clickedByPerson || (machine && (email.opened || email.clicked)),
  clicked,
  bounced: ({ bounced }) => bounced !== undefined,
  complained: ({ complained }) => complained,
  unsubscribed: ({ unsubscribed }) => unsubscribed,
  missed: ({ status, bounced, reason }) =>
    status === 'FAILED' || bounced === 'Transient' || (status === 'SKIPPED' && reason === 'frequency cap'),
  heldOut: ({ status, reason }) => status === 'SKIPPED' && reason === 'holdout',
  receivedWithin: (email, question, now) => received(email) && receivedAt(email) >= limit(question, now),
  receivedOlderThan: (email, question, now) => received(email) && receivedAt(email) < limit(question, now),
};
