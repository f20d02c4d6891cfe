import { createRequire } from 'node:module';
import { isDisposableEmailDomain } from 'disposable-email-domains-js';

const require = createRequire(import.meta.url);
const listOf = (name: string): Set<string> => new Set(require(`email-providers/${name}.json`) as string[]);

/** All mailbox providers, including disposable and misspelled ones, and the well-known among them. */
const [providers, wellKnown] = [listOf('all'), listOf('common')];

/** Forwarding services; no maintained list of them exists. */
const forwarders = new Set([
  // SimpleLogin and Proton Pass
  ...['simplelogin.com', 'simplelogin.co', 'simplelogin.fr', 'aleeas.com', 'slmail.me', 'slmails.com', 'silomails.com'],
  ...['8alias.com', '8shield.net', 'dralias.com', 'passmail.net', 'passmail.com', 'passinbox.com', 'passfwd.com'],
  // addy.io
  ...['addy.io', 'anonaddy.com', 'anonaddy.me', 'addymail.com'],
  // Apple, DuckDuckGo, Firefox
  ...['privaterelay.appleid.com', 'duck.com', 'mozmail.com', 'relay.firefox.com'],
  // 33mail, Cloaked, IronVest, erine.email, StartMail
  ...['33mail.com', '33m.co', 'cloaked.id', 'opayq.com', 'erine.email', 'use.startmail.com'],
]);

const withParents = (domain: string): string[] => {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, start) => labels.slice(start).join('.'));
};

/** Checks parent domains too, since many providers give each visitor a subdomain. */
export const isDisposable = (domain: string): boolean => withParents(domain).some(isDisposableEmailDomain);

export const isForwarder = (domain: string): boolean => withParents(domain).some((name) => forwarders.has(name));

export const isPersonal = (domain: string): boolean => providers.has(domain) && !isDisposable(domain);

export const isWellKnown = (domain: string): boolean => wellKnown.has(domain) || isForwarder(domain);
