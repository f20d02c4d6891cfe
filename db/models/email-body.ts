import { createHash } from 'node:crypto';

const MONTH_PREFIX = 12;

export interface BodyContent {
  html: string;
  headers?: Record<string, string> | null | undefined;
}

/**
 * Returns the id of a body that many mails share, such as that of a template: the same for the same content of a project in
 * the month of the mail. It starts with the first millisecond of that month, like the ids of mails with their own, so
 * that mail and body belong to the partitions of one month. The rest is a hash (UUIDv8).
 */
export function sharedBodyId(mailId: string, projectId: string, { html, headers }: BodyContent): string {
  const hash = createHash('sha256')
    .update(`${projectId}\n${JSON.stringify(headers ?? null)}\n${html}`)
    .digest('hex');
  const time = firstOfMonth(mailId).toString(16).padStart(MONTH_PREFIX, '0');
  const variant = (8 | (Number.parseInt(hash[3] ?? '0', 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-8${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

function firstOfMonth(mailId: string): number {
  const at = new Date(Number.parseInt(mailId.replace('-', '').slice(0, MONTH_PREFIX), 16));
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
}
