import { expect } from 'chai';
import fc from 'fast-check';
import { literalAddress, refusalOf } from '../../../platform/http/public-address.ts';

const refused: Record<string, string[]> = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1', 'fec0::1'],
  'link-local': ['169.254.1.1', 'fe80::1', 'febf::1'],
  metadata: ['169.254.169.254', '100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254'],
  'shared by carriers': ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  reserved: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '240.0.0.1', '255.255.255.255', '2001:db8::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  'IPv4 inside IPv6': [
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2a00::5efe:127.0.0.1',
    '2a00::200:5efe:10.0.0.1',
  ],
  'with a zone': ['fe80::1%eth0', '2a00:1450:4001:81b::200e%1'],
  'beyond what is routed': ['4000::1', '5f00::1', '100::1', '1::1'],
};

const open = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2a00:1450:4001:81b::200e', '2606:4700::1111'];

describe('public address check', () => {
  for (const [kind, addresses] of Object.entries(refused))
    it(`refuses addresses: ${kind}`, () => {
      for (const address of addresses) expect(refusalOf(address), address).to.be.a('string');
    });

  it('refuses text that is not an address', () => {
    for (const text of ['', 'example.com', '1.2.3', '999.1.1.1', 'localhost'])
      expect(refusalOf(text), text).to.be.a('string');
  });

  it('allows public addresses, also under the NAT64 prefix', () => {
    for (const address of [...open, '64:ff9b::8.8.8.8', '::ffff:8.8.8.8'])
      expect(refusalOf(address), address).to.equal(undefined);
  });
});

describe('literal address in a URL', () => {
  const privateUrls = [
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.01/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://user:secret@127.0.0.1/',
    'http://example.com@127.0.0.1/',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http:127.0.0.1',
    'http:\\\\127.0.0.1\\',
    'http://%31%32%37.0.0.1/',
    'http://0/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
  ];
  for (const url of privateUrls)
    it(`is found and refused in ${url}`, () => {
      const literal = literalAddress(new URL(url));
      expect(literal).to.be.a('string');
      expect(refusalOf(literal ?? '')).to.be.a('string');
    });

  it('is classified the same in every notation', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (number) => {
        const bytes = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255);
        const dotted = bytes.join('.');
        const hosts = [
          dotted,
          String(number),
          `0x${number.toString(16)}`,
          `0${number.toString(8)}`,
          bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
          bytes.map((byte) => `0x${byte.toString(16)}`).join('.'),
          `${bytes[0]}.${number & 0xffffff}`,
          `${dotted}.`,
          `[::ffff:${dotted}]`,
          `[64:ff9b::${dotted}]`,
        ];
        const results = hosts.map(
          (host) => refusalOf(literalAddress(new URL(`http://${host}/`)) ?? 'none') === undefined,
        );
        expect(new Set(results).size, dotted).to.equal(1);
      }),
    );
  });

  it('is not found in a name', () => {
    for (const url of [
      'http://example.com/',
      'http://127.0.0.1.example.com/',
      'http://localhost/',
      'http://1e100.net/',
    ])
      expect(literalAddress(new URL(url)), url).to.equal(undefined);
  });
});
