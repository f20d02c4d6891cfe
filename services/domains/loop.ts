import type { Db } from '../../db/connect.ts';
import type { Domain } from '../../db/models/domain.ts';
import { workflowIds } from '../outbox/ids.ts';
import { writeOutboxMessage } from '../outbox/write.ts';

export type DomainRef = Pick<Domain, 'id' | 'projectId' | 'generation'>;

/** Describes the Temporal workflow that checks a domain. */
export const loopOf = ({ id, projectId, generation }: DomainRef) => ({
  workflowType: 'domain' as const,
  workflowId: workflowIds.domain(projectId, id, generation),
  args: [{ domainId: id, generation }],
  projectId,
  resourceId: id,
});

/** Call it in the transaction that writes the domain's row. */
export async function startLoop(trx: Db, domain: DomainRef): Promise<void> {
  await writeOutboxMessage(trx, { queue: 'control', action: 'start', ...loopOf(domain) });
}

export async function endLoop(trx: Db, domain: DomainRef): Promise<void> {
  const { workflowId, projectId } = loopOf(domain);
  await writeOutboxMessage(trx, { queue: 'control', action: 'cancel', workflowId, projectId });
}
