import { compact, dayOf, type RawSearch, textOf } from '../../search-params.ts';

export interface AuditSearch {
  /** USER, KEY, SYSTEM, or the id of a user or key. */
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  /** Days, as YYYY-MM-DD. */
  from?: string | undefined;
  to?: string | undefined;
}

export const auditSearch = (raw: RawSearch): AuditSearch =>
  compact({
    actor: textOf(raw.actor),
    action: textOf(raw.action),
    target: textOf(raw.target),
    from: dayOf(raw.from),
    to: dayOf(raw.to),
  });
