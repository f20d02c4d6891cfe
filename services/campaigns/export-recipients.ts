import { Readable } from 'node:stream';
import type { Db } from '../../db/connect.ts';
import { readCampaignLinks } from '../../db/models/mail-counts.ts';
import { csvLines } from '../../platform/csv-lines.ts';
import { LOWEST_ID } from '../../platform/ids.ts';
import { heavyWork } from '../access/heavy-work.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { recordAudit } from '../audit/record.ts';
import { findCampaign } from './find.ts';
import { type Recipient, type RecipientFilter, readMatchingRecipients, requireSensible } from './recipients.ts';

const MAX_ROWS = 1_000;
const MAX_LINKS = 1_000;
const EXPORT_WAIT_MS = 600_000;

const header = [
  'email',
  'status',
  'reason',
  'sentAt',
  'openedAt',
  'clickedAt',
  'bouncedAt',
  'links',
  'contactId',
  'emailId',
];

/** Records the export, then returns the recipients as CSV. Reads page by page, as fast as the client does. */
export async function exportRecipients(
  db: Db,
  project: ProjectAccess,
  id: string,
  filter: RecipientFilter,
): Promise<Readable> {
  requireSensible(filter);
  const { projectId } = project;
  const campaign = await findCampaign(db, projectId, id);
  await recordAudit(db, project, { action: 'campaign.recipients_exported', target: { type: 'campaign', id } });
  const links = new Map((await readCampaignLinks(db, id, MAX_LINKS)).map(({ linkId, link }) => [linkId, link]));
  const recipients = { projectId, id, isCancelled: campaign.status === 'CANCELLED', filter };
  const lineOf = (recipient: Recipient) => [
    recipient.email,
    recipient.status,
    recipient.reason,
    recipient.sentAt,
    recipient.openedAt,
    recipient.clickedAt,
    recipient.bouncedAt,
    recipient.links.map((linkId) => links.get(linkId) ?? linkId).join(' '),
    recipient.contactId,
    recipient.emailId,
  ];
  async function* pages(): AsyncGenerator<string> {
    yield csvLines([header]);
    for (let after: string | undefined = LOWEST_ID; after !== undefined; ) {
      const last: string = after;
      // Waits long, because the response has begun and an error would break the download.
      const read = () => readMatchingRecipients(db, recipients, last, MAX_ROWS);
      const rows = await heavyWork(db, 'read', projectId, read, EXPORT_WAIT_MS);
      if (rows.length > 0) yield csvLines(rows.map(lineOf));
      after = rows.length < MAX_ROWS ? undefined : rows.at(-1)?.emailId;
    }
  }
  return Readable.from(pages(), { objectMode: false });
}
