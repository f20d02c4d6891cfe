import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import type { MailAttachment } from '../../platform/mime/compose.ts';

interface AttachmentRow {
  filename: string;
  contentType: string;
  contentId: string | null;
  disposition: MailAttachment['disposition'];
  content: Buffer;
}

const readSet = statement<AttachmentRow>(
  'attachments-of',
  `select filename, content_type, content_id, disposition, content from email_attachments
   where set_id = $1 order by position`,
);

/** Reads the files of a mail. Called right before sending, because they can be ten megabytes. */
export async function attachmentsOf(db: Db, setId: string): Promise<MailAttachment[]> {
  const rows = await readSet(db, [setId]);
  return rows.map(({ filename, contentType, contentId, disposition, content }) => ({
    filename,
    contentType,
    contentId,
    disposition,
    content,
  }));
}

const storeOne = statement(
  'attachment-store',
  `insert into email_attachments (set_id, position, filename, content_type, content_id, disposition, content)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);

/** Stores files one by one, because array parameters would be sent as text of twice the size. Returns the set's id. */
export async function storeAttachments(trx: Db, attachments: MailAttachment[]): Promise<string> {
  const setId = newId();
  for (const [position, { filename, contentType, contentId, disposition, content }] of attachments.entries())
    await storeOne(trx, [setId, position, filename, contentType, contentId, disposition, content]);
  return setId;
}
