// Creates certificates: Node can read them, but not write them.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface TestCertificate {
  pem: string;
  privateKey: KeyObject;
}

/** Creates a minimal self-signed certificate of version 3 for the name `test`, RSA with SHA-256 (RFC 5280). */
export function makeCertificate({ from = -86_400_000, to = 86_400_000 } = {}): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const algorithm = sequence(Buffer.from('06092a864886f70d01010b0500', 'hex'));
  const name = sequence(tlv(0x31, sequence(Buffer.from('0603550403', 'hex'), tlv(0x0c, Buffer.from('test')))));
  const alternativeName = sequence(
    Buffer.from('0603551d11', 'hex'),
    tlv(0x04, sequence(tlv(0x82, Buffer.from('test')))),
  );
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(utcTime(Date.now() + from), utcTime(Date.now() + to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(alternativeName)),
  );
  const signature = tlv(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const base64 = sequence(body, algorithm, signature).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return { pem: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'), privateKey };
}

const sequence = (...parts: Buffer[]): Buffer => tlv(0x30, Buffer.concat(parts));

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

const utcTime = (time: number): Buffer =>
  tlv(0x17, Buffer.from(new Date(time).toISOString().replace(/^\d\d|[-:T]|\.\d+/g, '')));
