import type { Db } from '../../db/connect.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { createSigner } from '../../platform/crypto/standard-webhooks.ts';
import type { OutboundResponse, OutboundRules } from '../../platform/http/outbound-http.ts';
import { type PinnedTarget, pinTarget } from '../../platform/http/pinned-target.ts';
import { COMMON_HEADERS } from './request.ts';
import { openEndpointHeaders, signingSecrets } from './sealed-secrets.ts';

export interface ReceiverDeps {
  db: Db;
  resolver: OutboundRules['resolver'];
  /** Private hosts that may be called, as `host:port`. */
  allowedHosts: string[];
  keys: SigningKeys;
  now: () => Date;
}

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 65_536;
/** How old the endpoint may be that a call is made by. */
export const REFRESH_MS = 1_000;

/** Calls an endpoint as it is configured now: URL, headers, secrets and rate may change while it is called. */
export class Receiver {
  endpoint: WebhookEndpoint;
  /** Disabled or deleted. */
  withdrawn = false;
  private readonly deps: ReceiverDeps;
  private readonly connections: number;
  private sign: ReturnType<typeof createSigner>;
  private post: PinnedTarget['post'] | undefined;
  private readonly targets: PinnedTarget[] = [];
  private readAt = performance.now();
  private refreshing: Promise<void> | undefined;

  /** `endpoint` was just read. */
  constructor(deps: ReceiverDeps, endpoint: WebhookEndpoint, connections: number) {
    this.deps = deps;
    this.endpoint = endpoint;
    this.connections = connections;
    this.sign = this.createSigner();
  }

  /** Connects, and reads the endpoint again when it was read a second ago. Returns undefined when there is nothing to do. */
  prepare(): Promise<void> | undefined {
    if (!this.refreshing && this.post && performance.now() - this.readAt < REFRESH_MS) return undefined;
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Call it after `prepare`. `isCurrent` is false when the URL has changed meanwhile. */
  async call(id: string, sentAt: Date, body: string): Promise<{ response: OutboundResponse; isCurrent: boolean }> {
    const { post } = this;
    if (!post) throw new Error('the receiver is not prepared');
    const response = await post(this.sign({ id, sentAt, body }), body);
    return { response, isCurrent: post === this.post };
  }

  /** Breaks off what has not ended. */
  async close(): Promise<void> {
    await Promise.all(this.targets.splice(0).map((target) => target.close()));
  }

  private async refresh(): Promise<void> {
    const { id, generation, url, sealedHeaders } = this.endpoint;
    if (performance.now() - this.readAt >= REFRESH_MS) {
      const readAt = performance.now();
      const endpoint = await WebhookEndpoint.query(this.deps.db).findOne({ id, generation, enabled: true });
      this.readAt = readAt;
      if (!endpoint) {
        this.withdrawn = true;
        return;
      }
      this.endpoint = endpoint;
      this.sign = this.createSigner();
    }
    const isSame = this.endpoint.url === url && this.endpoint.sealedHeaders === sealedHeaders;
    if (!this.post || !isSame) this.post = await this.connect();
  }

  private createSigner(): ReturnType<typeof createSigner> {
    return createSigner(signingSecrets(this.deps.keys, this.endpoint, this.deps.now()));
  }

  private async connect(): Promise<PinnedTarget['post']> {
    const { resolver, allowedHosts, keys } = this.deps;
    const { id, projectId: project, url, sealedHeaders } = this.endpoint;
    const target = await pinTarget(
      {
        resolver,
        allowedHosts,
        project,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        connections: this.connections,
      },
      url,
      { ...openEndpointHeaders(keys, id, sealedHeaders), ...COMMON_HEADERS },
    );
    if ('kind' in target) return async () => target;
    this.targets.push(target);
    return target.post;
  }
}
