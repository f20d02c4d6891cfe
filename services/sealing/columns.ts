import { dkimKeyContext } from '../domains/keys.ts';
import { webhookSecretContext } from '../projects/webhook-secret.ts';
import { totpContext } from '../users/two-factor.ts';
import { endpointHeadersContext, endpointSecretContext } from '../webhooks/sealed-secrets.ts';

/** A column with sealed secrets. */
export interface SealedColumn {
  /** In plain words, for operators. */
  kind: string;
  table: string;
  id: string;
  column: string;
  boundTo: (id: string) => string[];
}

export const sealedColumns: SealedColumn[] = [
  { kind: 'DKIM keys', table: 'domain_keys', id: 'id', column: 'private_key', boundTo: dkimKeyContext },
  {
    kind: 'webhook secrets',
    table: 'webhook_secrets',
    id: 'project_id',
    column: 'sealed',
    boundTo: webhookSecretContext,
  },
  {
    kind: 'secrets of webhook endpoints',
    table: 'webhook_endpoints',
    id: 'id',
    column: 'secret',
    boundTo: endpointSecretContext,
  },
  {
    kind: 'previous secrets of webhook endpoints',
    table: 'webhook_endpoints',
    id: 'id',
    column: 'previous_secret',
    boundTo: endpointSecretContext,
  },
  {
    kind: 'headers of webhook endpoints',
    table: 'webhook_endpoints',
    id: 'id',
    column: 'sealed_headers',
    boundTo: endpointHeadersContext,
  },
  { kind: 'two-factor secrets', table: 'users', id: 'id', column: 'totp_secret', boundTo: totpContext },
];
