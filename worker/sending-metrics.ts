import { Counter, Gauge, type Registry } from 'prom-client';
import type { Relays } from '../platform/smtp/relays.ts';
import type { DomainPace } from '../services/sending/domain-pace.ts';

/** Bounds the number of time series; the slowest domains are listed. */
const MAX_LISTED_DOMAINS = 100;

/** Metrics of this process's relays and of the recipient domains that it slows down, read at each scrape. */
export function registerSendingMetrics(registry: Registry, relays: Relays, pace: Pick<DomainPace, 'slowed'>): void {
  relayMetrics(registry, relays);
  new Gauge({
    name: 'everpost_slowed_domains',
    help: 'Recipient domains that get less mail for now because they deferred some.',
    registers: [registry],
    collect() {
      this.set(pace.slowed().length);
    },
  });
  new Gauge({
    name: 'everpost_slowed_domain_rate',
    help: `Mails a second that a slowed recipient domain may get from this process; the ${MAX_LISTED_DOMAINS} slowest.`,
    labelNames: ['domain'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { domain, perSecond } of pace.slowed().slice(0, MAX_LISTED_DOMAINS)) this.set({ domain }, perSecond);
    },
  });
}

function relayMetrics(registry: Registry, { all }: Relays): void {
  new Gauge({
    name: 'everpost_relay_usable',
    help: 'Whether the SMTP relay takes mail of this process: 0 while it is left out.',
    labelNames: ['relay'],
    registers: [registry],
    collect() {
      for (const { name, leftOut } of all) this.set({ relay: name }, leftOut ? 0 : 1);
    },
  });
  new Gauge({
    name: 'everpost_relay_connections',
    help: 'Open SMTP connections of this process.',
    labelNames: ['relay', 'state'],
    registers: [registry],
    collect() {
      for (const { name, connections } of all)
        for (const [state, count] of Object.entries(connections)) this.set({ relay: name, state }, count);
    },
  });
  new Counter({
    name: 'everpost_relay_mails_total',
    help: 'Mails of this process by SMTP relay and outcome.',
    labelNames: ['relay', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, outcomes } of all)
        for (const [outcome, count] of Object.entries(outcomes)) this.inc({ relay: name, outcome }, count);
    },
  });
}
