import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { qrCode } from '../../../web/app/src/pages/security/qr.ts';

const uri = 'otpauth://totp/Everpost:ann%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Everpost';

/** Modules of these texts that the reader jsQR 1.4.0 has decoded to the same text. */
const decoded: [text: string, size: number, digest: string][] = [
  ['HELLO WORLD', 21, 'a279bbd7ebb2c0c2'],
  [uri, 37, 'e51051415972944b'],
  ['ü'.repeat(400), 97, 'a7ddc3ae7568c5ab'],
];

describe('qrCode', () => {
  it('draws the modules that a reader decodes', () => {
    for (const [text, size, digest] of decoded) {
      const rows = qrCode(text);
      expect(rows.map(({ length }) => length)).to.deep.equal(Array.from({ length: size }, () => size));
      const bits = rows.map((row) => row.map(Number).join('')).join('\n');
      expect(createHash('sha256').update(bits).digest('hex').slice(0, 16), text).to.equal(digest);
    }
  });

  it('chooses the smallest version that holds the text, and rejects one that none holds', () => {
    expect(qrCode('x'.repeat(17))).to.have.length(21);
    expect(qrCode('x'.repeat(18))).to.have.length(25);
    expect(qrCode('x'.repeat(858))).to.have.length(97);
    expect(() => qrCode('x'.repeat(859))).to.throw('too long');
  });
});
