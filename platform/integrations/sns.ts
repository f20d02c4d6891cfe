import { createVerify, type X509Certificate } from 'node:crypto';
import type { Agent } from 'undici';
import { ApiError } from '../errors.ts';
import { Slots } from '../slots.ts';
import { CertificateStore } from './sns-certificates.ts';

// Verifies messages of Amazon SNS:
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html

export interface SnsMessage {
  Type: string;
  MessageId: string;
  TopicArn: string;
  Message: string;
  Timestamp: string;
  SignatureVersion: string;
  Signature: string;
  SigningCertURL: string;
  Subject?: string | null;
  SubscribeURL?: string;
  Token?: string;
}

export interface SnsOptions {
  topicArns: string[];
  /** Hosts of signing certificates, as `host:port` or `host` for any port; empty for the provider's own. */
  certHosts: string[];
}

const SIGNED_FIELDS = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;
const REQUIRED_FIELDS = [
  'Type',
  'MessageId',
  'TopicArn',
  'Message',
  'Timestamp',
  'Signature',
  'SigningCertURL',
] as const;
const ALGORITHMS = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);
const PROVIDER_HOST = /^sns\.[a-z0-9-]{3,30}\.amazonaws\.com(\.cn)?$/;

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;
/** Bounds concurrent fetches, which any client can cause. */
const MAX_FETCHES = 5;

/** The provider drops a message that is answered with a 4xx and retries it after a 5xx, so an outage loses no bounce. */
const providerUnavailable = () => new ApiError(502, 'EXTERNAL_SERVICE_ERROR', 'The provider is currently unreachable.');

/** Returns the message in a body, unverified, or undefined when the body has another form. */
export function readSnsMessage(body: unknown): SnsMessage | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const message = body as Record<string, unknown>;
  if (!REQUIRED_FIELDS.every((name) => typeof message[name] === 'string')) return undefined;
  const optional = [message.Subject ?? '', message.SubscribeURL ?? '', message.Token ?? ''];
  if (!optional.every((value) => typeof value === 'string')) return undefined;
  return { ...(message as unknown as SnsMessage), SignatureVersion: String(message.SignatureVersion) };
}

/** Verifies signatures of messages and confirms subscriptions. */
export class SnsVerifier {
  private readonly options: SnsOptions;
  private readonly certificates = new CertificateStore({
    fetchText: (url, { proven }) => this.fetchText(url, proven ? this.fetches : this.unprovenFetches),
    busy: providerUnavailable,
  });
  private readonly fetches = new Slots(MAX_FETCHES);
  /** Separate slots, so that unverified senders cannot occupy all of them. */
  private readonly unprovenFetches = new Slots(MAX_FETCHES);
  private readonly agents = new Map<boolean, Agent>();

  constructor(options: SnsOptions) {
    this.options = { topicArns: options.topicArns, certHosts: options.certHosts.map((host) => host.toLowerCase()) };
  }

  /**
   * Returns why a message is refused, or undefined when it is genuine. Runs the cheap checks first, so that a message of
   * another topic causes no fetch. Throws a 502 when the provider is unavailable.
   */
  async refusalOf(message: SnsMessage): Promise<string | undefined> {
    if (!this.options.topicArns.includes(message.TopicArn)) return 'This topic is not listed in SNS_TOPIC_ARNS.';
    const url = this.allowedUrl(message.SigningCertURL);
    if (!url?.pathname.endsWith('.pem')) return 'The certificate is not hosted by the provider.';
    const algorithm = ALGORITHMS.get(message.SignatureVersion);
    if (!algorithm) return 'The signature version is unknown.';
    const certificate = await this.certificates.get(url);
    if (!certificate || !isValidNow(certificate)) return 'The certificate cannot be fetched, or is not valid.';
    const verify = createVerify(algorithm).update(signedText(message));
    try {
      if (verify.verify(certificate.publicKey, message.Signature, 'base64')) {
        this.certificates.prove(url, certificate);
        return undefined;
      }
    } catch {
      // The key has another type than the algorithm.
    }
    return 'The signature is invalid.';
  }

  isAllowed = (url: string): boolean => this.allowedUrl(url) !== undefined;

  /** Confirms a subscription. Returns whether the provider accepted the confirmation. */
  async confirm(subscribeUrl: string): Promise<boolean> {
    const url = this.allowedUrl(subscribeUrl);
    return url !== undefined && (await this.fetchText(url)) !== undefined;
  }

  /** Allows https to hosts of the provider or of `certHosts`, and http to loopback only. */
  private allowedUrl(text: string): URL | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || url.username || url.password) return undefined;
    const { certHosts } = this.options;
    const listed = certHosts.includes(url.host) || certHosts.includes(url.hostname);
    const known = certHosts.length > 0 ? listed : PROVIDER_HOST.test(url.host);
    const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
    return known && safe ? url : undefined;
  }

  /** Skips TLS verification on loopback, where no attacker can intercept the connection. */
  private async agentFor(loopback: boolean): Promise<Agent> {
    // Loaded with the first message: few installations get any.
    const { Agent } = await import('undici');
    const agent =
      this.agents.get(loopback) ?? new Agent({ connect: { timeout: TIMEOUT_MS, rejectUnauthorized: !loopback } });
    this.agents.set(loopback, agent);
    return agent;
  }

  /** Follows no redirects, which could lead to any host. Throws when there is no response. */
  private async fetchText(url: URL, slots = this.fetches): Promise<string | undefined> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if (!(await slots.take(0, signal))) throw providerUnavailable();
    try {
      const { request } = await import('undici');
      const dispatcher = await this.agentFor(isLoopback(url));
      const { statusCode, body } = await request(url, { dispatcher, signal, reset: true });
      let text = '';
      for await (const chunk of body) {
        text += chunk;
        if (text.length > MAX_BYTES) return undefined;
      }
      if (statusCode >= 500) throw providerUnavailable();
      return statusCode === 200 ? text : undefined;
    } catch {
      throw providerUnavailable();
    } finally {
      slots.give();
    }
  }
}

const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

function isValidNow({ validFrom, validTo }: X509Certificate): boolean {
  const now = Date.now();
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}

/** All types but notifications are signed like a confirmation. */
function signedText(message: SnsMessage): string {
  const names = message.Type === 'Notification' ? SIGNED_FIELDS.Notification : SIGNED_FIELDS.SubscriptionConfirmation;
  return names
    .filter((name) => message[name] !== undefined && message[name] !== null)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
}
