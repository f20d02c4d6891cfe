import { expect } from 'chai';
import { currentSealPrefix, SealError, seal, unseal } from '../../../platform/crypto/seal.ts';

const old = 'an old key of enough length';
const current = 'the current key, also long enough';

describe('sealed secrets', () => {
  it('unseal with the same binding', () => {
    const sealed = seal([current], ['dkim', '1'], 'päss');
    expect(sealed).to.match(/^v1\./).and.not.contain('päss');
    expect(unseal([current], ['dkim', '1'], sealed)).to.equal('päss');
  });

  it('differ each time the same secret is sealed', () => {
    expect(seal([current], [], 'same')).to.not.equal(seal([current], [], 'same'));
  });

  it('unseal with any listed key, and show by their prefix which key sealed them', () => {
    const sealed = seal([old], ['x'], 'secret');
    expect(unseal([current, old], ['x'], sealed)).to.equal('secret');
    expect(sealed.startsWith(currentSealPrefix([current, old]))).to.equal(false);
    expect(seal([current, old], ['x'], 'secret').startsWith(currentSealPrefix([current, old]))).to.equal(true);
  });

  it('throw a SealError when their key is no longer listed', () => {
    const sealed = seal([old], ['x'], 'secret');
    expect(() => unseal([current], ['x'], sealed)).to.throw(SealError, /no longer has/);
  });

  it('throw a SealError when a byte or the binding is changed', () => {
    const sealed = seal([current], ['dkim', '1'], 'secret');
    const [version, key, text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const forged = [version, key, changed.toString('base64url')].join('.');
      expect(() => unseal([current], ['dkim', '1'], forged)).to.throw(SealError, /changed/);
    }
    expect(() => unseal([current], ['dkim', '2'], sealed)).to.throw(SealError, /moved/);
  });

  it('throw a SealError for text of another form', () => {
    for (const text of ['', 'v1', 'v2.a.b', 'v1.a.b', 'plain text', 'v1.a.b.c'])
      expect(() => unseal([current], [], text)).to.throw(SealError, /form/);
  });
});
