import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';
import { BaseModel } from './base.ts';

/** Settings of the pages that recipients see. */
export class ProjectPages extends BaseModel {
  static override tableName = 'project_pages';
  static override idColumn = 'projectId';

  declare projectId: string;
  declare fromEmail: string | null;
  declare senderName: string | null;
  declare logoKey: string | null;
  declare color: string | null;
  declare css: string | null;
  declare imprint: string | null;
  declare privacyUrl: string | null;
  declare updatedAt: Date;
}

export interface PagesSender {
  email: string;
  name: string | null;
}

const read = statement<{ email: string; name: string | null }>(
  'pages-sender',
  'select from_email as email, sender_name as name from project_pages where project_id = $1 and from_email is not null',
);

/** Returns the sender of confirmations and links that have none of their own; undefined where the project set none. */
export async function findSender(db: Db, projectId: string): Promise<PagesSender | undefined> {
  const [sender] = await read(db, [projectId]);
  return sender;
}
