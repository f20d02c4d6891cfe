import { createVerify, type X509Certificate } from 'node:crypto';
import { Agent, request } from 'undici';
import { ApiError } from './errors.ts';
import { Slots } from './slots.ts';
import { CertificateStore } from './sns-certificates.ts';

// Messages of Amazon SNS, and whether they are genuine:
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

export interface SnsRules {
  topicArns: string[];
  /** `host:port`, or `host` for any port of it; none: the provider's own. */
  certHosts: string[];
}

const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;
const REQUIRED = ['Type', 'MessageId', 'TopicArn', 'Message', 'Timestamp', 'Signature', 'SigningCertURL'] as const;
const ALGORITHMS = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);
const PROVIDER_HOST = /^sns\.[a-z0-9-]{3,30}\.amazonaws\.com(\.cn)?$/;

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;
/** Anybody can make us ask; they shall not make us do nothing else. */
const MAX_FETCHES = 5;

/** The provider gives up what is refused with a 4xx, and brings again what is not: a bounce must not be lost by an outage. */
const away = () => new ApiError(502, 'EXTERNAL_SERVICE_ERROR', 'The provider cannot be reached just now.');

/** The message in a body, or undefined where it is none. Whether it is genuine is another question. */
export function readSnsMessage(body: unknown): SnsMessage | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const message = body as Record<string, unknown>;
  if (!REQUIRED.every((name) => typeof message[name] === 'string')) return undefined;
  const optional = [message.Subject ?? '', message.SubscribeURL ?? '', message.Token ?? ''];
  if (!optional.every((value) => typeof value === 'string')) return undefined;
  return { ...(message as unknown as SnsMessage), SignatureVersion: String(message.SignatureVersion) };
}

/** Knows whom to believe, and to whom to confirm a subscription. */
export class SnsGate {
  private readonly rules: SnsRules;
  private readonly certificates = new CertificateStore({
    fetchText: (url, { proven }) => this.fetchText(url, proven ? this.fetches : this.strangerFetches),
    busy: away,
  });
  private readonly fetches = new Slots(MAX_FETCHES);
  /** Apart, so that strangers cannot occupy all of them. */
  private readonly strangerFetches = new Slots(MAX_FETCHES);
  private readonly agent = new Agent({ connect: { timeout: TIMEOUT_MS } });
  /** Nobody can stand between us and ourselves, so there a certificate proves nothing. */
  private readonly localAgent = new Agent({ connect: { timeout: TIMEOUT_MS, rejectUnauthorized: false } });

  constructor(rules: SnsRules) {
    this.rules = { topicArns: rules.topicArns, certHosts: rules.certHosts.map((host) => host.toLowerCase()) };
  }

  /** Undefined: it is genuine. The cheap questions first: nothing is fetched for a stranger. Throws where it cannot be told. */
  async refusalOf(message: SnsMessage): Promise<string | undefined> {
    if (!this.rules.topicArns.includes(message.TopicArn)) return 'This topic is not one of SNS_TOPIC_ARNS.';
    const url = this.allowedUrl(message.SigningCertURL);
    if (!url?.pathname.endsWith('.pem')) return 'The certificate is not on a host of the provider.';
    const algorithm = ALGORITHMS.get(message.SignatureVersion);
    if (!algorithm) return 'The version of the signature is not known.';
    const certificate = await this.certificates.get(url);
    if (!certificate || !isValidNow(certificate)) return 'The certificate cannot be had, or is not valid now.';
    const verify = createVerify(algorithm).update(signedText(message));
    try {
      if (verify.verify(certificate.publicKey, message.Signature, 'base64')) {
        this.certificates.prove(url, certificate);
        return undefined;
      }
    } catch {
      // A key of another kind.
    }
    return 'The signature is not genuine.';
  }

  isAllowed = (url: string): boolean => this.allowedUrl(url) !== undefined;

  /** True: the provider has been told that we take its messages. */
  async confirm(subscribeUrl: string): Promise<boolean> {
    const url = this.allowedUrl(subscribeUrl);
    return url !== undefined && (await this.fetchText(url)) !== undefined;
  }

  /** Https to a host of the provider, or to one that the operator names; without TLS only to this very machine. */
  private allowedUrl(text: string): URL | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || url.username || url.password) return undefined;
    const { certHosts } = this.rules;
    const listed = certHosts.includes(url.host) || certHosts.includes(url.hostname);
    const known = certHosts.length > 0 ? listed : PROVIDER_HOST.test(url.host);
    const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
    return known && safe ? url : undefined;
  }

  /** Redirects are not followed: they could lead anywhere. Throws where there was no answer. */
  private async fetchText(url: URL, slots = this.fetches): Promise<string | undefined> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if (!(await slots.take(0, signal))) throw away();
    try {
      const dispatcher = isLoopback(url) ? this.localAgent : this.agent;
      const { statusCode, body } = await request(url, { dispatcher, signal, reset: true });
      let text = '';
      for await (const chunk of body) {
        text += chunk;
        if (text.length > MAX_BYTES) return undefined;
      }
      if (statusCode >= 500) throw away();
      return statusCode === 200 ? text : undefined;
    } catch {
      throw away();
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

/** Anything but a notification is signed like a confirmation. */
function signedText(message: SnsMessage): string {
  const names = message.Type === 'Notification' ? SIGNED.Notification : SIGNED.SubscriptionConfirmation;
  return names
    .filter((name) => message[name] !== undefined && message[name] !== null)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
}
