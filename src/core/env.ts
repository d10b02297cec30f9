import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { ENV_SCHEMA, namesOf } from './env-schema.ts';
import { withoutSlash } from './env-values.ts';

/** The variables as the schema reads them. */
type Values = z.output<typeof ENV_SCHEMA>;

/** Configuration of the process, read once at start. What each variable does: `env-schema.ts`. */
export interface Env extends ReturnType<typeof envOf> {
  /** The whole environment with `NAME_FILE` secrets read, for the settings registry. Empty values are kept. */
  readonly raw: Readonly<Record<string, string>>;
}

/** A bucket of an S3-compatible storage. */
export interface S3Bucket {
  bucket: string;
  /** Null = Amazon S3 in the region. */
  endpoint: string | null;
  region: string;
  /** Null = the usual sources of the AWS SDK. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  isPathStyle: boolean;
}

export type LogLevel = Env['logLevel'];

/** Where traces and metrics go. */
export type TelemetryEnv = ReturnType<typeof telemetryOf>;

export type EnvSource = Readonly<Record<string, string | undefined>>;

/** The environment cannot be used. `problems` holds one line for each, beginning with the variable's name, without secret values. */
export class EnvError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The environment is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'EnvError';
    this.problems = problems;
  }
}

/** What the rest of the service reads, by topic. */
function envOf(values: Values) {
  const isProduction = values.NODE_ENV === 'production';
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, LOG_FORMAT: logFormat } = values;
  return Object.freeze({
    nodeEnv: values.NODE_ENV,
    isProduction,
    host: values.HOST,
    port: values.PORT,
    dataDir: values.DATA_DIR,
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
    shutdownDrainMs: values.SHUTDOWN_DRAIN_MS,
    provisionAnswerWaitMs: values.PROVISION_ANSWER_WAIT_MS,
    sandbox: values.SANDBOX,
    /** Payment methods whose providers the sandbox stands in for. */
    sandboxProviders: values.SANDBOX_PROVIDERS,
    /** Does the sandbox with the panel have the ban system too? */
    isBanSystemFake: values.SANDBOX_BAN_SYSTEM,
    /** May a fake stand in for a kind of system that is not configured? `on`, or `auto` outside production. */
    isSandboxAllowed: values.SANDBOX === 'on' || (values.SANDBOX === 'auto' && !isProduction),
    /** null = embedded database in `dataDir`. */
    databaseUrl: values.DATABASE_URL,
    /** The address without the pooler that `databaseUrl` leads to; null = there is no pooler. */
    databaseDirectUrl: values.DATABASE_POOLER === 'transaction' ? values.DATABASE_DIRECT_URL : null,
    /** Of standbys that answer lists and statistics; null = the primary does. */
    databaseReplicaUrl: values.DATABASE_REPLICA_URL,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    databaseStatementTimeoutMs: values.DATABASE_STATEMENT_TIMEOUT_MS,
    isEmbeddedAllowedInProduction: values.ALLOW_EMBEDDED_IN_PRODUCTION,
    logLevel: values.LOG_LEVEL,
    logFormat: logFormat !== 'auto' ? logFormat : values.NODE_ENV === 'development' ? ('pretty' as const) : ('json' as const),
    /** Absolute or relative to the working folder. */
    logRoot: values.LOG_ROOT,
    /** Null = no traces and metrics are sent anywhere. */
    telemetry: endpoint === null ? null : telemetryOf(values, endpoint),
    metricsToken: values.METRICS_TOKEN,
    isCabinetEnabled: values.CABINET_ENABLED,
    isDocsEnabled: values.IS_DOCS_ENABLED ?? !isProduction,
    webApiDefaultToken: values.WEB_API_DEFAULT_TOKEN,
    webApiTokenHmacSecret: values.WEB_API_TOKEN_HMAC_SECRET,
    auditSigningKey: values.AUDIT_SIGNING_KEY,
    /** null outside production = the server generates one and stores it. */
    cabinetJwtSecret: values.CABINET_JWT_SECRET,
    cabinetBrandingName: values.CABINET_BRANDING_NAME,
    /** Without a slash at the end; null = that of the messenger. */
    messengerOidcIssuer: values.MESSENGER_OIDC_ISSUER,
    disposableEmailListUrl: values.DISPOSABLE_EMAIL_LIST_URL,
    /** What the cabinet shows about the service. */
    serviceInfo: Object.freeze({
      name: values.SERVICE_NAME,
      description: values.SERVICE_DESCRIPTION,
      supportEmail: values.SUPPORT_EMAIL,
      website: values.WEBSITE_URL,
    }),
    /** Interface that lists releases, without a slash at the end; `cabinetRepo` is `owner/name`, null = none is set. */
    releases: Object.freeze({ apiUrl: withoutSlash(values.RELEASES_API_URL), cabinetRepo: values.CABINET_REPO }),
    /** Port of the mail server on which TLS begins at once; whether any certificate is accepted. */
    smtpTls: Object.freeze({ implicitPort: values.SMTP_IMPLICIT_TLS_PORT, allowsSelfSigned: values.SMTP_ALLOW_SELF_SIGNED }),
    /** 0 = audit rows are kept for ever. */
    auditLogRetentionDays: values.AUDIT_LOG_RETENTION_DAYS,
    /** Null = a folder in `dataDir`. */
    mediaS3: bucketOf(values, 'MEDIA_S3'),
    backups: Object.freeze({
      /** What backups contain besides the data. */
      scope: {
        secrets: values.BACKUP_INCLUDE_SECRETS,
        sessions: values.BACKUP_INCLUDE_SESSIONS,
        media: values.BACKUP_INCLUDE_MEDIA,
      },
      uploadMaxBytes: values.BACKUP_UPLOAD_MAX_MB * 1024 * 1024,
      /** Folders besides `DATA_DIR` in which the folder of backups may be, absolute. */
      roots: values.BACKUP_ROOTS,
      /** Where backups are copied to; null = nowhere. */
      s3: bucketOf(values, 'BACKUP_S3'),
      /** 0 = there is no drill. */
      drillIntervalHours: values.BACKUP_DRILL_INTERVAL_HOURS,
      /** An empty database for drills; null = one is created beside the service's. */
      drillDatabaseUrl: values.BACKUP_DRILL_DATABASE_URL,
    }),
    mediaLinkMinutes: values.MEDIA_LINK_MINUTES,
    mediaFilesPerUser: values.MEDIA_FILES_PER_USER,
    mediaUnusedDays: values.MEDIA_UNUSED_DAYS,
    mediaMegabytesPerUser: values.MEDIA_MEGABYTES_PER_USER,
    messengerSendsPerSecond: values.MESSENGER_SENDS_PER_SECOND,
    broadcastMailsPerSecond: values.BROADCAST_MAILS_PER_SECOND,
    pinnedAnswerWaitMs: values.PINNED_ANSWER_WAIT_MS,
    vpnpanelConcurrency: values.VPNPANEL_CONCURRENCY,
    trustedProxies: values.TRUSTED_PROXIES,
    /** Days before the end; negative = after it. */
    cardChargeDays: values.CARD_CHARGE_DAYS,
    cardChargeFailureNotices: values.CARD_CHARGE_FAILURE_NOTICES,
    refundSubscriptionRule: values.REFUND_SUBSCRIPTION_RULE,
    /** By payment method (03a section 0.7); empty = any address may send its callbacks. */
    callbackNetworks: Object.freeze({
      yookassa: values.YOOKASSA_CALLBACK_NETWORKS,
      freekassa: values.FREEKASSA_CALLBACK_NETWORKS,
      heleket: values.HELEKET_CALLBACK_NETWORKS,
      wata: values.WATA_CALLBACK_NETWORKS,
      cloudpayments: values.CLOUDPAYMENTS_CALLBACK_NETWORKS,
      severpay: values.SEVERPAY_CALLBACK_NETWORKS,
    }),
    creditsFreekassaWithoutApi: values.FREEKASSA_CREDIT_WITHOUT_API,
    /** Of one address, on each instance; 0 = no limit. */
    callbacksPerMinute: values.PAYMENT_CALLBACKS_PER_MINUTE,
    /** By payment method whose provider accepts growing nonces only (03a section 10): the lowest one. */
    nonceStarts: Object.freeze({ freekassa: values.FREEKASSA_NONCE_START, kassa_ai: values.KASSA_AI_NONCE_START }),
    /** Null = off (spec 09). */
    interfaceWords: values.INTERFACE_WORDS.length === 0 ? null : interfaceWordsOf(values),
    webhookAllowedPrivateHosts: Object.freeze(values.WEBHOOK_ALLOWED_PRIVATE_HOSTS.map((host) => host.toLowerCase())),
  });
}

/** The mount at which the interface speaks the words of its clients. */
export type InterfaceWordsEnv = ReturnType<typeof interfaceWordsOf>;

function interfaceWordsOf(values: Values) {
  return Object.freeze({
    pairs: values.INTERFACE_WORDS,
    /** Null = only the hosts. */
    prefix: values.INTERFACE_WORDS_PREFIX,
    hosts: values.INTERFACE_WORDS_HOSTS.map((host) => host.toLowerCase()),
  });
}

function telemetryOf(values: Values, endpoint: string) {
  return Object.freeze({
    /** Without a slash at the end. */
    endpoint,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: values.OTEL_SERVICE_NAME,
    /** Share of the traces that are recorded, 0 to 1. */
    sampledShare: values.OTEL_TRACES_SAMPLER_ARG,
    metricIntervalMs: values.OTEL_METRIC_EXPORT_INTERVAL,
    incoming: values.TRACE_INCOMING,
    /** Names of systems whose calls carry the trace. */
    outgoing: new Set(values.TRACE_OUTGOING) as ReadonlySet<string>,
  });
}

/** The bucket that the variables `<prefix>_BUCKET` and so on describe; null = there is none. */
function bucketOf(values: Values, prefix: 'MEDIA_S3' | 'BACKUP_S3'): S3Bucket | null {
  const bucket = values[`${prefix}_BUCKET`];
  const accessKeyId = values[`${prefix}_ACCESS_KEY_ID`];
  const secretAccessKey = values[`${prefix}_SECRET_ACCESS_KEY`];
  if (bucket === null) return null;
  return {
    bucket,
    endpoint: values[`${prefix}_ENDPOINT`],
    region: values[`${prefix}_REGION`],
    credentials: accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null,
    isPathStyle: values[`${prefix}_PATH_STYLE`],
  };
}

type Report = (name: keyof Values, problem: string) => void;

/** What several variables have to be together. */
function checkTogether(values: Values, report: Report): void {
  for (const prefix of ['MEDIA_S3', 'BACKUP_S3'] as const) {
    const endpoint = values[`${prefix}_ENDPOINT`];
    if (values[`${prefix}_BUCKET`] === null) continue;
    if (endpoint !== null && !/^https?:\/\/[^\s@]+$/i.test(endpoint)) {
      report(`${prefix}_ENDPOINT`, 'must be an http or https address without credentials');
    }
    if ((values[`${prefix}_ACCESS_KEY_ID`] === null) !== (values[`${prefix}_SECRET_ACCESS_KEY`] === null)) {
      report(`${prefix}_SECRET_ACCESS_KEY`, `and ${prefix}_ACCESS_KEY_ID must be set together`);
    }
  }
  const drill = values.BACKUP_DRILL_DATABASE_URL;
  if (drill !== null && drill === values.DATABASE_URL) {
    report('BACKUP_DRILL_DATABASE_URL', 'must not be the database of the service: a drill empties it');
  }
  if (values.DATABASE_POOLER === 'transaction' && (values.DATABASE_URL === null || values.DATABASE_DIRECT_URL === null)) {
    report('DATABASE_DIRECT_URL', 'and DATABASE_URL are required with DATABASE_POOLER=transaction');
  }
  if (values.NODE_ENV === 'production') checkProduction(values, report);
}

const SECRETS = ['CABINET_JWT_SECRET', 'METRICS_TOKEN', 'WEB_API_DEFAULT_TOKEN', 'WEB_API_TOKEN_HMAC_SECRET'] as const;

function checkProduction(values: Values, report: Report): void {
  if (values.SANDBOX === 'on') report('SANDBOX', 'on is not allowed in production: it would sell access from a fake panel');
  if (values.DATABASE_URL === null && values.ALLOW_EMBEDDED_IN_PRODUCTION !== true) {
    report('DATABASE_URL', 'is required in production (or set ALLOW_EMBEDDED_IN_PRODUCTION=true for one single process)');
  }
  if (values.CABINET_ENABLED === true && values.CABINET_JWT_SECRET === null) {
    report('CABINET_JWT_SECRET', 'is required in production while the cabinet is enabled');
  }
  for (const name of SECRETS) {
    const value = values[name];
    if (value !== null && isPlaceholder(value)) report(name, 'looks like a placeholder; generate a random value');
  }
}

const PLACEHOLDER_PATTERN =
  /change[-_ ]?(me|this|it)|example|placeholder|replace[-_ ]?(me|this)|your[-_ ]|default|password|secret[-_ ]?key|qwerty/i;
const PLACEHOLDER_WORDS = new Set([
  'admin',
  'root',
  'secret',
  'test',
  'token',
  'key',
  'apikey',
  'api-key',
  'api_key',
  'dev',
  'demo',
]);

/** Whether the value looks copied from documentation instead of generated. */
function isPlaceholder(value: string): boolean {
  return PLACEHOLDER_WORDS.has(value.toLowerCase()) || PLACEHOLDER_PATTERN.test(value) || new Set(value).size < 5;
}

/** The schema with the rules that concern several variables, which hold although other variables are wrong: all problems appear at once. */
const ENVIRONMENT = ENV_SCHEMA.superRefine(
  (values, context) => checkTogether(values, (name, message) => context.addIssue({ code: 'custom', path: [name], message })),
  { when: () => true },
).transform(envOf);

/**
 * Names that end in `_FILE` and have a value themselves, so they are not read as "the secret NAME is in this file":
 * keys of the settings registry, and variables of other programs that are often present.
 */
const PLAIN_FILE_NAMES: ReadonlySet<string> = new Set([
  'LOG_FILE',
  'LOGO_FILE',
  'LOG_INFO_FILE',
  'LOG_WARNING_FILE',
  'LOG_ERROR_FILE',
  'LOG_PAYMENTS_FILE',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'COMPOSE_FILE',
  'GIT_INDEX_FILE',
  'SSL_CERT_FILE',
]);

/** A file that cannot be read stops the start only under such names; other programs keep `…_FILE` variables of their own. */
function isExpectedSecret(name: string): boolean {
  return name in ENV_SCHEMA.shape || /(TOKEN|SECRET|PASSWORD|KEY|DSN)$/.test(name);
}

/** Reads `NAME_FILE` secrets into `NAME`; one trailing newline, which editors add, is not part of the secret. */
function withFileSecrets(source: EnvSource, readFile: (path: string) => string, problems: string[]): Record<string, string> {
  const raw: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined) raw[name] = value;
  }
  for (const [fileName, path] of Object.entries(raw)) {
    const name = fileName.slice(0, -'_FILE'.length);
    if (!/^[A-Z][A-Z0-9_]*_FILE$/.test(fileName) || PLAIN_FILE_NAMES.has(fileName) || path.trim() === '') continue;
    if (raw[name]) {
      problems.push(`${name}: is set, and so is ${fileName}; keep one`);
      continue;
    }
    try {
      raw[name] = readFile(path.trim()).replace(/\r?\n$/, '');
    } catch (error) {
      if (!isExpectedSecret(name)) continue;
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
      problems.push(`${fileName}: the file cannot be read (${reason})`);
    }
  }
  return raw;
}

/**
 * Checks and types the environment. Empty values count as unset.
 * @param readFile how `NAME_FILE` secrets are read
 * @throws EnvError with every problem at once
 */
export function loadEnv(source: EnvSource, readFile: (path: string) => string = (path) => readFileSync(path, 'utf8')): Env {
  const problems: string[] = [];
  const raw = Object.freeze(withFileSecrets(source, readFile, problems));
  const given: Record<string, string> = {};
  const texts: Record<string, string> = {};
  for (const [name, variable] of Object.entries(ENV_SCHEMA.shape)) {
    given[name] = namesOf(name, variable).find((alias) => raw[alias]?.trim()) ?? name;
    const text = raw[given[name]]?.trim();
    if (text) texts[name] = text;
  }
  const parsed = ENVIRONMENT.safeParse(texts);
  for (const { path, message } of parsed.error?.issues ?? []) problems.push(`${given[String(path[0])]}: ${message}`);
  if (!parsed.success || problems.length > 0) throw new EnvError(problems);
  return Object.freeze({ ...parsed.data, raw });
}
