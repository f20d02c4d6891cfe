import { Resolver } from 'node:dns';
import joi from 'joi';
import type { Limits } from './limits.ts';
import { type DomainRates, parseDomainRates } from './smtp/domain-rates.ts';
import { parseRelays, type RelaySettings } from './smtp/relay-settings.ts';
import { type Timings, timingsOf } from './timings.ts';

// Every setting of the product, declared once. A test compares `.env.example`, the README table and the compose file with
// this list.

/** Production refuses to start with this value. */
const DEVELOPMENT_SECRET = 'everpost-development-secret-key';

/** The sender domain of `npm start`, which is never looked up in DNS. */
export const DEMO_DOMAIN = 'demo.localhost';

/** A joi schema with the type of its values, from which the types of the settings are inferred. */
type Typed<T> = joi.Schema & { readonly value?: T };

const flag = (fallback: boolean): Typed<boolean> =>
  joi.boolean().truthy('1', 'yes', 'on').falsy('0', 'no', 'off').default(fallback);
const optionalFlag = (): Typed<boolean | undefined> => joi.boolean().truthy('1', 'yes', 'on').falsy('0', 'no', 'off');
const number = (fallback: number, rules = joi.number().min(0)): Typed<number> => rules.default(fallback);
const text = (fallback: string, rules = joi.string()): Typed<string> => rules.default(fallback);
const optionalText = (rules = joi.string()): Typed<string | undefined> => rules;
const optionalNumber = (rules = joi.number().positive()): Typed<number | undefined> => rules;
const list = (): Typed<string[]> => joi.string().allow('').custom(splitList).default([]);
const url = (...scheme: string[]) => optionalText(joi.string().uri({ scheme }));
const integer = () => joi.number().integer().min(0);
const port = () => integer().max(65535);
const milliseconds = () => integer().min(100).max(2_147_483_647);
/** Compared with integer counts in Postgres. */
const limit = () => integer().max(2_000_000_000);
const rate = () => joi.number().min(0).max(1);

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}

/** Uses a parser whose errors say which rule the text breaks, without the text: it may contain a password. */
function parsed<T>(parse: (text: string) => T): joi.CustomValidator<string, T> {
  return (text, helpers) => {
    try {
      return parse(text);
    } catch (error) {
      return helpers.message({ custom: `{{#label}} ${error instanceof Error ? error.message : error}` });
    }
  };
}
const relays = (): Typed<{ text: string; relays: RelaySettings[] } | undefined> =>
  joi.string().custom(parsed((text) => ({ text, relays: parseRelays(text) })));
const dnsServers = (): Typed<string[]> => joi.string().allow('').custom(parsed(parseDnsServers)).default([]);
const origins = (): Typed<string[]> => joi.string().allow('').custom(parsed(parseOrigins)).default([]);
const domainRates = (): Typed<DomainRates | undefined> => joi.string().allow('').custom(parsed(parseDomainRates));

function parseDnsServers(text: string): string[] {
  const servers = splitList(text);
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new Error('must be a comma list of IP addresses, each with or without a port');
  }
  return servers;
}

/** As browsers send them: without a slash at the end. */
function parseOrigins(text: string): string[] {
  return splitList(text).map((item) => {
    const { origin, href } = URL.canParse(item) ? new URL(item) : { origin: 'null', href: '' };
    if (!/^https?:/.test(origin) || href !== `${origin}/`)
      throw new Error('must be a comma list of origins such as https://app.example.com');
    return origin;
  });
}

/** Settings of which one is useless without the others. */
const USED_TOGETHER: SettingName[][] = [
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  ['OAUTH_GITHUB_ID', 'OAUTH_GITHUB_SECRET'],
  ['OAUTH_GOOGLE_ID', 'OAUTH_GOOGLE_SECRET'],
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
];

/** The same where mail is sent and paid for; in development a part can be tried alone. */
const USED_TOGETHER_IN_PRODUCTION: SettingName[][] = [
  ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICE_ID'],
  ['MAIL_FROM_SUBDOMAIN', 'MAIL_FROM_MX'],
];

/** The last one of each row makes sense without the others, but not the others without it. */
const NEEDS: [SettingName[], SettingName][] = [
  [['S3_REGION', 'S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'], 'S3_BUCKET'],
  [['STRIPE_WEBHOOK_SECRET', 'STRIPE_API_BASE', 'STRIPE_PRICE_ID'], 'STRIPE_SECRET_KEY'],
  [['MAIL_FROM_SPF', 'MAIL_FROM_MX'], 'MAIL_FROM_SUBDOMAIN'],
];

export const settingsSchema = {
  NODE_ENV: text('development', joi.string().valid('development', 'test', 'production')),
  PORT: number(3000, port()),
  HOST: optionalText(joi.string().hostname()),
  WORKER_PORT: number(3001, port()),
  BASE_URL: url('http', 'https'),
  DATABASE_URL: url('postgres', 'postgresql'),
  DATABASE_DIRECT_URL: url('postgres', 'postgresql'),
  DATABASE_POOL_SIZE: number(20, joi.number().integer().min(2).max(500)),
  DATABASE_STATEMENT_TIMEOUT_MS: number(15_000, milliseconds()),
  DATABASE_WORKER_STATEMENT_TIMEOUT_MS: number(30_000, milliseconds()),
  DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_MS: number(60_000, milliseconds()),
  DATABASE_CONNECT_TIMEOUT_MS: number(5_000, milliseconds()),
  TEMPORAL_ADDRESS: optionalText(joi.string().pattern(/^[^\s/]+:\d+$/, 'host:port')),
  TEMPORAL_NAMESPACE: text('default'),
  TEMPORAL_API_KEY: optionalText(),
  TEMPORAL_TLS_CA: optionalText(),
  TEMPORAL_TLS_CERT: optionalText(),
  TEMPORAL_TLS_KEY: optionalText(),
  TEMPORAL_TLS_SERVER_NAME: optionalText(),
  TEMPORAL_UI_URL: url('http', 'https'),
  WORKER_VERSIONING: optionalFlag(),
  WORKER_BUILD_ID: optionalText(joi.string().pattern(/^[\w.-]{1,128}$/, 'letters, digits, dots, hyphens')),
  WORKER_AUTO_CURRENT: flag(true),
  TEMPORAL_CLI_PATH: optionalText(),
  TEMPORAL_TEST_SERVER_PATH: optionalText(),
  SMTP_URL: relays(),
  SMTP_MAX_CONNECTIONS: number(10, joi.number().integer().min(1).max(1000)),
  SMTP_ALLOW_PLAIN_AUTH: flag(false),
  SMTP_RELAY_PAUSE_MS: number(30_000, milliseconds()),
  SEND_RATE_PER_SECOND: optionalNumber(),
  DOMAIN_RATES: domainRates(),
  DNS_SERVERS: dnsServers(),
  SECRET_KEY: text(
    DEVELOPMENT_SECRET,
    // A message of our own, because joi's contains the secret.
    joi
      .string()
      .pattern(/^[^,]{16,}(,[^,]{16,})*$/)
      .messages({ 'string.pattern.base': '{{#label}} must be keys of at least 16 characters, separated by commas' }),
  ),
  RATE_LIMIT_PER_MINUTE: number(1000, integer()),
  PUBLIC_RATE_LIMIT_PER_IP_PER_MINUTE: number(0, integer()),
  IDEMPOTENCY_KEY_TTL_HOURS: number(24, joi.number().positive()),
  ATTACHMENT_MAX_BYTES: number(10_485_760, integer()),
  MESSAGE_MAX_BYTES: number(41_943_040, integer()),
  BODY_MAX_BYTES: number(1_048_576, integer()),
  CONTENT_BODY_MAX_BYTES: number(5_242_880, integer()),
  IMPORT_MAX_BYTES: number(104_857_600, integer().max(1_073_741_824)),
  DATA_MAX_KEYS: number(100, limit()),
  CUSTOM_FIELDS_PER_PROJECT: number(500, limit()),
  EVENT_NAMES_PER_PROJECT: number(2_000, limit()),
  SEGMENTS_PER_PROJECT: number(200, limit()),
  TEMPLATES_PER_PROJECT: number(500, limit()),
  WORKFLOWS_PER_PROJECT: number(200, limit()),
  WEBHOOK_ENDPOINTS_PER_PROJECT: number(20, limit()),
  SCOPED_KEYS_PER_PROJECT: number(20, limit()),
  OPEN_JOBS_PER_PROJECT: number(100, limit()),
  RUNNING_JOBS_PER_PROJECT: number(5, limit().min(1)),
  PROJECTS_PER_USER: number(1_000, limit()),
  UPLOAD_BYTES_PER_PROJECT: number(1_073_741_824, integer()),
  SIGNUP_ENABLED: flag(true),
  SIGNUPS_PER_IP_PER_HOUR: number(50, integer()),
  EMAIL_VERIFICATION_REQUIRED: flag(false),
  AUTO_PROJECT_DISABLE: flag(true),
  CORS_ORIGINS: origins(),
  TRUST_PROXY: flag(false),
  METRICS_PORT: optionalNumber(port()),
  SHUTDOWN_GRACE_SECONDS: number(60, joi.number().integer().min(5).max(3_600)),
  EVENT_RETENTION_DAYS: optionalNumber(joi.number().integer().min(1)),
  EMAIL_BODY_RETENTION_DAYS: number(90, joi.number().integer().min(1)),
  CAMPAIGN_MAX_BOUNCE_RATE: number(0.1, rate()),
  CAMPAIGN_MAX_COMPLAINT_RATE: number(0.005, rate()),
  DKIM_SIGNING: flag(true),
  MAIL_FROM_SPF: optionalText(),
  MAIL_FROM_MX: optionalText(joi.string().hostname()),
  BOUNCE_SMTP_PORT: optionalNumber(port()),
  MAIL_FROM_SUBDOMAIN: optionalText(joi.string().hostname()),
  SYSTEM_FROM: optionalText(joi.string().email({ tlds: false })),
  WEBHOOK_ALLOWED_HOSTS: list(),
  DOMAIN_CHECK_PENDING_SECONDS: number(300, joi.number().positive()),
  DOMAIN_CHECK_VERIFIED_SECONDS: number(3600, joi.number().positive()),
  SNS_TOPIC_ARNS: list(),
  SNS_CERT_HOSTS: list(),
  STRIPE_SECRET_KEY: optionalText(),
  STRIPE_WEBHOOK_SECRET: optionalText(),
  STRIPE_API_BASE: url('http', 'https'),
  STRIPE_PRICE_ID: optionalText(),
  UPLOADS_DIR: optionalText(),
  S3_BUCKET: optionalText(),
  S3_REGION: optionalText(),
  S3_ENDPOINT: url('http', 'https'),
  S3_ACCESS_KEY_ID: optionalText(),
  S3_SECRET_ACCESS_KEY: optionalText(),
  OAUTH_GITHUB_ID: optionalText(),
  OAUTH_GITHUB_SECRET: optionalText(),
  OAUTH_GOOGLE_ID: optionalText(),
  OAUTH_GOOGLE_SECRET: optionalText(),
  OIDC_ISSUER: url('http', 'https'),
  OIDC_CLIENT_ID: optionalText(),
  OIDC_CLIENT_SECRET: optionalText(),
  WEB_APP_DIR: optionalText(),
  DOCS_DIR: optionalText(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https'),
  OTEL_TRACES_SAMPLER_ARG: number(1, rate()),
  EVERPOST_HOME: text('.everpost'),
  LOG_LEVEL: text('info', joi.string().valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')),
} satisfies Record<string, Typed<unknown>>;

export type SettingName = keyof typeof settingsSchema;
type Values = { [Name in SettingName]: (typeof settingsSchema)[Name] extends Typed<infer T> ? T : never };

export interface Settings {
  production: boolean;
  port: number;
  host: string;
  workerPort: number;
  baseUrl: string;
  databaseUrl: string | undefined;
  /** Past a pooler: for LISTEN, and for senders, whose connections carry planner settings. */
  databaseDirectUrl: string | undefined;
  databasePoolSize: number;
  databaseTimeouts: { api: DatabaseTimeouts; worker: DatabaseTimeouts };
  temporal: TemporalSettings;
  versioning: { on: boolean; build: string | undefined; autoCurrent: boolean };
  smtpUrl: string | undefined;
  /** The SMTP relays of `smtpUrl`. */
  relays: RelaySettings[];
  /** Of each relay that names no number of its own. */
  smtpMaxConnections: number;
  /** Whether the credentials of `smtpUrl` may be sent without TLS to another machine. */
  smtpAllowPlainAuth: boolean;
  /** The longest pause of a relay that cannot be reached. */
  smtpRelayPauseMs: number;
  rateLimitPerMinute: number;
  /** 0: off. */
  publicRateLimitPerIpPerMinute: number;
  attachmentMaxBytes: number;
  messageMaxBytes: number;
  /** The limit for JSON bodies, except on the routes for templates and campaigns. */
  bodyMaxBytes: number;
  contentBodyMaxBytes: number;
  /** The largest file of POST /imports. */
  importMaxBytes: number;
  limits: Limits;
  idempotencyKeyTtlHours: number;
  corsOrigins: string[];
  /** The first key signs and encrypts; all are accepted, so that links in sent mail outlive a key rotation. */
  secretKeys: [string, ...string[]];
  trustProxy: boolean;
  metricsPort: number | undefined;
  /** Between SIGTERM and SIGKILL, as the platform that runs the processes has it. */
  shutdownGraceSeconds: number;
  /** The provider's quota, shared by all workers. */
  sendRatePerSecond: number | undefined;
  /** Mails a second to a recipient domain, over all workers. */
  domainRates: DomainRates;
  dkimSigning: boolean;
  /** As `ip:port`; empty for the servers of the system. */
  dnsServers: string[];
  signupEnabled: boolean;
  /** 0: off. */
  signupsPerIpPerHour: number;
  emailVerificationRequired: boolean;
  autoProjectDisable: boolean;
  eventRetentionDays: number | undefined;
  emailBodyRetentionDays: number;
  campaignMaxBounceRate: number;
  campaignMaxComplaintRate: number;
  mailFrom: MailFromSettings;
  /** The sender of verification, reset and invitation mail. */
  systemFrom: string;
  /** Private hosts that WEBHOOK steps may call, as `host:port`. */
  webhookAllowedHosts: string[];
  domainCheck: { pendingSeconds: number; verifiedSeconds: number };
  sns: { topicArns: string[]; certHosts: string[] };
  /** Undefined when billing is off. */
  stripe: StripeSettings | undefined;
  uploads: { folder: string } | { s3: S3Settings };
  oauth: Partial<Record<'github' | 'google', { id: string; secret: string }>> & {
    oidc?: { issuer: string; id: string; secret: string };
  };
  /** Where OpenTelemetry traces go, and which part of them; undefined: nowhere. */
  tracing: { endpoint: string; ratio: number } | undefined;
  /** The built web application; undefined: beside the compiled program. */
  webAppDir: string | undefined;
  /** The built documentation site; undefined: beside the compiled program. */
  docsDir: string | undefined;
  home: string;
  logLevel: string;
  /** Not a setting of operators: tests use shorter ones. */
  timings: Timings;
}

export interface DatabaseTimeouts {
  /** `statement_timeout`; also limits how long the client waits for a silent server. */
  statementMs: number;
  /** `idle_in_transaction_session_timeout`: frees the locks of a process that hangs in the middle of a transaction. */
  idleInTransactionMs: number;
  connectMs: number;
}

/** Where bounced mail is returned to. */
export interface MailFromSettings {
  subdomain: string | undefined;
  spf: string | undefined;
  mx: string | undefined;
  bouncePort: number | undefined;
}

export interface StripeSettings {
  secretKey: string;
  webhookSecret: string | undefined;
  apiBase: string | undefined;
  priceId: string | undefined;
}

export interface S3Settings {
  bucket: string;
  region: string;
  endpoint: string | undefined;
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

export interface TemporalSettings {
  address: string | undefined;
  namespace: string;
  apiKey: string | undefined;
  /** The address of Temporal's Web UI, without a slash at its end. */
  uiUrl?: string | undefined;
  /** Paths of PEM files, and the name to expect in the server's certificate. */
  tls: Partial<Record<'ca' | 'cert' | 'key' | 'serverName', string | undefined>> | undefined;
}

export class SettingsError extends Error {
  constructor(violations: string[]) {
    super(
      `The settings cannot be used:\n${violations.map((violation) => `  - ${violation}`).join('\n')}\nSee .env.example.`,
    );
    this.name = 'SettingsError';
  }
}

/**
 * Reads the environment and reports all violations in one error. An empty variable counts as unset. `required` names the
 * settings without a default that this process needs.
 */
export function readSettings(env: NodeJS.ProcessEnv = process.env, required: SettingName[] = []): Settings {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name in settingsSchema && value !== '' && value !== undefined),
  );
  const { value, error } = joi
    .object<Values, false, Values>(settingsSchema)
    .validate(given, { abortEarly: false, convert: true });
  const violations = error ? error.details.map((detail) => detail.message) : [];
  violations.push(...required.filter((name) => !given[name]).map((name) => `"${name}" is required here`));
  const production = given.NODE_ENV === 'production';
  for (const names of [...USED_TOGETHER, ...(production ? USED_TOGETHER_IN_PRODUCTION : [])])
    if (names.some((name) => given[name]))
      violations.push(
        ...names.filter((name) => !given[name]).map((name) => `"${name}" is missing: ${names.join(', ')} go together`),
      );
  for (const [names, needed] of NEEDS) {
    const useless = names.filter((name) => given[name]);
    if (useless.length > 0 && !given[needed])
      violations.push(`"${needed}" is missing: without it ${useless.join(', ')} would be ignored`);
  }
  if (production) violations.push(...productionViolations(value));
  if (violations.length > 0) throw new SettingsError(violations);
  return { ...toSettings(value), timings: timingsOf(env) };
}

function productionViolations(value: Values): string[] {
  const violations: string[] = [];
  if (splitList(String(value.SECRET_KEY)).includes(DEVELOPMENT_SECRET))
    violations.push('"SECRET_KEY" has its development value; set one of your own, e.g. from `openssl rand -hex 32`');
  // Over http anyone on the way could replace the keys that sign-ins are verified with.
  if (
    /^http:/i.test(String(value.OIDC_ISSUER)) &&
    !/^http:\/\/(localhost|127\.|\[::1\])/i.test(String(value.OIDC_ISSUER))
  )
    violations.push('"OIDC_ISSUER" must be https, except on this machine');
  return violations;
}

function toSettings(value: Values): Omit<Settings, 'timings'> {
  const production = value.NODE_ENV === 'production';
  const keys = splitList(value.SECRET_KEY);
  const baseUrl = stripSlash(value.BASE_URL ?? `http://localhost:${value.PORT}`);
  return {
    production,
    port: value.PORT,
    host: value.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    workerPort: value.WORKER_PORT,
    baseUrl,
    databaseUrl: value.DATABASE_URL,
    databaseDirectUrl: value.DATABASE_DIRECT_URL ?? value.DATABASE_URL,
    databasePoolSize: value.DATABASE_POOL_SIZE,
    databaseTimeouts: {
      api: timeoutsOf(value, value.DATABASE_STATEMENT_TIMEOUT_MS),
      worker: timeoutsOf(value, value.DATABASE_WORKER_STATEMENT_TIMEOUT_MS),
    },
    temporal: {
      address: value.TEMPORAL_ADDRESS,
      namespace: value.TEMPORAL_NAMESPACE,
      apiKey: value.TEMPORAL_API_KEY,
      uiUrl: value.TEMPORAL_UI_URL?.replace(/\/+$/, ''),
      tls: tlsOf(value),
    },
    versioning: {
      on: value.WORKER_VERSIONING ?? production,
      build: value.WORKER_BUILD_ID,
      autoCurrent: value.WORKER_AUTO_CURRENT,
    },
    smtpUrl: value.SMTP_URL?.text,
    relays: value.SMTP_URL?.relays ?? [],
    smtpMaxConnections: value.SMTP_MAX_CONNECTIONS,
    smtpAllowPlainAuth: value.SMTP_ALLOW_PLAIN_AUTH,
    smtpRelayPauseMs: value.SMTP_RELAY_PAUSE_MS,
    rateLimitPerMinute: value.RATE_LIMIT_PER_MINUTE,
    publicRateLimitPerIpPerMinute: value.PUBLIC_RATE_LIMIT_PER_IP_PER_MINUTE,
    attachmentMaxBytes: value.ATTACHMENT_MAX_BYTES,
    messageMaxBytes: value.MESSAGE_MAX_BYTES,
    bodyMaxBytes: value.BODY_MAX_BYTES,
    contentBodyMaxBytes: value.CONTENT_BODY_MAX_BYTES,
    importMaxBytes: value.IMPORT_MAX_BYTES,
    limits: limitsOf(value),
    idempotencyKeyTtlHours: value.IDEMPOTENCY_KEY_TTL_HOURS,
    corsOrigins: [new URL(baseUrl).origin, ...value.CORS_ORIGINS],
    secretKeys: [keys[0] ?? DEVELOPMENT_SECRET, ...keys.slice(1)],
    trustProxy: value.TRUST_PROXY,
    metricsPort: value.METRICS_PORT,
    shutdownGraceSeconds: value.SHUTDOWN_GRACE_SECONDS,
    sendRatePerSecond: value.SEND_RATE_PER_SECOND,
    domainRates: value.DOMAIN_RATES ?? new Map(),
    dkimSigning: value.DKIM_SIGNING,
    dnsServers: value.DNS_SERVERS,
    signupEnabled: value.SIGNUP_ENABLED,
    signupsPerIpPerHour: value.SIGNUPS_PER_IP_PER_HOUR,
    emailVerificationRequired: value.EMAIL_VERIFICATION_REQUIRED,
    autoProjectDisable: value.AUTO_PROJECT_DISABLE,
    eventRetentionDays: value.EVENT_RETENTION_DAYS,
    emailBodyRetentionDays: value.EMAIL_BODY_RETENTION_DAYS,
    campaignMaxBounceRate: value.CAMPAIGN_MAX_BOUNCE_RATE,
    campaignMaxComplaintRate: value.CAMPAIGN_MAX_COMPLAINT_RATE,
    mailFrom: {
      subdomain: value.MAIL_FROM_SUBDOMAIN,
      spf: value.MAIL_FROM_SPF,
      mx: value.MAIL_FROM_MX,
      bouncePort: value.BOUNCE_SMTP_PORT,
    },
    systemFrom: value.SYSTEM_FROM ?? `no-reply@${production ? new URL(baseUrl).hostname : DEMO_DOMAIN}`,
    webhookAllowedHosts: value.WEBHOOK_ALLOWED_HOSTS,
    domainCheck: {
      pendingSeconds: value.DOMAIN_CHECK_PENDING_SECONDS,
      verifiedSeconds: value.DOMAIN_CHECK_VERIFIED_SECONDS,
    },
    sns: { topicArns: value.SNS_TOPIC_ARNS, certHosts: value.SNS_CERT_HOSTS },
    stripe: stripeOf(value),
    uploads: uploadsOf(value),
    oauth: {
      ...oauthOf('github', value.OAUTH_GITHUB_ID, value.OAUTH_GITHUB_SECRET),
      ...oauthOf('google', value.OAUTH_GOOGLE_ID, value.OAUTH_GOOGLE_SECRET),
      ...oidcOf(value),
    },
    tracing: value.OTEL_EXPORTER_OTLP_ENDPOINT
      ? { endpoint: value.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: value.OTEL_TRACES_SAMPLER_ARG }
      : undefined,
    webAppDir: value.WEB_APP_DIR,
    docsDir: value.DOCS_DIR,
    home: value.EVERPOST_HOME,
    logLevel: value.LOG_LEVEL,
  };
}

const timeoutsOf = (value: Values, statementMs: number): DatabaseTimeouts => ({
  statementMs,
  idleInTransactionMs: value.DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_MS,
  connectMs: value.DATABASE_CONNECT_TIMEOUT_MS,
});

const limitsOf = (value: Values): Limits => ({
  dataKeys: value.DATA_MAX_KEYS,
  customFields: value.CUSTOM_FIELDS_PER_PROJECT,
  eventNames: value.EVENT_NAMES_PER_PROJECT,
  segments: value.SEGMENTS_PER_PROJECT,
  templates: value.TEMPLATES_PER_PROJECT,
  workflows: value.WORKFLOWS_PER_PROJECT,
  webhookEndpoints: value.WEBHOOK_ENDPOINTS_PER_PROJECT,
  scopedKeys: value.SCOPED_KEYS_PER_PROJECT,
  openJobs: value.OPEN_JOBS_PER_PROJECT,
  runningJobs: value.RUNNING_JOBS_PER_PROJECT,
  projectsPerUser: value.PROJECTS_PER_USER,
  uploadBytes: value.UPLOAD_BYTES_PER_PROJECT,
});

function stripeOf(value: Values): StripeSettings | undefined {
  if (!value.STRIPE_SECRET_KEY) return undefined;
  return {
    secretKey: value.STRIPE_SECRET_KEY,
    webhookSecret: value.STRIPE_WEBHOOK_SECRET,
    apiBase: value.STRIPE_API_BASE,
    priceId: value.STRIPE_PRICE_ID,
  };
}

function uploadsOf(value: Values): Settings['uploads'] {
  if (!value.S3_BUCKET) return { folder: value.UPLOADS_DIR ?? `${value.EVERPOST_HOME}/uploads` };
  const [accessKeyId, secretAccessKey] = [value.S3_ACCESS_KEY_ID, value.S3_SECRET_ACCESS_KEY];
  return {
    s3: {
      bucket: value.S3_BUCKET,
      region: value.S3_REGION ?? 'us-east-1',
      endpoint: value.S3_ENDPOINT,
      credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
    },
  };
}

const oauthOf = (provider: 'github' | 'google', id?: string, secret?: string): Settings['oauth'] =>
  id && secret ? { [provider]: { id, secret } } : {};

const oidcOf = ({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret }: Values): Settings['oauth'] =>
  issuer && id && secret ? { oidc: { issuer, id, secret } } : {};

function tlsOf(value: Values): TemporalSettings['tls'] {
  const tls = {
    ca: value.TEMPORAL_TLS_CA,
    cert: value.TEMPORAL_TLS_CERT,
    key: value.TEMPORAL_TLS_KEY,
    serverName: value.TEMPORAL_TLS_SERVER_NAME,
  };
  return Object.values(tls).some(Boolean) ? tls : undefined;
}

const stripSlash = (address: string) => address.replace(/\/+$/, '');
