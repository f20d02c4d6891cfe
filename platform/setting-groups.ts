// Every setting of the product, declared once with its rules, its default and its text. `npm run settings` writes
// `docs/settings.md`, `.env.example` and the list in `docker-compose.yml` from it.
import { Resolver } from 'node:dns';
import joi from 'joi';
import { type DomainRates, parseDomainRates } from './smtp/domain-rates.ts';
import { parseRelays, type RelaySettings } from './smtp/relay-settings.ts';

/** Production refuses to start with this value. */
export const DEVELOPMENT_SECRET = 'everpost-development-secret-key';

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

export function splitList(text: string): string[] {
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
    throw new Error('must be a comma-separated list of IP addresses, each with or without a port');
  }
  return servers;
}

/** As browsers send them: without a slash at the end. */
function parseOrigins(text: string): string[] {
  return splitList(text).map((item) => {
    const { origin, href } = URL.canParse(item) ? new URL(item) : { origin: 'null', href: '' };
    if (!/^https?:/.test(origin) || href !== `${origin}/`)
      throw new Error('must be a comma-separated list of origins such as https://app.example.com');
    return origin;
  });
}

/** Every setting, in the groups of the documentation. */
export const settingGroups = {
  Processes: {
    NODE_ENV: text('development', joi.string().valid('development', 'test', 'production')).description(
      '`development`, `test` or `production`. Production refuses development secrets.',
    ),
    PORT: number(3000, port()).description('Port of the API; `0` for a free one.'),
    HOST: optionalText(joi.string().hostname()).description(
      'Address to listen on; by default `127.0.0.1` in development and `0.0.0.0` in production.',
    ),
    WORKER_PORT: number(3001, port()).description('Port of the worker for `/health`, `/ready` and `/metrics`.'),
    METRICS_PORT: optionalNumber(port()).description(
      'Port of the API for `/metrics`. By default its own port in development, and none in production.',
    ),
    BASE_URL: url('http', 'https').description(
      'Public address of the API, used in links in emails; `http://localhost:<PORT>` by default.',
    ),
    TRUST_PROXY: flag(false).description('Whether to take the client address from the header of a proxy.'),
    CORS_ORIGINS: origins().description(
      'Comma-separated origins that may call with credentials, besides that of `BASE_URL`.',
    ),
    SHUTDOWN_GRACE_SECONDS: number(60, joi.number().integer().min(5).max(3_600)).description(
      'Time between SIGTERM and SIGKILL, as set in Docker or Kubernetes. API and worker [stop before it ends](operations.md#stopping).',
    ),
    SECRET_KEY: text(
      DEVELOPMENT_SECRET,
      // A message of our own, because joi's contains the secret.
      joi
        .string()
        .pattern(/^[^,]{16,}(,[^,]{16,})*$/)
        .messages({ 'string.pattern.base': '{{#label}} must be keys of at least 16 characters, separated by commas' }),
    ).description(
      'Signs links and cursors, encrypts DKIM keys. To rotate it, list several, separated by commas: the first signs, all are accepted.',
    ),
    LOG_LEVEL: text(
      'info',
      joi.string().valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    ).description('`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.'),
    OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https').description(
      'OpenTelemetry collector for [traces](operations.md#traces), such as `http://localhost:4318`; none by default.',
    ),
    OTEL_TRACES_SAMPLER_ARG: number(1, rate()).description('Share of traces that is sent, 0 to 1.'),
  },
  Postgres: {
    DATABASE_URL: url('postgres', 'postgresql').description('Postgres. Without it `npm start` runs its own.'),
    DATABASE_DIRECT_URL: url('postgres', 'postgresql').description(
      'Postgres past [a pooler](operations.md#connections), for LISTEN and senders; `DATABASE_URL` by default.',
    ),
    DATABASE_POOL_SIZE: number(20, joi.number().integer().min(2).max(500)).description('Connections per process.'),
    DATABASE_STATEMENT_TIMEOUT_MS: number(15_000, milliseconds()).description(
      'Limit of one statement of the API; some routes declare a longer one.',
    ),
    DATABASE_WORKER_STATEMENT_TIMEOUT_MS: number(30_000, milliseconds()).description(
      'Limit of one statement of the worker; bulk work has longer ones.',
    ),
    DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_MS: number(60_000, milliseconds()).description(
      'Time without a statement after which Postgres ends an open transaction.',
    ),
    DATABASE_CONNECT_TIMEOUT_MS: number(5_000, milliseconds()).description('Limit of opening a connection.'),
  },
  Temporal: {
    TEMPORAL_ADDRESS: optionalText(joi.string().pattern(/^[^\s/]+:\d+$/, 'host:port')).description(
      '`host:port` of Temporal. Without it `npm start` runs a development server.',
    ),
    TEMPORAL_NAMESPACE: text('default').description('Namespace.'),
    TEMPORAL_API_KEY: optionalText().description('API key of Temporal Cloud.'),
    TEMPORAL_TLS_CA: optionalText().description('Path of a PEM file with the certificate authority.'),
    TEMPORAL_TLS_CERT: optionalText().description('Path of a PEM file with the client certificate.'),
    TEMPORAL_TLS_KEY: optionalText().description('Path of a PEM file with the client key.'),
    TEMPORAL_TLS_SERVER_NAME: optionalText().description('Name to expect in the certificate of the server.'),
    TEMPORAL_UI_URL: url('http', 'https').description(
      "Address of Temporal's Web UI, for links in the operator console.",
    ),
    WORKER_VERSIONING: optionalFlag().description(
      '[Versioning of the workflow code](operations.md#releases); by default in production only.',
    ),
    WORKER_BUILD_ID: optionalText(
      joi.string().pattern(/^[\w.-]{1,128}$/, 'letters, digits, dots, hyphens'),
    ).description('Name of this build; by default the version with a hash of the workflow code.'),
    WORKER_AUTO_CURRENT: flag(true).description(
      'Whether a new build gets workflow tasks automatically; `false`: after `everpost deploy set-current`.',
    ),
  },
  Sending: {
    SMTP_URL: relays().description(
      '`smtp(s)://user:pass@host:port`, or [several relays](operations.md#the-smtp-relays) separated by commas, each with `?weight=&maxConnections=&ratePerSecond=`. Without it `npm start` catches all email.',
    ),
    SMTP_MAX_CONNECTIONS: number(10, joi.number().integer().min(1).max(1000)).description(
      'Connections per worker and relay that has no `maxConnections`.',
    ),
    CAMPAIGN_EMAILS_IN_FLIGHT: number(2, joi.number().integer().min(1).max(4)).description(
      'Campaign emails that each connection may have begun and not finished. More keeps connections busier; a crash leaves at most as many per connection UNKNOWN.',
    ),
    SMTP_ALLOW_PLAIN_AUTH: flag(false).description(
      'Whether the password of `SMTP_URL` may be sent without TLS to other machines than this one.',
    ),
    SMTP_RELAY_PAUSE_MS: number(30_000, milliseconds()).description(
      'Longest pause before an unreachable relay is tried again; the first is a thirtieth of it.',
    ),
    SEND_RATE_PER_SECOND: optionalNumber().description(
      'Limit of all email over all relays and workers; unlimited by default.',
    ),
    DOMAIN_RATES: domainRates().description(
      'Limits per recipient domain over all workers, such as `gmail.com=20/s,example.org=600/h`.',
    ),
    DKIM_SIGNING: flag(true).description(
      'Whether emails are signed; `false` where the relay signs, or rewrites Message-ID and Date.',
    ),
    MAIL_FROM_SUBDOMAIN: optionalText(joi.string().hostname()).description('Subdomain that bounces are returned to.'),
    MAIL_FROM_SPF: optionalText().description('SPF record to show for that subdomain.'),
    MAIL_FROM_MX: optionalText(joi.string().hostname()).description('MX target to show for that subdomain.'),
    BOUNCE_SMTP_PORT: optionalNumber(port()).description('Port of the listener for returned email; none by default.'),
    SYSTEM_FROM: optionalText(joi.string().email({ tlds: false })).description(
      'Sender of verification, reset and invitation emails.',
    ),
    SNS_TOPIC_ARNS: list().description('Comma-separated SNS topics; notifications of others are refused.'),
    SNS_CERT_HOSTS: list().description('Comma-separated hosts of SNS certificates; those of AWS by default.'),
    CAMPAIGN_MAX_BOUNCE_RATE: number(0.1, rate()).description(
      'Rate of permanent bounces at which a campaign is paused, once it has sent 200 emails.',
    ),
    CAMPAIGN_MAX_COMPLAINT_RATE: number(0.005, rate()).description(
      'Rate of complaints at which a campaign is paused, once it has sent 200 emails.',
    ),
    AUTO_PROJECT_DISABLE: flag(true).description(
      'Whether a project with a critical bounce or complaint rate is disabled.',
    ),
  },
  'DNS and webhooks': {
    DNS_SERVERS: dnsServers().description("Comma-separated `ip:port`; the system's by default."),
    DOMAIN_CHECK_PENDING_SECONDS: number(300, joi.number().positive()).description(
      'Interval of checking the DNS records of a domain that is not verified.',
    ),
    DOMAIN_CHECK_VERIFIED_SECONDS: number(3600, joi.number().positive()).description(
      'Interval of checking the DNS records of a verified domain.',
    ),
    WEBHOOK_ALLOWED_HOSTS: list().description(
      'Comma-separated `host:port` that webhooks may call although their address is private.',
    ),
  },
  Accounts: {
    SIGNUP_ENABLED: flag(true).description('Whether new users can sign up.'),
    SIGNUPS_PER_IP_PER_HOUR: number(50, integer()).description(
      'Accounts per client IP (IPv6: per /64) and hour; `0` for no limit.',
    ),
    EMAIL_VERIFICATION_REQUIRED: flag(false).description('Whether users must verify their email address.'),
    OAUTH_GITHUB_ID: optionalText().description('Client ID for signing in with GitHub; off by default.'),
    OAUTH_GITHUB_SECRET: optionalText().description('Client secret for signing in with GitHub.'),
    OAUTH_GOOGLE_ID: optionalText().description('Client ID for signing in with Google; off by default.'),
    OAUTH_GOOGLE_SECRET: optionalText().description('Client secret for signing in with Google.'),
    OIDC_ISSUER: url('http', 'https').description(
      'Address of an OpenID Connect provider; off by default. Register `BASE_URL/auth/oauth/oidc/callback` with it.',
    ),
    OIDC_CLIENT_ID: optionalText().description('Client ID at the OpenID Connect provider.'),
    OIDC_CLIENT_SECRET: optionalText().description('Client secret at the OpenID Connect provider.'),
  },
  Limits: {
    RATE_LIMIT_PER_MINUTE: number(1000, integer()).description(
      'Requests per project and minute; `0` turns all rate limits off.',
    ),
    PUBLIC_RATE_LIMIT_PER_IP_PER_MINUTE: number(0, integer()).description(
      'Public-key requests per client IP (IPv6: per /64), minute and API process; `0` for no limit. Behind a proxy set `TRUST_PROXY` too.',
    ),
    IDEMPOTENCY_KEY_TTL_HOURS: number(24, joi.number().positive()).description('How long idempotency keys are kept.'),
    ATTACHMENT_MAX_BYTES: number(10_485_760, integer()).description('All attachments of an email together.'),
    MESSAGE_MAX_BYTES: number(41_943_040, integer()).description('A whole message.'),
    BODY_MAX_BYTES: number(1_048_576, integer()).description('A JSON body, unless another limit applies.'),
    CONTENT_BODY_MAX_BYTES: number(5_242_880, integer()).description('A JSON body of templates and campaigns.'),
    IMPORT_MAX_BYTES: number(104_857_600, integer().max(1_073_741_824)).description('A file of `POST /imports`.'),
    DATA_MAX_KEYS: number(100, limit()).description('Keys in one `data` object.'),
    CUSTOM_FIELDS_PER_PROJECT: number(500, limit()).description(
      'Names of custom fields; the public key may create half of them.',
    ),
    EVENT_NAMES_PER_PROJECT: number(2_000, limit()).description(
      'Names of tracked events; the public key may create half of them.',
    ),
    SEGMENTS_PER_PROJECT: number(200, limit()).description('Segments.'),
    TEMPLATES_PER_PROJECT: number(500, limit()).description('Templates.'),
    TOPICS_PER_PROJECT: number(100, limit()).description('Topics.'),
    FORMS_PER_PROJECT: number(100, limit()).description('Forms.'),
    CONFIRMATIONS_PER_ADDRESS_PER_DAY: number(3, integer().min(1)).description(
      'Confirmation emails to an address in 24 hours, over all projects.',
    ),
    FORM_SUBMISSIONS_PER_IP_PER_HOUR: number(20, integer()).description(
      'Submissions of forms per client IP (IPv6: per /64); `0` for no limit. Behind a proxy set `TRUST_PROXY` too.',
    ),
    WORKFLOWS_PER_PROJECT: number(200, limit()).description('Workflows.'),
    WEBHOOK_ENDPOINTS_PER_PROJECT: number(20, limit()).description('Webhook endpoints.'),
    SCOPED_KEYS_PER_PROJECT: number(20, limit()).description('Keys with scopes.'),
    OPEN_JOBS_PER_PROJECT: number(100, limit()).description('Imports and bulk jobs that have not ended.'),
    RUNNING_JOBS_PER_PROJECT: number(5, limit().min(1)).description('Jobs that run at once; the others wait.'),
    PROJECTS_PER_USER: number(1_000, limit()).description('Projects that a user owns.'),
    UPLOAD_BYTES_PER_PROJECT: number(1_073_741_824, integer()).description('All uploaded images together.'),
  },
  Retention: {
    EVENT_RETENTION_DAYS: optionalNumber(joi.number().integer().min(1)).description(
      'Days after which events are deleted; never by default.',
    ),
    CONSENT_RETENTION_DAYS: number(1_095, joi.number().integer().min(1)).description(
      'Days after which the consent records of deleted contacts are deleted, and the hashes of addresses in submissions of forms that were not confirmed.',
    ),
    EMAIL_BODY_RETENTION_DAYS: number(90, joi.number().integer().min(1)).description(
      'Days after which the bodies of emails are deleted.',
    ),
  },
  Billing: {
    STRIPE_SECRET_KEY: optionalText().description('Secret key of Stripe; without it billing is off.'),
    STRIPE_WEBHOOK_SECRET: optionalText().description('Signing secret of the Stripe webhook.'),
    STRIPE_API_BASE: url('http', 'https').description("Address of the Stripe API; Stripe's own by default."),
    STRIPE_PRICE_ID: optionalText().description('Price of an email.'),
  },
  Uploads: {
    UPLOADS_DIR: optionalText().description('Folder for uploaded images; `<EVERPOST_HOME>/uploads` by default.'),
    S3_BUCKET: optionalText().description('Bucket for uploaded images, instead of a folder.'),
    S3_REGION: optionalText().description('Region of the bucket.'),
    S3_ENDPOINT: url('http', 'https').description('Address of an S3-compatible service; AWS by default.'),
    S3_ACCESS_KEY_ID: optionalText().description("Access key; the environment's credentials by default."),
    S3_SECRET_ACCESS_KEY: optionalText().description('Secret of the access key.'),
  },
  Development: {
    EVERPOST_HOME: text('.everpost').description('Folder where `npm start` keeps its data.'),
    WEB_APP_DIR: optionalText().description(
      'Folder of the built web application; `app/` beside the compiled program by default.',
    ),
    DOCS_DIR: optionalText().description(
      'Folder of the built documentation site; `docs-site/` beside the compiled program by default.',
    ),
    TEMPORAL_CLI_PATH: optionalText().description('A `temporal` binary to use instead of finding or downloading one.'),
    TEMPORAL_TEST_SERVER_PATH: optionalText().description('The time-skipping Temporal server of the tests, likewise.'),
  },
} satisfies Record<string, Record<string, Typed<unknown>>>;

export const settingsSchema = {
  ...settingGroups.Processes,
  ...settingGroups.Postgres,
  ...settingGroups.Temporal,
  ...settingGroups.Sending,
  ...settingGroups['DNS and webhooks'],
  ...settingGroups.Accounts,
  ...settingGroups.Limits,
  ...settingGroups.Retention,
  ...settingGroups.Billing,
  ...settingGroups.Uploads,
  ...settingGroups.Development,
};

export type SettingName = keyof typeof settingsSchema;
export type SettingValues = { [Name in SettingName]: (typeof settingsSchema)[Name] extends Typed<infer T> ? T : never };
