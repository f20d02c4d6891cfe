import { expect } from 'chai';
import { Registry } from 'prom-client';
import { readSettings } from '../../../platform/settings.ts';
import { Relays } from '../../../platform/smtp/relays.ts';
import { registerSendingMetrics } from '../../../worker/sending-metrics.ts';
import { startSmtp } from '../../support/smtp.ts';

describe('metrics of sending', () => {
  it('show relays with their connections and outcomes, and slowed domains', async () => {
    const smtp = await startSmtp();
    const relays = Relays.fromSettings(readSettings({ SMTP_URL: `${smtp.url}, smtp://me:secret@127.0.0.1:1` }));
    const registry = new Registry();
    const slowed = Array.from({ length: 150 }, (_, n) => ({ domain: `d${n}.example`, perSecond: n + 0.5 }));
    registerSendingMetrics(registry, relays, { slowed: () => slowed });
    const [alive, dead] = relays.all;
    const connection = await alive?.connect();
    expect(await dead?.connect()).to.have.property('kind', 'unreachable');
    if (!connection || 'kind' in connection) throw new Error('no connection');
    const message = { from: 'shop@demo.localhost', to: 'ann@example.com', utf8: false, raw: Buffer.from('a: b\r\n') };
    await connection.send(message);
    await connection.release();
    smtp.misbehave({ at: 'recipient', do: { code: 550 }, times: 1 });
    const again = await alive?.connect();
    if (!again || 'kind' in again) throw new Error('no connection');
    await again.send(message);

    for (let scrape = 0; scrape < 2; scrape++) {
      const lines = (await registry.metrics()).split('\n');
      const name = `127.0.0.1:${smtp.port}`;
      expect(lines).to.include.members([
        `everpost_relay_usable{relay="${name}"} 1`,
        'everpost_relay_usable{relay="127.0.0.1:1"} 0',
        `everpost_relay_connections{relay="${name}",state="busy"} 1`,
        `everpost_relay_connections{relay="${name}",state="idle"} 0`,
        `everpost_relay_mails_total{relay="${name}",outcome="sent"} 1`,
        `everpost_relay_mails_total{relay="${name}",outcome="refused"} 1`,
        'everpost_slowed_domains 150',
        'everpost_slowed_domain_rate{domain="d0.example"} 0.5',
        'everpost_slowed_domain_rate{domain="d99.example"} 99.5',
      ]);
      expect(lines.join('\n')).to.not.contain('d100.example').and.not.contain('secret');
    }
    relays.close(true);
    await smtp.close();
  });
});
