import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { newId } from '../../platform/ids.ts';

/** A domain that we answer for ourselves (the demo's): verified from the start, outside the DNS checks. */
export async function addManagedDomain(db: Db, projectId: string, domain: string): Promise<Domain> {
  return Domain.query(db).insertAndFetch({
    id: newId(),
    projectId,
    domain,
    status: 'VERIFIED',
    managed: true,
    verifiedAt: new Date(),
  });
}
