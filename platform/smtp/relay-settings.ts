/** One entry of `SMTP_URL`. */
export interface RelaySettings {
  /** Without the options below, for `smtpTarget`. Contains the credentials. */
  url: string;
  /** `host:port`, unique among the relays; stands in the log, in metrics and on attempts. */
  name: string;
  /** The share of the mail, in relation to the weights of the other relays. */
  weight: number;
  maxConnections: number | undefined;
  ratePerSecond: number | undefined;
}

/** Breaks a rule for `SMTP_URL`. The message never contains the URL, which may hold a password. */
export class RelaySettingsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RelaySettingsError';
  }
}

const MAX_RELAYS = 20;
const DEFAULT_PORTS: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 };
/** Between two URLs. A comma elsewhere belongs to a password. */
const SEPARATOR = /\s*,\s*(?=[a-z][a-z0-9+.-]*:\/\/)/i;
/** A name, with letters outside of ASCII as escapes, or an address of IPv4 or IPv6. */
const HOST = /^(?:(?:[\w.-]|%[89a-f][0-9a-f])+|\[[0-9a-f:.]+\])$/i;

/** Parses `smtp://a?weight=3, smtp://b`. Throws a RelaySettingsError. */
export function parseRelays(text: string): RelaySettings[] {
  const entries = text.trim().replace(/,$/, '').split(SEPARATOR);
  if (entries.length > MAX_RELAYS) throw new RelaySettingsError(`has ${entries.length} relays; at most ${MAX_RELAYS}`);
  const relays = entries.map((entry, index) =>
    parseRelay(entry, entries.length > 1 ? `relay ${index + 1} of ${entries.length}: ` : ''),
  );
  for (const [index, { name }] of relays.entries()) {
    const first = relays.findIndex((other) => other.name === name);
    if (first < index)
      throw new RelaySettingsError(
        `relay ${index + 1} of ${relays.length}: has the host and port of relay ${first + 1}`,
      );
  }
  return relays;
}

function parseRelay(entry: string, label: string): RelaySettings {
  const url = URL.canParse(entry) ? new URL(entry) : undefined;
  const defaultPort = url && DEFAULT_PORTS[url.protocol];
  if (!url || defaultPort === undefined || !HOST.test(url.hostname))
    throw new RelaySettingsError(
      `${label}must be smtp://user:password@host:port or smtps://…, with commas between relays`,
    );
  const option = (name: string, rule: string, fits: (value: number) => boolean): number | undefined => {
    const given = url.searchParams.get(name);
    if (given === null) return undefined;
    url.searchParams.delete(name);
    const value = Number(given);
    if (given.trim() === '' || !fits(value)) throw new RelaySettingsError(`${label}${name} must be ${rule}`);
    return value;
  };
  const weight = option('weight', 'above 0 and at most 1000', (value) => value > 0 && value <= 1_000) ?? 1;
  const maxConnections = option(
    'maxConnections',
    'a whole number from 1 to 1000',
    (value) => Number.isInteger(value) && value >= 1 && value <= 1_000,
  );
  const ratePerSecond = option(
    'ratePerSecond',
    'at least 0.01 and at most 100000',
    (value) => value >= 0.01 && value <= 100_000,
  );
  const name = `${url.hostname.toLowerCase()}:${url.port || defaultPort}`;
  return { url: url.href, name, weight, maxConnections, ratePerSecond };
}
