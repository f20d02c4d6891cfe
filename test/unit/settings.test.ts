import { expect } from 'chai';
import { readSettings, SettingsError } from '../../platform/settings.ts';

describe('settings', () => {
  it('has a default for everything that development needs', () => {
    const settings = readSettings({});
    expect(settings).to.include({ port: 3000, host: '127.0.0.1', baseUrl: 'http://localhost:3000', production: false });
    expect(settings.rateLimitPerMinute).to.equal(1000);
    expect(settings.databaseUrl).to.equal(undefined);
  });

  it('takes an empty variable for an unset one', () => {
    expect(readSettings({ PORT: '', DATABASE_URL: '' }).port).to.equal(3000);
  });

  it('reads numbers, flags and lists', () => {
    const settings = readSettings({
      PORT: '0',
      TRUST_PROXY: '1',
      CORS_ORIGINS: 'https://a.example, https://b.example',
    });
    expect(settings.port).to.equal(0);
    expect(settings.trustProxy).to.equal(true);
    expect(settings.corsOrigins).to.deep.equal(['http://localhost:0', 'https://a.example', 'https://b.example']);
  });

  it('tells all that is wrong in one message', () => {
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

  it('never repeats a secret that it cannot use', () => {
    const faults = () => readSettings({ SECRET_KEY: 'hush-hush' });
    expect(faults).to.throw(SettingsError, /SECRET_KEY.*at least 16 characters/);
    expect(faults).not.to.throw(/hush-hush/);
  });

  it('refuses the development secret in production, also in a list', () => {
    expect(() => readSettings({ NODE_ENV: 'production' })).to.throw(/SECRET_KEY.*development value/);
    const list = `${'k'.repeat(32)},everpost-development-secret-key`;
    expect(() => readSettings({ NODE_ENV: 'production', SECRET_KEY: list })).to.throw(/SECRET_KEY/);
    const own = readSettings({ NODE_ENV: 'production', SECRET_KEY: 'k'.repeat(32) });
    expect(own).to.include({ production: true, host: '0.0.0.0' });
  });

  it('signs with the first key of a list and accepts all', () => {
    const settings = readSettings({ SECRET_KEY: `${'a'.repeat(16)}, ${'b'.repeat(16)}` });
    expect(settings.secretKeys).to.deep.equal(['a'.repeat(16), 'b'.repeat(16)]);
  });
});
