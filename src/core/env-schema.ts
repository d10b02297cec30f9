/**
 * Every variable that the service itself reads at start, as one schema; `env.ts` parses it. `.env.example` and docs/configuration.md are made
 * from it (`scripts/configuration.ts`), so every variable is documented. The settings of `domain/settings` are not here: they read `Env.raw`.
 */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import {
  address,
  choice,
  days,
  flag,
  headerPairs,
  list,
  longInteger,
  networks,
  optional,
  optionalAddress,
  optionalBase,
  optionalFlag,
  secret,
  share,
  text,
  whole,
  wordPairs,
} from './env-values.ts';

const MIN_SECRET_BYTES = 32;
const DISPOSABLE_EMAIL_LIST =
  'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/HEAD/disposable_email_blocklist.conf';

const databaseUrl = z
  .string()
  // Links such as postgresql+driver:// come from the service being replaced; the driver part means nothing here.
  .overwrite((value) => value.replace(/^(postgres(?:ql)?)\+\w+:/i, '$1:'))
  .refine((value) => /^postgres(?:ql)?:/i.test(value) && URL.canParse(value), 'must be a postgresql:// address')
  .nullable()
  .default(null)
  .meta({ isSecret: true });

const S3_REGION = text('us-east-1').describe('Region of the bucket; many storages ignore it.');
const S3_ACCESS_KEY_ID = optional().describe('Access key of the storage. Unset = the usual sources of the AWS SDK.');
const S3_SECRET_ACCESS_KEY = secret().describe('Secret of the access key.');
const S3_PATH_STYLE = flag(true).describe(
  'The bucket is part of the path, as most storages other than Amazon S3 expect, and not of the host name.',
);

const signedNetworks = (provider: string) =>
  networks().describe(
    `Addresses and networks, separated by commas, that callbacks of ${provider} may come from; empty = any, since callbacks are signed.`,
  );

/** The variables by section of the documents. */
export const SECTIONS = {
  Process: {
    NODE_ENV: choice(['development', 'production', 'test'], 'development').describe(
      'production enables strict start-up checks and JSON logs, and disables the API documentation and the sandbox.',
    ),
    HOST: text('0.0.0.0')
      .meta({ aliases: ['WEB_API_HOST'] })
      .describe('Address the HTTP server listens on.'),
    PORT: whole(8_080, 0, 65_535)
      .meta({ aliases: ['WEB_API_PORT'] })
      .describe('Port the HTTP server listens on; 0 takes any free one.'),
    DATA_DIR: text('./data').describe('Folder of the embedded database and, with the sandbox on, of the first API token.'),
    SHUTDOWN_TIMEOUT_MS: whole(20_000, 0, 600_000, 'ms').describe(
      'Milliseconds that running requests and jobs get to finish after SIGTERM and SHUTDOWN_DRAIN_MS.',
    ),
    PROVISION_ANSWER_WAIT_MS: whole(3_000, 0, 30_000, 'ms').describe(
      'Milliseconds that the answer of an operation that creates a subscription waits for the panel, so that it has the connection link. Then it answers without; 0 never waits.',
    ),
    SHUTDOWN_DRAIN_MS: whole(5_000, 0, 600_000, 'ms').describe(
      'Milliseconds after SIGTERM in which everything is still served while /readyz answers 503, so that a load balancer sends its requests elsewhere. Longer than the balancer needs to notice; 0 without a balancer. SIGINT and a second signal end it at once.',
    ),
    SANDBOX: choice(['auto', 'on', 'off'], 'auto', { true: 'on', 1: 'on', false: 'off', 0: 'off' }).describe(
      'Fake panel, payment provider, messenger and mail box on loopback. auto = all of them outside production, until one real system is configured. on = those that have no real system configured; refused in production.',
    ),
    SANDBOX_PROVIDERS: list().describe(
      'Payment methods, separated by commas, whose real providers the sandbox stands in for besides its own, for example yookassa,cryptobot. Only while the sandbox has the payments.',
    ),
    CARD_CHARGE_DAYS: days([3, 1, 0, -1]).describe(
      'Days before the end of a subscription on which a saved card is charged for a renewal that the balance does not cover, separated by commas: 0 = the last 24 hours, -1 = the first 24 hours after the end. One charge a day.',
    ),
    CARD_CHARGE_FAILURE_NOTICES: choice(['each', 'last', 'none'], 'each').describe(
      'Which failed charges of saved cards the owner is notified of: each one, that of the last day, or none.',
    ),
    REFUND_SUBSCRIPTION_RULE: choice(['keep', 'shorten', 'end'], 'keep').describe(
      'What happens to a subscription when a payment is refunded or charged back and its money was spent: keep it, take off the days that the money buys, or end it.',
    ),
    SANDBOX_BAN_SYSTEM: flag(false).describe(
      'With the panel, the sandbox has a fake ban system too, used while BAN_SYSTEM_API_URL is not set. BAN_SYSTEM_ENABLED switches it on like a real one.',
    ),
  },
  Database: {
    DATABASE_URL: databaseUrl.describe(
      'postgresql://user:password@host:5432/name. Unset = embedded database in DATA_DIR, for development and a single process.',
    ),
    DATABASE_POOLER: choice(['none', 'transaction'], 'none').describe(
      'transaction = DATABASE_URL is the address of a pooler, such as PgBouncer, that gives out a session for one transaction. Then nothing depends on a session: no parameters at its start, no named statements; the limits of statements are stored as defaults of the role in the database.',
    ),
    DATABASE_DIRECT_URL: databaseUrl.describe(
      'postgresql:// address of the same database without the pooler, for notices, migrations, backups and restores. Required with DATABASE_POOLER=transaction, and not used without it.',
    ),
    DATABASE_REPLICA_URL: databaseUrl.describe(
      'postgresql:// address of the standbys of the same cluster. Lists, statistics and exports of the Web API and of administrators are read from them, always with everything that is committed; a standby that is away or behind is left out. Not the address of a pooler that gives out a session for one transaction.',
    ),
    DATABASE_POOL_SIZE: whole(10, 2, 1_000).describe(
      'Maximum number of connections of this process. Not used with the embedded database.',
    ),
    DATABASE_STATEMENT_TIMEOUT_MS: whole(15_000, 0, 3_600_000, 'ms').describe(
      'Milliseconds after which the database cancels one statement; 0 = never.',
    ),
    ALLOW_EMBEDDED_IN_PRODUCTION: flag(false).describe(
      'Allows the embedded database in production: one process only, no replicas.',
    ),
  },
  Media: {
    MEDIA_S3_BUCKET: optional().describe(
      'Bucket of an S3-compatible storage for uploaded files. Unset = the folder media in DATA_DIR, which several instances must share.',
    ),
    MEDIA_S3_ENDPOINT: optional().describe(
      'Address of the storage, for example https://s3.example.com. Unset = Amazon S3 in MEDIA_S3_REGION.',
    ),
    MEDIA_S3_REGION: S3_REGION,
    MEDIA_S3_ACCESS_KEY_ID: S3_ACCESS_KEY_ID,
    MEDIA_S3_SECRET_ACCESS_KEY: S3_SECRET_ACCESS_KEY,
    MEDIA_S3_PATH_STYLE: S3_PATH_STYLE,
    MEDIA_LINK_MINUTES: whole(60, 1, 10_080, 'minutes').describe(
      'Minutes that the link of a private file is valid; a link lasts at least this long and less than twice as long.',
    ),
    MEDIA_FILES_PER_USER: whole(200, 1, 1_000_000).describe(
      'Files that a user of the cabinet may upload altogether; administrators may upload any number.',
    ),
    MEDIA_MEGABYTES_PER_USER: whole(500, 1, 1_000_000, 'MB').describe('Size of these files altogether.'),
    MEDIA_UNUSED_DAYS: whole(7, 0, 3_650, 'days').describe(
      'Days after which an upload is deleted that no ticket, broadcast, pinned message or text of the service refers to. 0 = never; files without a row, which an interrupted upload leaves, stay then too.',
    ),
  },
  Broadcasts: {
    MESSENGER_SENDS_PER_SECOND: whole(25, 1, 1_000, 'per second').describe(
      'Messages a second that all instances together send through the messenger; single messages may add 2 to that, and none comes later than a tenth of a second after its time. The messenger allows 30, more only by agreement.',
    ),
    BROADCAST_MAILS_PER_SECOND: whole(8, 1, 1_000, 'per second').describe(
      'Mails a second of broadcasts, of all instances together. Other mails are not limited.',
    ),
    PINNED_ANSWER_WAIT_MS: whole(3_000, 0, 30_000, 'ms').describe(
      'Milliseconds that the answer of an operation that sends or unpins a pinned message waits for the end, so that its counts are those of everyone. Then it answers with the counts reached; 0 never waits.',
    ),
  },
  Backups: {
    BACKUP_INCLUDE_SECRETS: flag(true).describe(
      'Backups contain the values of secret settings and the keys that the service made for itself. Without them a restore keeps those of the running system.',
    ),
    BACKUP_INCLUDE_SESSIONS: flag(false).describe(
      'Backups contain the sessions of the cabinet. Without them everyone signs in again after a restore.',
    ),
    BACKUP_INCLUDE_MEDIA: flag(true).describe('Backups contain the content of uploaded files, whatever storage it is in.'),
    BACKUP_UPLOAD_MAX_MB: whole(512, 1, 1_000_000, 'MB').describe(
      'Largest archive that POST /backups/upload accepts. Copy a larger one into the folder of backups and restore it by its name.',
    ),
    BACKUP_ROOTS: list((roots) => roots.every((root) => isAbsolute(root)), 'must be absolute paths').describe(
      'Absolute folders, separated by commas, in which BACKUP_LOCATION may be changed to a folder while the service runs. DATA_DIR is always one, and a BACKUP_LOCATION of the environment holds anyway.',
    ),
    BACKUP_S3_BUCKET: optional().describe(
      'Bucket of an S3-compatible storage to which each backup is copied, under backups/. Unset = none.',
    ),
    BACKUP_S3_ENDPOINT: optional().describe('Address of that storage. Unset = Amazon S3 in BACKUP_S3_REGION.'),
    BACKUP_S3_REGION: S3_REGION,
    BACKUP_S3_ACCESS_KEY_ID: S3_ACCESS_KEY_ID,
    BACKUP_S3_SECRET_ACCESS_KEY: S3_SECRET_ACCESS_KEY,
    BACKUP_S3_PATH_STYLE: S3_PATH_STYLE,
    BACKUP_DRILL_INTERVAL_HOURS: whole(0, 0, 8_760, 'hours').describe(
      'Hours between two drills, in each of which the newest backup is restored into a database of its own, checked, and the database dropped; 0 = never. GET /metrics and doctor show the result.',
    ),
    BACKUP_DRILL_DATABASE_URL: secret((value) => /^postgres(?:ql)?:\/\//.test(value), 'must be a postgresql:// address').describe(
      'postgresql:// address of a database for drills alone, which each drill empties. Unset = a database that the drill creates beside that of the service (its user needs CREATEDB), or an embedded one.',
    ),
  },
  'Logs and metrics': {
    LOG_LEVEL: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info', {
      warning: 'warn',
      critical: 'fatal',
    }).describe('Lowest level that is logged. WARNING and CRITICAL are accepted too; upper and lower case are the same.'),
    LOG_FORMAT: choice(['auto', 'json', 'pretty'], 'auto').describe(
      'auto = pretty in development, otherwise one JSON object per line.',
    ),
    LOG_ROOT: text('.').describe(
      'Folder to which the settings LOG_FILE and LOG_DIR are relative; no log file is written or read outside of it. Local disk, not a network file system. A folder that cannot be written leaves the logs on standard output only.',
    ),
    OTEL_EXPORTER_OTLP_ENDPOINT: optionalBase(/^https?:\/\//i, 'must be an http or https address').describe(
      'Base address of an OpenTelemetry collector, for example http://127.0.0.1:4318: traces and metrics are sent there by OTLP over HTTP, to /v1/traces and /v1/metrics. Unset = none, and no OpenTelemetry SDK is loaded.',
    ),
    OTEL_EXPORTER_OTLP_HEADERS: headerPairs().describe(
      'Headers of these requests, for example authorization=Bearer%20TOKEN: name=value pairs separated by commas, values URL-encoded.',
    ),
    OTEL_SERVICE_NAME: text('subscription-service').describe('Name of the service in traces and metrics.'),
    OTEL_TRACES_SAMPLER_ARG: share(0.1).describe(
      'Share of the traces that are recorded and sent, from 0 to 1. A trace is recorded as a whole: with its jobs and calls.',
    ),
    OTEL_METRIC_EXPORT_INTERVAL: whole(60_000, 1_000, 3_600_000, 'ms').describe(
      'Milliseconds between two exports of the metrics, which are those of GET /metrics.',
    ),
    TRACE_INCOMING: choice(['link', 'continue', 'ignore'], 'link').describe(
      "What the header traceparent of a request does. link = an own trace with a link to the caller's. continue = the caller's trace and its sampling decision; for callers that are trusted. ignore = nothing.",
    ),
    TRACE_OUTGOING: list().describe(
      'Outside systems whose calls get the header traceparent, by their names in the metrics, for example vpnpanel,mail. Unset = none.',
    ),
    METRICS_TOKEN: secret().describe(
      'Bearer token for GET /metrics. Unset = only requests from loopback addresses are answered.',
    ),
    AUDIT_LOG_RETENTION_DAYS: whole(0, 0, 36_500, 'days').describe(
      "Days after which rows of the administrators' audit log are deleted; 0 = never.",
    ),
  },
  'Outside systems': {
    VPNPANEL_CONCURRENCY: whole(8, 1, 64).describe(
      'Users that one run to the panel (synchronisation, squad migration) works on at the same time.',
    ),
  },
  'Web API': {
    // A setting, which accepts further words; the settings store reports a wrong one.
    WEB_API_ENABLED: flag(true).catch(true).describe('Serves the Web API.'),
    IS_DOCS_ENABLED: optionalFlag()
      .meta({ aliases: ['WEB_API_DOCS_ENABLED'] })
      .describe('Serves /docs, /redoc and /openapi.json. Unset = true, in production false.'),
    WEB_API_DEFAULT_TOKEN: secret().describe(
      'API token that exists after every start, for the first access. Create your own tokens, then remove it.',
    ),
    WEB_API_TOKEN_HMAC_SECRET: secret().describe(
      'Key of the HMAC as which API tokens are stored; without it they are stored as a plain hash.',
    ),
    AUDIT_SIGNING_KEY: secret(
      (value) => Buffer.byteLength(value) >= MIN_SECRET_BYTES,
      `must have at least ${MIN_SECRET_BYTES} bytes`,
    ).describe(
      'Key that signs the end of each day of the audit log; at least 32 bytes, the same on every instance. Unset = a key derived from CABINET_JWT_SECRET; without both, days are not signed.',
    ),
  },
  'Interface words': {
    INTERFACE_WORDS: wordPairs().describe(
      'Words that clients of another product use for ours, as pairs client=ours, comma separated: telegram=messenger,remnawave=vpnpanel. Empty = off. See docs/interface-words.md.',
    ),
    INTERFACE_WORDS_PREFIX: z
      .string()
      .regex(/^(?:none|(?:\/[a-z0-9-]+){1,3})$/, 'must be one to three segments of a-z, 0-9 and -, such as /compat, or none')
      .transform((prefix) => (prefix === 'none' ? null : prefix))
      .default('/compat')
      .describe(
        'Path below which the interface speaks the words of INTERFACE_WORDS; none = only the hosts of INTERFACE_WORDS_HOSTS.',
      ),
    INTERFACE_WORDS_HOSTS: list(
      (hosts) => hosts.every((host) => /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)),
      'must be host names, each with an optional port',
    ).describe(
      'Host names, comma separated, at which the interface speaks the words of INTERFACE_WORDS without a prefix; with :port only at this port.',
    ),
  },
  Cabinet: {
    CABINET_ENABLED: flag(true).describe('Serves the cabinet and its administration.'),
    CABINET_JWT_SECRET: secret(
      (value) => Buffer.byteLength(value) >= MIN_SECRET_BYTES,
      `must have at least ${MIN_SECRET_BYTES} bytes`,
    ).describe(
      'Key that signs the access tokens of the cabinet; at least 32 bytes, the same on every instance. Required in production when the cabinet is enabled; otherwise generated once and stored in the database.',
    ),
    CABINET_BRANDING_NAME: text('Cabinet')
      .meta({ aliases: ['VITE_APP_NAME'] })
      .describe('Name that the cabinet shows until an administrator sets one.'),
    DISPOSABLE_EMAIL_LIST_URL: address(DISPOSABLE_EMAIL_LIST, /^https:\/\//i, 'must be an https address').describe(
      'Published list of disposable mail domains (https, one per line), fetched once a day. Until the first fetch the built-in list is used; when a fetch fails, the last list.',
    ),
    MESSENGER_OIDC_ISSUER: optionalBase(/^https:\/\/[^/?#@\s]+$/, 'must be an https origin').describe(
      "Issuer (https origin) of the messenger's OpenID Connect tokens; its keys are read from /.well-known/jwks.json. Unset = the issuer of the messenger.",
    ),
    SERVICE_NAME: text('VPN Service')
      .meta({ aliases: ['BOT_NAME'] })
      .describe('Name of the service, as GET /cabinet/info/service answers it.'),
    SERVICE_DESCRIPTION: optional().describe('Description of the service there.'),
    SUPPORT_EMAIL: optional().describe('E-mail address of support there.'),
    WEBSITE_URL: optionalAddress(/^https?:\/\//i, 'must be an http or https address').describe(
      'Address of the web site there; http or https.',
    ),
  },
  Updates: {
    RELEASES_API_URL: text('https://api.github.com').describe(
      'Base address of the interface that lists releases. Anonymous: 60 requests an hour, of which all instances together need two.',
    ),
    CABINET_REPO: optional().describe(
      'Repository of the cabinet pages, owner/name, for GET /cabinet/admin/updates/releases. Unset = its part is empty.',
    ),
  },
  Mail: {
    SMTP_IMPLICIT_TLS_PORT: whole(465, 1, 65_535).describe(
      'With this SMTP_PORT the connection is TLS from its beginning; with every other one SMTP_USE_TLS decides about STARTTLS.',
    ),
    SMTP_ALLOW_SELF_SIGNED: flag(false).describe(
      'Accepts any certificate of the mail server, also one that is self-signed, has expired or is for another name. Only for a server in the same network; better name its authority in NODE_EXTRA_CA_CERTS.',
    ),
  },
  Network: {
    TRUSTED_PROXIES: networks()
      .meta({ aliases: ['CABINET_TRUSTED_PROXIES'] })
      .describe('Addresses or CIDR ranges, comma separated, whose X-Forwarded-For and X-Real-IP headers are trusted.'),
    YOOKASSA_CALLBACK_NETWORKS: networks([
      '185.71.76.0/27',
      '185.71.77.0/27',
      '77.75.153.0/25',
      '77.75.154.128/25',
      '77.75.156.11',
      '77.75.156.35',
      '2a02:5180::/32',
    ]).describe(
      'Addresses and networks, separated by commas, that callbacks of YooKassa may come from (as published; keep it up to date).',
    ),
    FREEKASSA_CALLBACK_NETWORKS: networks(['168.119.157.136', '168.119.60.227', '178.154.197.79', '51.250.54.238']).describe(
      'Addresses and networks, separated by commas, that callbacks of Freekassa may come from (as published; keep it up to date).',
    ),
    HELEKET_CALLBACK_NETWORKS: signedNetworks('Heleket'),
    WATA_CALLBACK_NETWORKS: signedNetworks('WATA'),
    CLOUDPAYMENTS_CALLBACK_NETWORKS: signedNetworks('CloudPayments'),
    SEVERPAY_CALLBACK_NETWORKS: signedNetworks('SeverPay'),
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: list().describe(
      'Host names or addresses, comma separated, that webhooks may use although they are private. For development and tests.',
    ),
  },
  Payments: {
    FREEKASSA_CREDIT_WITHOUT_API: flag(false).describe(
      'Freekassa without FREEKASSA_API_KEY: the payment form is used, and a callback is credited by its signature and address alone. With a key every callback is confirmed by the API first.',
    ),
    PAYMENT_CALLBACKS_PER_MINUTE: whole(3_000, 0, 1_000_000, 'per minute').describe(
      'Genuine payment callbacks that each instance accepts from one address in a minute; more are answered 429 with Retry-After, and the provider repeats them. A provider sends all payments of a merchant from a few addresses. 0 = no limit.',
    ),
    FREEKASSA_NONCE_START: longInteger('1').describe(
      'Lowest nonce of requests to Freekassa. Needed when other software sent higher ones with the same API key; a new API key makes it unnecessary.',
    ),
    KASSA_AI_NONCE_START: longInteger('1').describe('Lowest nonce of requests to Kassa.ai; as FREEKASSA_NONCE_START.'),
  },
};

/** The variables by name. An object of `describe`, `meta` and type each; `z.toJSONSchema` has bounds and defaults. */
export const ENV_SCHEMA = z.object({
  ...SECTIONS.Process,
  ...SECTIONS.Database,
  ...SECTIONS.Media,
  ...SECTIONS.Broadcasts,
  ...SECTIONS.Backups,
  ...SECTIONS['Logs and metrics'],
  ...SECTIONS['Outside systems'],
  ...SECTIONS['Web API'],
  ...SECTIONS['Interface words'],
  ...SECTIONS.Cabinet,
  ...SECTIONS.Updates,
  ...SECTIONS.Mail,
  ...SECTIONS.Network,
  ...SECTIONS.Payments,
});

/** Names by which a variable may be given; the first that is set wins. */
export function namesOf(name: string, variable: z.ZodType): string[] {
  return [name, ...((variable.meta()?.aliases as string[] | undefined) ?? [])];
}
