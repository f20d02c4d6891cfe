import type { AuditEntry } from '../../services/audit/list.ts';
import { dateTime, namedType, nullable, object, oneOf, record, text, uuid } from '../http/schemas.ts';

export const auditEntrySchema = namedType('AuditEntry', 'An entry of the audit log.', {
  id: uuid().description('Entry ID.'),
  at: dateTime().description('When it happened.'),
  actor: object({
    type: oneOf('USER', 'KEY', 'SYSTEM').description('Kind of actor.'),
    id: nullable(uuid()).description(
      'User ID or key ID. The project ID stands for the secret key; null for SYSTEM and unknown users.',
    ),
    name: nullable(text())
      .description('Email address of the user, name of the key, or `System`; null if they no longer exist.')
      .example('ann@example.com'),
  }).description('Who did it.'),
  ip: nullable(text()).description('IP address of the request; null if there was none.'),
  requestId: nullable(text()).description('Request ID; null if there was no request.'),
  action: text().description('What was done.').example('campaign.updated'),
  target: nullable(
    object({
      type: text().description('Kind of resource.').example('campaign'),
      id: nullable(text())
        .description('Resource ID; null if the action concerns several resources.')
        .example('01928c7e-0000-7000-8000-000000000002'),
      name: nullable(text()).description('Current or last known name; null if there is none.'),
    }),
  ).description('What it was done to; null if nothing in particular.'),
  changes: record()
    .description('Changes by field: `{ from, to }`, or `{ changed: true }` for long, secret and personal values.')
    .example({ name: { from: 'Spring news', to: 'Summer news' } }),
});

export const presentAuditEntry = ({ at, ...entry }: AuditEntry) => ({ ...entry, at: at.toISOString() });
