import { expect } from 'chai';
import { clientNetwork } from '../../../platform/http/client-network.ts';
import { addressInMail, nameInMail } from '../../../platform/names.ts';

describe('nameInMail', () => {
  for (const [name, shown] of [
    ['Flower Shop', '"Flower Shop"'],
    ['Ärzte & Söhne 日本', '"Ärzte & Söhne 日本"'],
    ['Acme.io', '"Acme. io"'],
    ['http://evil.example/x', '"http: / / evil. example/ x"'],
    ['www.evil.example', '"www. evil. example"'],
    ['mailto:a@b.example', '"mailto: a@ b. example"'],
    ['evil\u3002example', '"evil\u3002 example"'],
    ['evil\uff0eexample', '"evil. example"'],
    ['evil.\u200bexample', '"evil. example"'],
    ['a\r\nBcc: b', '"a Bcc: b"'],
    ['say "hi"', '"say \'hi\'"'],
    ['Inc.', '"Inc."'],
  ] as const)
    it(`shows ${JSON.stringify(name)} as ${shown}`, () => {
      expect(nameInMail(name)).to.equal(shown);
    });

  it('cuts after 60 characters without splitting one', () => {
    expect(nameInMail('😀'.repeat(80))).to.equal(`"${'😀'.repeat(59)}…"`);
  });
});

describe('addressInMail', () => {
  it('returns an ordinary address', () => {
    expect(addressInMail('ann.smith+x@shop.example')).to.equal('ann.smith+x@shop.example');
  });

  it('returns undefined for an address that looks like a link or a message', () => {
    for (const email of [
      'www.evil.example@evil.example',
      'a/b@evil.example',
      `${'x'.repeat(60)}@evil.example`,
      'a b@c.d',
    ])
      expect(addressInMail(email), email).to.equal(undefined);
  });
});

describe('clientNetwork', () => {
  for (const [ip, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['not an address', 'not an address'],
  ] as const)
    it(`counts ${ip} as ${network}`, () => {
      expect(clientNetwork(ip)).to.equal(network);
    });
});
