import type { Db } from '../../db/connect.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { currentSealPrefix, SealError } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import type { Data } from '../contacts/data.ts';
import type { Graph } from './graph.ts';
import { hasPlainHeaders, openHeaders, sealHeaders } from './sealed-headers.ts';
import { stepTypeNames, stepTypeOf, stepTypes } from './steps/index.ts';

const CHUNK = 100;

interface Row {
  /** Sorts and finds the row. */
  key: string;
  projectId: string;
  value: Data;
}

const webhookTypes = stepTypeNames.filter((type) => stepTypes[type].callsWebhook);

const NIL = '00000000-0000-0000-0000-000000000000';

/** A table with sealed headers. */
interface Source {
  /** Sorts before every key. */
  first: string;
  /** Selects a page of rows that may have headers, after the key `$1`. */
  page: Statement<Row>;
  /** Writes what was sealed (`$2`) to the row with the key `$1` if it is still as it was read (`$3`). */
  write: Statement<unknown>;
  reseal(value: Data, reseal: (holder: Data) => Data): Data;
}

const resealGraph: Source['reseal'] = (graph, reseal) => ({
  ...graph,
  steps: (graph as unknown as Graph).steps.map((step) =>
    stepTypeOf(step).callsWebhook ? { ...step, config: reseal(step.config) } : step,
  ),
});

const sources: Source[] = [
  {
    first: `${NIL} 0`,
    page: statement(
      'reseal-versions-page',
      `select v.workflow_id || ' ' || v.version as key, w.project_id, v.graph as value
      from workflow_versions v join workflows w on w.id = v.workflow_id
      where (${webhookTypes.map((type) => `v.graph @> '{"steps": [{"type": "${type}"}]}'`).join(' or ')})
        and (v.workflow_id, v.version) > (split_part($1, ' ', 1)::uuid, split_part($1, ' ', 2)::integer)
      order by v.workflow_id, v.version limit ${CHUNK}`,
    ),
    write: statement(
      'reseal-versions-write',
      `update workflow_versions set graph = $2::jsonb
      where workflow_id = split_part($1, ' ', 1)::uuid and version = split_part($1, ' ', 2)::integer
        and graph = $3::jsonb`,
    ),
    reseal: resealGraph,
  },
  {
    first: NIL,
    page: statement(
      'reseal-drafts-page',
      `select workflow_id::text as key, project_id, graph as value from workflow_drafts
      where workflow_id > $1::uuid order by workflow_id limit ${CHUNK}`,
    ),
    write: statement(
      'reseal-drafts-write',
      'update workflow_drafts set graph = $2::jsonb where workflow_id = $1::uuid and graph = $3::jsonb',
    ),
    reseal: resealGraph,
  },
  {
    first: NIL,
    page: statement(
      'reseal-requests-page',
      `select id::text as key, project_id, request as value from execution_steps
      where request is not null and id > $1::uuid order by id limit ${CHUNK}`,
    ),
    write: statement(
      'reseal-requests-write',
      'update execution_steps set request = $2::jsonb where id = $1::uuid and request = $3::jsonb',
    ),
    reseal: (request, reseal) => reseal(request),
  },
];

/**
 * Seals webhook headers that an older version stored as plain text or that were sealed with an older key. Returns how many
 * rows were written. Leaves headers that no key opens to the operator.
 */
export async function resealHeaders(db: Db, keys: SigningKeys): Promise<number> {
  let resealed = 0;
  for (const source of sources) resealed += await resealSource(db, keys, source);
  return resealed;
}

async function resealSource(db: Db, keys: SigningKeys, { first, page, write, reseal }: Source): Promise<number> {
  let written = 0;
  for (let after = first; ; ) {
    const rows = await page(db, [after]);
    for (const { key, projectId, value } of rows) {
      const sealed = JSON.stringify(reseal(value, (holder) => resealHolder(keys, projectId, holder)));
      const before = JSON.stringify(value);
      // Writes only if the row is unchanged: an edit may have replaced it meanwhile.
      if (sealed !== before) written += await write.count(db, [key, sealed, before]);
      after = key;
    }
    if (rows.length < CHUNK) return written;
  }
}

/** Returns the same object when there is nothing to do. */
function resealHolder(keys: SigningKeys, projectId: string, holder: Data): Data {
  const { sealedHeaders } = holder;
  const isCurrent =
    typeof sealedHeaders === 'string' ? sealedHeaders.startsWith(currentSealPrefix(keys)) : !hasPlainHeaders(holder);
  if (isCurrent) return holder;
  try {
    return sealHeaders(keys, projectId, openHeaders(keys, projectId, holder));
  } catch (error) {
    if (error instanceof SealError) return holder;
    throw error;
  }
}
