// A stand-in for Amazon SNS: signs messages, serves the certificate, accepts confirmations.
import { createSign } from 'node:crypto';
import { once as event } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { newId } from '../../platform/ids.ts';
import { makeCertificate, type TestCertificate } from './certificate.ts';
import { atEnd, once } from './cleanup.ts';

type Message = Record<string, string>;

export interface SnsStandIn {
  /** `host:port`, in the format of SNS_CERT_HOSTS. */
  host: string;
  /** The requested paths. */
  requests: string[];
  notification(content: unknown, more?: Message): Message;
  confirmation(more?: Message): Message;
  /** Returns the message with its signature, as SNS posts it. */
  sign(message: Message, options?: { version?: '1' | '2'; by?: TestCertificate }): Message;
  stop(): Promise<void>;
}

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail';

const signed = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

export async function startSns(files: Record<string, string> = {}): Promise<SnsStandIn> {
  const certificate = makeCertificate();
  const requests: string[] = [];
  const served: Record<string, string> = { '/cert.pem': certificate.pem, '/confirm': 'ok', ...files };
  const key = certificate.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const server = createServer({ key, cert: certificate.pem }, (request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const body = served[path.split('?')[0] ?? ''];
    response.writeHead(body === undefined ? 404 : 200).end(body ?? 'nothing');
  });
  server.listen(0, '127.0.0.1');
  await event(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const common = () => ({ MessageId: newId(), TopicArn: TOPIC, Timestamp: new Date().toISOString() });
  const stop = once(async () => {
    server.close();
    server.closeAllConnections();
    await event(server, 'close');
  });
  atEnd(stop);
  return {
    host,
    requests,
    notification: (content, more = {}) => ({
      Type: 'Notification',
      ...common(),
      Message: typeof content === 'string' ? content : JSON.stringify(content),
      ...more,
    }),
    confirmation: (more = {}) => ({
      Type: 'SubscriptionConfirmation',
      ...common(),
      Message: 'You have chosen to subscribe',
      SubscribeURL: `https://${host}/confirm?Token=t`,
      Token: 't',
      ...more,
    }),
    sign: (message, { version = '2', by = certificate } = {}) => {
      const names = message.Type === 'Notification' ? signed.Notification : signed.SubscriptionConfirmation;
      const text = names.filter((name) => message[name] !== undefined).map((name) => `${name}\n${message[name]}\n`);
      const Signature = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
        .update(text.join(''))
        .sign(by.privateKey, 'base64');
      return { SigningCertURL: `https://${host}/cert.pem`, SignatureVersion: version, Signature, ...message };
    },
    stop,
  };
}
