import { expect } from 'chai';
import { readSettings, SettingsError } from '../../platform/settings.ts';

describe('settings', () => {
  it('has defaults for development', () => {
    const settings = readSettings({});
    expect(settings).to.include({ port: 3000, host: '127.0.0.1', baseUrl: 'http://localhost:3000', production: false });
    expect(settings.rateLimitPerMinute).to.equal(1000);
    expect(settings.databaseUrl).to.equal(undefined);
  });

  it('treats an empty variable as unset', () => {
    expect(readSettings({ PORT: '', DATABASE_URL: '' }).port).to.equal(3000);
  });

  it('parses numbers, flags and lists', () => {
    const settings = readSettings({
      PORT: '0',
      TRUST_PROXY: '1',
      CORS_ORIGINS: 'https://a.example, https://b.example',
    });
    expect(settings.port).to.equal(0);
    expect(settings.trustProxy).to.equal(true);
    expect(settings.corsOrigins).to.deep.equal(['http://localhost:0', 'https://a.example', 'https://b.example']);
  });

  it('reports all violations in one error', () => {
    const read = () =>
      readSettings({ PORT: 'ninety', SMTP_URL: 'http://x', SECRET_KEY: 'short', LOG_LEVEL: 'loud' }, ['DATABASE_URL']);
    expect(read)
      .to.throw(SettingsError)
      .with.property('message')
      .that.includes('"PORT"')
      .and.includes('"SMTP_URL"')
      .and.includes('"SECRET_KEY"')
      .and.includes('"LOG_LEVEL"')
      .and.includes('"DATABASE_URL" is required');
  });

  for (const [given, missing] of [
    [{ S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' }, 'S3_BUCKET'],
    [{ S3_ENDPOINT: 'https://s3.example' }, 'S3_BUCKET'],
    [{ STRIPE_WEBHOOK_SECRET: 'whsec_x' }, 'STRIPE_SECRET_KEY'],
    [{ MAIL_FROM_MX: 'mx.example.com' }, 'MAIL_FROM_SUBDOMAIN'],
  ] as const)
    it(`rejects ${Object.keys(given).join(', ')} without ${missing}, which would be ignored`, () => {
      expect(() => readSettings(given)).to.throw(SettingsError, `"${missing}" is missing`);
    });

  it('requires all settings of Stripe and of returned mail in production', () => {
    const production = { NODE_ENV: 'production', SECRET_KEY: 'k'.repeat(32) };
    const read = (more: Record<string, string>) => () => readSettings({ ...production, ...more });
    expect(read({ STRIPE_SECRET_KEY: 'sk' })).to.throw('"STRIPE_PRICE_ID" is missing');
    expect(read({ MAIL_FROM_SUBDOMAIN: 'bounce' })).to.throw('"MAIL_FROM_MX" is missing');
    expect(read({ MAIL_FROM_SUBDOMAIN: 'bounce', MAIL_FROM_MX: 'mx.example.com' })).not.to.throw();
  });

  it('accepts an origin with a slash at the end, and no other addresses', () => {
    const [, ...origins] = readSettings({ CORS_ORIGINS: 'https://a.example/, http://localhost:5173' }).corsOrigins;
    expect(origins).to.deep.equal(['https://a.example', 'http://localhost:5173']);
    for (const origin of ['a.example', 'https://a.example/app', 'ftp://a.example', '*', 'null'])
      expect(() => readSettings({ CORS_ORIGINS: origin }), origin).to.throw(SettingsError, /"CORS_ORIGINS" must be/);
  });

  it('accepts IP addresses as DNS servers, with or without a port', () => {
    const { dnsServers } = readSettings({ DNS_SERVERS: '1.1.1.1, 127.0.0.1:5300, [::1]:53' });
    expect(dnsServers).to.deep.equal(['1.1.1.1', '127.0.0.1:5300', '[::1]:53']);
    expect(() => readSettings({ DNS_SERVERS: '1.1.1.1, dns.example' })).to.throw(
      SettingsError,
      /"DNS_SERVERS" must be/,
    );
  });

  it('reports a setting that is useless without another one', () => {
    expect(() => readSettings({ OAUTH_GITHUB_ID: 'a' })).to.throw(SettingsError, '"OAUTH_GITHUB_SECRET" is missing');
    expect(() => readSettings({ S3_SECRET_ACCESS_KEY: 'a' })).to.throw(SettingsError, '"S3_ACCESS_KEY_ID" is missing');
    expect(() => readSettings({ OIDC_CLIENT_ID: 'a' }))
      .to.throw(SettingsError, '"OIDC_ISSUER" is missing')
      .with.property('message')
      .that.includes('"OIDC_CLIENT_SECRET" is missing');
  });

  it('reports an invalid secret without its value', () => {
    const read = () => readSettings({ SECRET_KEY: 'hush-hush' });
    expect(read).to.throw(SettingsError, /SECRET_KEY.*at least 16 characters/);
    expect(read).not.to.throw(/hush-hush/);
  });

  it('rejects the development secret in production, also in a list', () => {
    expect(() => readSettings({ NODE_ENV: 'production' })).to.throw(/SECRET_KEY.*development value/);
    const list = `${'k'.repeat(32)},everpost-development-secret-key`;
    expect(() => readSettings({ NODE_ENV: 'production', SECRET_KEY: list })).to.throw(/SECRET_KEY/);
    const own = readSettings({ NODE_ENV: 'production', SECRET_KEY: 'k'.repeat(32) });
    expect(own).to.include({ production: true, host: '0.0.0.0' });
  });

  it('splits SECRET_KEY into a list of keys', () => {
    const settings = readSettings({ SECRET_KEY: `${'a'.repeat(16)}, ${'b'.repeat(16)}` });
    expect(settings.secretKeys).to.deep.equal(['a'.repeat(16), 'b'.repeat(16)]);
  });
});
