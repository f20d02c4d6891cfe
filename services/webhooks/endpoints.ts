import type { Db } from '../../db/connect.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { statement } from '../../db/statement.ts';
import { unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { newWebhookSecret } from '../../platform/crypto/standard-webhooks.ts';
import { ApiError, badRequest, notFound } from '../../platform/errors.ts';
import { isWebUrl, LOCAL_TARGET_HINT, targetRefusal } from '../../platform/http/outbound-http.ts';
import { newId } from '../../platform/ids.ts';
import type { Settings } from '../../platform/settings.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { writing } from '../access/write-transaction.ts';
import { type Changes, changesOf, recordAudit } from '../audit/record.ts';
import { cancelWebhookEndpointWorkflow, startWebhookEndpointWorkflow } from '../outbox/webhook-endpoint-run.ts';
import {
  earlierSecrets,
  endpointSecretContext,
  type Headers,
  openEndpointHeaders,
  sealEarlierSecrets,
  sealEndpointHeaders,
  sealSecret,
} from './sealed-secrets.ts';

export type EndpointSettings = Pick<Settings, 'secretKeys' | 'webhookAllowedHosts' | 'limits'>;

export interface EndpointInput {
  url: string;
  types: string[];
  description?: string | null | undefined;
  headers?: Headers | null | undefined;
  ratePerSecond?: number | null | undefined;
  enabled?: boolean | undefined;
}

export interface EndpointWithSecret {
  endpoint: WebhookEndpoint;
  /** Shown once, here. */
  secret: string;
}

/** Stands for the value of a header, which is never shown. A client may send it back to keep the value. */
export const HIDDEN_VALUE = '•••';

const HOUR_MS = 3_600_000;
/** Each adds a signature to every request. */
const MAX_EARLIER_SECRETS = 10;

const tooManySecrets = () =>
  new ApiError(409, 'CONFLICT', `${MAX_EARLIER_SECRETS} earlier secrets of this endpoint are still in use.`, {
    suggestion: 'Rotate with "overlapHours": 0, or wait until one of them expires.',
  });

/** Returns the oldest first. */
export async function listEndpoints(db: Db, projectId: string): Promise<WebhookEndpoint[]> {
  return WebhookEndpoint.query(db).where({ projectId }).orderBy('id');
}

export async function findEndpoint(db: Db, projectId: string, id: string): Promise<WebhookEndpoint> {
  const endpoint = await WebhookEndpoint.query(db).findOne({ projectId, id });
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

export const endpointNotFound = () => notFound('webhook endpoint');

/** Finds an endpoint that is called. */
export async function findEnabledEndpoint(db: Db, projectId: string, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(db, projectId, id);
  if (endpoint.enabled) return endpoint;
  throw new ApiError(
    409,
    'CONFLICT',
    `The endpoint is disabled: ${DISABLED_BECAUSE[endpoint.disabledReason ?? 'person']}.`,
    {
      suggestion: 'Enable it first (PATCH with "enabled": true).',
    },
  );
}

const DISABLED_BECAUSE = {
  gone: 'it responded with 410 Gone',
  failing: 'its deliveries failed for five days',
  person: 'it was disabled by a member or an API key',
};

export async function createEndpoint(
  db: Db,
  project: ProjectAccess,
  { url, types, description = null, headers, ratePerSecond = null, enabled = true }: EndpointInput,
  settings: EndpointSettings,
): Promise<EndpointWithSecret> {
  requireCallable(url, settings);
  const { projectId } = project;
  const { secretKeys, limits } = settings;
  const secret = newWebhookSecret();
  const id = newId();
  const endpoint = await writing(db, project, async (trx) => {
    await requireBelowLimit(trx, { what: 'webhook_endpoints', projectId, max: limits.webhookEndpoints });
    const created = await WebhookEndpoint.query(trx).insertAndFetch({
      id,
      projectId,
      url,
      types: distinct(types),
      description,
      ratePerSecond,
      ...storedHeaders(secretKeys, id, headers ?? {}),
      secret: sealSecret(secretKeys, id, secret),
      enabled,
      disabledAt: enabled ? null : new Date(),
    });
    await renewWantedTypes(trx, projectId);
    await startWebhookEndpointWorkflow(trx, created);
    await recordAudit(trx, project, {
      action: 'webhook_endpoint.created',
      target: targetOf(id),
      changes: shownChanges({}, created),
    });
    return created;
  });
  return { endpoint, secret };
}

/** Enabling clears what failures have left behind. What was queued before continues then. */
export async function updateEndpoint(
  db: Db,
  project: ProjectAccess,
  id: string,
  { url, types, headers, enabled, ...rest }: Partial<EndpointInput>,
  settings: EndpointSettings,
): Promise<WebhookEndpoint> {
  if (url !== undefined) requireCallable(url, settings);
  const { projectId } = project;
  const { secretKeys } = settings;
  return writing(db, project, async (trx) => {
    const before = await lockEndpoint(trx, projectId, id);
    // The patch changes the instance itself.
    const previous = before.$clone();
    const switched = enabled !== undefined && enabled !== before.enabled;
    const endpoint = await before.$query(trx).patchAndFetch({
      ...rest,
      ...(url !== undefined && { url }),
      ...(types !== undefined && { types: distinct(types) }),
      ...(headers !== undefined && storedHeaders(secretKeys, id, keepHidden(secretKeys, before, headers ?? {}))),
      ...(switched && { enabled, disabledReason: null, disabledAt: enabled ? null : new Date() }),
      ...(switched && enabled && { failingSince: null, failureMailed: false }),
      updatedAt: new Date(),
    });
    if (types !== undefined || switched) await renewWantedTypes(trx, projectId);
    // A new address deserves a call without delay.
    if (url !== undefined || switched) await wakeEndpoint(trx, projectId, id);
    const changes = shownChanges(previous, endpoint);
    if (Object.keys(changes).length > 0)
      await recordAudit(trx, project, { action: 'webhook_endpoint.updated', target: targetOf(id), changes });
    return endpoint;
  });
}

/** Deliveries that are not made yet are shown as DISCARDED from now on. */
export async function deleteEndpoint(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const endpoint = await lockEndpoint(trx, project.projectId, id);
    await endpoint.$query(trx).delete();
    await renewWantedTypes(trx, project.projectId);
    await cancelWebhookEndpointWorkflow(trx, endpoint);
    const changes = changesOf({ name: endpoint.description }, { name: null });
    await recordAudit(trx, project, { action: 'webhook_endpoint.deleted', target: targetOf(id), changes });
  });
}

export async function endpointSecret(db: Db, projectId: string, id: string, keys: SigningKeys): Promise<string> {
  const { secret } = await findEndpoint(db, projectId, id);
  return unseal(keys, endpointSecretContext(id), secret);
}

/** The replaced secret signs too for the given hours, as do those that were replaced before and are within theirs. */
export async function rotateEndpointSecret(
  db: Db,
  project: ProjectAccess,
  id: string,
  overlapHours: number,
  keys: SigningKeys,
): Promise<EndpointWithSecret> {
  const secret = newWebhookSecret();
  const endpoint = await writing(db, project, async (trx) => {
    const before = await lockEndpoint(trx, project.projectId, id);
    const now = new Date();
    const replaced = {
      secret: unseal(keys, endpointSecretContext(id), before.secret),
      until: new Date(now.getTime() + overlapHours * HOUR_MS).toISOString(),
    };
    const earlier = [...(overlapHours > 0 ? [replaced] : []), ...earlierSecrets(keys, before, now)];
    if (earlier.length > MAX_EARLIER_SECRETS) throw tooManySecrets();
    await recordAudit(trx, project, { action: 'webhook_endpoint.secret_rotated', target: targetOf(id) });
    return before.$query(trx).patchAndFetch({
      secret: sealSecret(keys, id, secret),
      previousSecret: sealEarlierSecrets(keys, id, earlier),
      previousSecretUntil:
        earlier.length > 0 ? new Date(Math.max(...earlier.map(({ until }) => Date.parse(until)))) : null,
      updatedAt: new Date(),
    });
  });
  return { endpoint, secret };
}

const targetOf = (id: string) => ({ type: 'webhook_endpoint', id });

/** Of the URL and the headers only that they changed: they may contain secrets. */
function shownChanges(before: Partial<WebhookEndpoint>, after: WebhookEndpoint): Changes {
  const { types, description, ratePerSecond, enabled } = after;
  return {
    ...changesOf<WebhookEndpoint>(before, { types, description, ratePerSecond, enabled }),
    ...(before.url !== after.url && { url: { changed: true } }),
    ...((before.sealedHeaders ?? null) !== after.sealedHeaders && { headers: { changed: true } }),
  };
}

async function lockEndpoint(trx: Db, projectId: string, id: string): Promise<WebhookEndpoint> {
  const endpoint = await WebhookEndpoint.query(trx).findOne({ projectId, id }).forUpdate();
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

const wake = statement(
  'webhook-endpoint-wake',
  `update webhook_endpoints set signal_at = greatest(now(), signalled_at + interval '1 second'), paused_until = null,
     failed_rounds = 0 where project_id = $1 and id = $2`,
);
const renewWanted = statement('webhooks-renew-wanted', 'select renew_wanted_webhook_types($1)');

/** Has the endpoint's Temporal workflow signalled, and ends the pause after failed calls. */
export async function wakeEndpoint(trx: Db, projectId: string, id: string): Promise<void> {
  await wake(trx, [projectId, id]);
}

export async function renewWantedTypes(trx: Db, projectId: string): Promise<void> {
  await renewWanted(trx, [projectId]);
}

/** The target is checked again before every call: a name may lead to a private address. */
function requireCallable(url: string, { webhookAllowedHosts }: EndpointSettings): void {
  if (!isWebUrl(url)) throw badRequest('"url" must be an http or https URL.');
  const refusal = targetRefusal(url, webhookAllowedHosts);
  if (refusal) throw badRequest(`"url" points to an address that is not allowed: ${refusal}. ${LOCAL_TARGET_HINT}`);
}

const distinct = (types: string[]): string[] => [...new Set(types)];

const storedHeaders = (keys: SigningKeys, id: string, headers: Headers) => ({
  sealedHeaders: sealEndpointHeaders(keys, id, headers),
  headerNames: Object.keys(headers),
});

function keepHidden(keys: SigningKeys, { id, sealedHeaders }: WebhookEndpoint, headers: Headers): Headers {
  if (!Object.values(headers).includes(HIDDEN_VALUE)) return headers;
  const stored = openEndpointHeaders(keys, id, sealedHeaders);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value === HIDDEN_VALUE ? (stored[name] ?? value) : value]),
  );
}
