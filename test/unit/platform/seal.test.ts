import { expect } from 'chai';
import { currentSeal, SealError, seal, unseal } from '../../../platform/seal.ts';

const old = 'an old key of enough length';
const current = 'the current key, also long enough';

describe('secrets at rest', () => {
  it('open again with what they are bound to', () => {
    const sealed = seal([current], ['dkim', '1'], 'päss');
    expect(sealed).to.match(/^v1\./).and.not.contain('päss');
    expect(unseal([current], ['dkim', '1'], sealed)).to.equal('päss');
  });

  it('are sealed anew each time', () => {
    expect(seal([current], [], 'same')).to.not.equal(seal([current], [], 'same'));
  });

  it('open with any key of the list, and say that an old one sealed them', () => {
    const sealed = seal([old], ['x'], 'secret');
    expect(unseal([current, old], ['x'], sealed)).to.equal('secret');
    expect(sealed.startsWith(currentSeal([current, old]))).to.equal(false);
    expect(seal([current, old], ['x'], 'secret').startsWith(currentSeal([current, old]))).to.equal(true);
  });

  it('say so when their key is gone, without a word of the secret', () => {
    const sealed = seal([old], ['x'], 'secret');
    expect(() => unseal([current], ['x'], sealed)).to.throw(SealError, /no longer has/);
  });

  it('do not open once a single byte is changed, or in another place', () => {
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

  it('are refused clearly when they are nothing of the kind', () => {
    for (const text of ['', 'v1', 'v2.a.b', 'v1.a.b', 'plain text', 'v1.a.b.c'])
      expect(() => unseal([current], [], text)).to.throw(SealError, /form/);
  });
});
