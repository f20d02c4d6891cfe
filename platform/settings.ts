import joi from 'joi';
import type { Limits } from './limits.ts';
import {
  DEVELOPMENT_SECRET,
  type SettingName,
  type SettingValues,
  settingsSchema,
  splitList,
} from './setting-groups.ts';
import type { DomainRates } from './smtp/domain-rates.ts';
import type { RelaySettings } from './smtp/relay-settings.ts';
import { type Timings, timingsOf } from './timings.ts';

export { type SettingName, settingsSchema } from './setting-groups.ts';

/** The sender domain of `npm start`, which is never looked up in DNS. */
export const DEMO_DOMAIN = 'demo.localhost';

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
  /** Of each relay that names no number. */
  smtpMaxConnections: number;
  campaignEmailsInFlight: number;
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
  consentRetentionDays: number;
  forms: {
    confirmationsPerAddressPerDay: number;
    /** 0: no limit. */
    submissionsPerIpPerHour: number;
  };
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
    .object<SettingValues, false, SettingValues>(settingsSchema)
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

function productionViolations(value: SettingValues): string[] {
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

function toSettings(value: SettingValues): Omit<Settings, 'timings'> {
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
    campaignEmailsInFlight: value.CAMPAIGN_EMAILS_IN_FLIGHT,
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
    consentRetentionDays: value.CONSENT_RETENTION_DAYS,
    forms: {
      confirmationsPerAddressPerDay: value.CONFIRMATIONS_PER_ADDRESS_PER_DAY,
      submissionsPerIpPerHour: value.FORM_SUBMISSIONS_PER_IP_PER_HOUR,
    },
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

const timeoutsOf = (value: SettingValues, statementMs: number): DatabaseTimeouts => ({
  statementMs,
  idleInTransactionMs: value.DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_MS,
  connectMs: value.DATABASE_CONNECT_TIMEOUT_MS,
});

const limitsOf = (value: SettingValues): Limits => ({
  dataKeys: value.DATA_MAX_KEYS,
  customFields: value.CUSTOM_FIELDS_PER_PROJECT,
  eventNames: value.EVENT_NAMES_PER_PROJECT,
  segments: value.SEGMENTS_PER_PROJECT,
  templates: value.TEMPLATES_PER_PROJECT,
  topics: value.TOPICS_PER_PROJECT,
  forms: value.FORMS_PER_PROJECT,
  workflows: value.WORKFLOWS_PER_PROJECT,
  webhookEndpoints: value.WEBHOOK_ENDPOINTS_PER_PROJECT,
  scopedKeys: value.SCOPED_KEYS_PER_PROJECT,
  openJobs: value.OPEN_JOBS_PER_PROJECT,
  runningJobs: value.RUNNING_JOBS_PER_PROJECT,
  projectsPerUser: value.PROJECTS_PER_USER,
  uploadBytes: value.UPLOAD_BYTES_PER_PROJECT,
});

function stripeOf(value: SettingValues): StripeSettings | undefined {
  if (!value.STRIPE_SECRET_KEY) return undefined;
  return {
    secretKey: value.STRIPE_SECRET_KEY,
    webhookSecret: value.STRIPE_WEBHOOK_SECRET,
    apiBase: value.STRIPE_API_BASE,
    priceId: value.STRIPE_PRICE_ID,
  };
}

function uploadsOf(value: SettingValues): Settings['uploads'] {
  if (!value.S3_BUCKET) return { folder: value.UPLOADS_DIR ?? `${value.EVERPOST_HOME}/uploads` };
  const accessKeyId = value.S3_ACCESS_KEY_ID;
  const secretAccessKey = value.S3_SECRET_ACCESS_KEY;
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

const oidcOf = ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: id,
  OIDC_CLIENT_SECRET: secret,
}: SettingValues): Settings['oauth'] => (issuer && id && secret ? { oidc: { issuer, id, secret } } : {});

function tlsOf(value: SettingValues): TemporalSettings['tls'] {
  const tls = {
    ca: value.TEMPORAL_TLS_CA,
    cert: value.TEMPORAL_TLS_CERT,
    key: value.TEMPORAL_TLS_KEY,
    serverName: value.TEMPORAL_TLS_SERVER_NAME,
  };
  return Object.values(tls).some(Boolean) ? tls : undefined;
}

const stripSlash = (address: string) => address.replace(/\/+$/, '');
