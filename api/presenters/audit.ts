import type { AuditEntry } from '../../services/audit/list.ts';
import { dateTime, nullable, object, oneOf, record, text, uuid } from '../http/schemas.ts';

export const auditEntrySchema = object({
  id: uuid(),
  at: dateTime(),
  /** `name` is an address, the name of a key, or null once they are gone. */
  actor: object({ type: oneOf('USER', 'KEY', 'SYSTEM'), id: nullable(uuid()), name: nullable(text()) }),
  ip: nullable(text()),
  requestId: nullable(text()),
  action: text(),
  target: nullable(object({ type: text(), id: nullable(text()), name: nullable(text()) })),
  /** By field: `{ from, to }`, or `{ changed: true }` for long values and secrets. */
  changes: record(),
});

export const presentAuditEntry = ({ at, ...entry }: AuditEntry) => ({ ...entry, at: at.toISOString() });
