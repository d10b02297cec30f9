import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { type BackupEnv, readBackupEnv } from './env-backups.ts';
import { readS3Bucket, type S3Bucket } from './env-s3.ts';
import { ENV_SPEC, type EnvName, type EnvVariable, PLAIN_FILE_NAMES } from './env-spec.ts';
import { readTelemetry, type TelemetryEnv } from './env-telemetry.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Payment methods whose providers publish the addresses of their callbacks (03a section 0.7). */
type CallbackNetworkMethod = 'yookassa' | 'freekassa' | 'heleket' | 'wata' | 'cloudpayments' | 'severpay';

/** Payment methods whose providers accept growing nonces only (03a section 10). */
type NonceMethod = 'freekassa' | 'kassa_ai';

/** Configuration of the process, read once at start. What each variable does: `env-spec.ts`. */
export interface Env {
  readonly nodeEnv: 'development' | 'production' | 'test';
  readonly isProduction: boolean;
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly shutdownTimeoutMs: number;
  readonly shutdownDrainMs: number;
  readonly provisionAnswerWaitMs: number;
  readonly sandbox: 'auto' | 'on' | 'off';
  /** Payment methods whose providers the sandbox stands in for. */
  readonly sandboxProviders: readonly string[];
  /** Does the sandbox with the panel have the ban system too? */
  readonly isBanSystemFake: boolean;
  /** May a fake stand in for a kind of system that is not configured? `on`, or `auto` outside production. */
  readonly isSandboxAllowed: boolean;
  /** null = embedded database in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly databasePoolSize: number;
  readonly databaseStatementTimeoutMs: number;
  readonly isEmbeddedAllowedInProduction: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'pretty';
  /** Absolute or relative to the working folder. */
  readonly logRoot: string;
  /** Null = no traces and metrics are sent anywhere. */
  readonly telemetry: TelemetryEnv | null;
  readonly metricsToken: string | null;
  readonly isCabinetEnabled: boolean;
  readonly isDocsEnabled: boolean;
  readonly webApiDefaultToken: string | null;
  readonly webApiTokenHmacSecret: string | null;
  /** null outside production = the server generates one and stores it. */
  readonly cabinetJwtSecret: string | null;
  /** Name of the cabinet until an administrator sets one. */
  readonly cabinetBrandingName: string;
  /** Without a slash at the end; null = that of the messenger. */
  readonly messengerOidcIssuer: string | null;
  /** Published list of throw-away mail domains. */
  readonly disposableEmailListUrl: string;
  /** What the cabinet shows about the service. */
  readonly serviceInfo: Readonly<{
    name: string;
    description: string | null;
    supportEmail: string | null;
    website: string | null;
  }>;
  /** Interface that lists releases, without a slash at the end; `cabinetRepo` is `owner/name`, null = none is set. */
  readonly releases: Readonly<{ apiUrl: string; cabinetRepo: string | null }>;
  /** Port of the mail server on which TLS begins at once; whether any certificate is accepted. */
  readonly smtpTls: Readonly<{ implicitPort: number; allowsSelfSigned: boolean }>;
  /** Days; 0 = audit rows are kept for ever. */
  readonly auditLogRetentionDays: number;
  /** S3-compatible storage of uploaded files; null = a folder in `dataDir`. */
  readonly mediaS3: S3Bucket | null;
  /** What backups contain and where else they go. */
  readonly backups: Readonly<BackupEnv>;
  /** Shortest validity of a signed link to a private file. */
  readonly mediaLinkMinutes: number;
  /** What a user of the cabinet may upload altogether. */
  readonly mediaFilesPerUser: number;
  /** Days after which an unused upload is deleted; 0 = never. */
  readonly mediaUnusedDays: number;
  readonly mediaMegabytesPerUser: number;
  /** Pace of all instances together. */
  readonly messengerSendsPerSecond: number;
  readonly broadcastMailsPerSecond: number;
  readonly pinnedAnswerWaitMs: number;
  /** Calls to the panel that one run may have under way at the same time. */
  readonly vpnpanelConcurrency: number;
  /** Addresses and CIDR ranges whose forwarding headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** Days before the end; negative = after it. */
  readonly cardChargeDays: readonly number[];
  readonly cardChargeFailureNotices: 'each' | 'last' | 'none';
  readonly refundSubscriptionRule: 'keep' | 'shorten' | 'end';
  /** By payment method; empty = any address may send its callbacks. */
  readonly callbackNetworks: Readonly<Record<CallbackNetworkMethod, readonly string[]>>;
  /** Whether callbacks of Freekassa are credited without its API, where no API key is set. */
  readonly creditsFreekassaWithoutApi: boolean;
  /** Accepted payment callbacks of one address a minute, of each instance; 0 = no limit. */
  readonly callbacksPerMinute: number;
  /** By payment method: the lowest nonce of its requests, a decimal that may be above the safe integers. */
  readonly nonceStarts: Readonly<Record<NonceMethod, string>>;
  readonly webhookAllowedPrivateHosts: readonly string[];
  /** The whole environment with `NAME_FILE` secrets read, for the settings registry. Empty values are kept. */
  readonly raw: Readonly<Record<string, string>>;
}

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

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on']);
const FALSE_WORDS = new Set(['false', '0', 'no', 'off']);
const MIN_JWT_SECRET_BYTES = 32;
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

const MAX_LONG_INTEGER = 9_000_000_000_000_000_000n;

/** Parses variables by the spec table and collects every problem instead of stopping at the first. */
class EnvReader {
  readonly problems: string[] = [];
  readonly #raw: Readonly<Record<string, string>>;

  constructor(raw: Readonly<Record<string, string>>) {
    this.#raw = raw;
  }

  #find(name: EnvName): { given: string; text: string } | null {
    const variable: EnvVariable = ENV_SPEC[name];
    for (const given of [name, ...(variable.aliases ?? [])]) {
      const text = this.#raw[given]?.trim();
      if (text) return { given, text };
    }
    return variable.default === null ? null : { given: name, text: variable.default };
  }

  #refuse(given: string, text: string): void {
    this.problems.push(`${given}: ${text}`);
  }

  problem(name: EnvName, text: string): void {
    this.#refuse(name, text);
  }

  string(name: EnvName): string | null {
    return this.#find(name)?.text ?? null;
  }

  integer(name: EnvName): number {
    const variable: EnvVariable = ENV_SPEC[name];
    const found = this.#find(name);
    const min = variable.min ?? Number.MIN_SAFE_INTEGER;
    const max = variable.max ?? Number.MAX_SAFE_INTEGER;
    const value = found && /^-?\d{1,15}$/.test(found.text) ? Number(found.text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.#refuse(found?.given ?? name, `must be a whole number from ${min} to ${max}`);
    return min;
  }

  boolean(name: EnvName, whenUnset = false): boolean {
    const found = this.#find(name);
    if (!found) return whenUnset;
    const word = found.text.toLowerCase();
    if (TRUE_WORDS.has(word)) return true;
    if (!FALSE_WORDS.has(word)) this.#refuse(found.given, 'must be true or false');
    return false;
  }

  choice<T extends string>(name: EnvName, choices: readonly T[], synonyms: Readonly<Record<string, T>> = {}): T {
    const found = this.#find(name);
    const word = found?.text.toLowerCase() ?? '';
    const value = choices.find((choice) => choice === word) ?? (Object.hasOwn(synonyms, word) ? synonyms[word] : undefined);
    if (value !== undefined) return value;
    this.#refuse(found?.given ?? name, `must be one of ${choices.join(', ')}`);
    return choices[0]!;
  }

  /** A positive whole number as its text, since it may be above the safe integers; the database has room to count on from it. */
  longInteger(name: EnvName): string {
    const found = this.#find(name);
    if (found && /^[1-9]\d{0,18}$/.test(found.text) && BigInt(found.text) <= MAX_LONG_INTEGER) return found.text;
    this.#refuse(found?.given ?? name, `must be a whole number from 1 to ${MAX_LONG_INTEGER}`);
    return '1';
  }

  list(name: EnvName): string[] {
    const text = this.#find(name)?.text ?? '';
    return text.split(/[\s,]+/).filter((item) => item !== '');
  }

  databaseUrl(): string | null {
    const found = this.#find('DATABASE_URL');
    if (!found) return null;
    // Links such as postgresql+driver:// come from the service being replaced; the driver part means nothing here.
    const text = found.text.replace(/^(postgres(?:ql)?)\+\w+:/i, '$1:');
    const isUsable = URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
    if (!isUsable) this.#refuse(found.given, 'must be a postgresql:// address');
    return text;
  }

  /** Whole numbers of days from -30 to 30. */
  days(name: EnvName): number[] {
    const items = this.list(name);
    const bad = items.filter((item) => !/^-?\d{1,2}$/.test(item) || Math.abs(Number(item)) > 30);
    if (bad.length > 0) this.#refuse(name, `not a number of days from -30 to 30: ${bad.join(', ')}`);
    return items.map(Number);
  }

  addresses(name: EnvName): string[] {
    const items = this.list(name);
    const bad = items.filter((item) => !ipaddr.isValid(item) && !ipaddr.isValidCIDR(item));
    if (bad.length > 0) this.#refuse(name, `not an address or a CIDR range: ${bad.join(', ')}`);
    return items;
  }
}

/** A file that cannot be read stops the start only under such names; other programs keep `…_FILE` variables of their own. */
function isExpectedSecret(name: string): boolean {
  return name in ENV_SPEC || /(TOKEN|SECRET|PASSWORD|KEY|DSN)$/.test(name);
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

function checkProduction(env: Env, reader: EnvReader): void {
  if (env.sandbox === 'on') reader.problem('SANDBOX', 'on is not allowed in production: it would sell access from a fake panel');
  if (env.databaseUrl === null && !env.isEmbeddedAllowedInProduction) {
    reader.problem('DATABASE_URL', 'is required in production (or set ALLOW_EMBEDDED_IN_PRODUCTION=true for one single process)');
  }
  if (env.isCabinetEnabled && env.cabinetJwtSecret === null) {
    reader.problem('CABINET_JWT_SECRET', 'is required in production while the cabinet is enabled');
  }
  const secrets: [EnvName, string | null][] = [
    ['CABINET_JWT_SECRET', env.cabinetJwtSecret],
    ['METRICS_TOKEN', env.metricsToken],
    ['WEB_API_DEFAULT_TOKEN', env.webApiDefaultToken],
    ['WEB_API_TOKEN_HMAC_SECRET', env.webApiTokenHmacSecret],
  ];
  for (const [name, value] of secrets) {
    if (value !== null && isPlaceholder(value)) reader.problem(name, 'looks like a placeholder; generate a random value');
  }
}

/**
 * Checks and types the environment. Empty values count as unset.
 * @param readFile how `NAME_FILE` secrets are read
 * @throws EnvError with every problem at once
 */
export function loadEnv(source: EnvSource, readFile: (path: string) => string = (path) => readFileSync(path, 'utf8')): Env {
  const fileProblems: string[] = [];
  const raw = Object.freeze(withFileSecrets(source, readFile, fileProblems));
  const reader = new EnvReader(raw);

  const nodeEnv = reader.choice('NODE_ENV', ENV_SPEC.NODE_ENV.choices);
  const isProduction = nodeEnv === 'production';
  const sandbox = reader.choice('SANDBOX', ENV_SPEC.SANDBOX.choices, { true: 'on', '1': 'on', false: 'off', '0': 'off' });
  const logFormat = reader.choice('LOG_FORMAT', ENV_SPEC.LOG_FORMAT.choices);
  const env: Env = {
    nodeEnv,
    isProduction,
    host: reader.string('HOST') ?? ENV_SPEC.HOST.default,
    port: reader.integer('PORT'),
    dataDir: reader.string('DATA_DIR') ?? ENV_SPEC.DATA_DIR.default,
    shutdownTimeoutMs: reader.integer('SHUTDOWN_TIMEOUT_MS'),
    shutdownDrainMs: reader.integer('SHUTDOWN_DRAIN_MS'),
    provisionAnswerWaitMs: reader.integer('PROVISION_ANSWER_WAIT_MS'),
    sandbox,
    sandboxProviders: Object.freeze(reader.list('SANDBOX_PROVIDERS')),
    isBanSystemFake: reader.boolean('SANDBOX_BAN_SYSTEM'),
    isSandboxAllowed: sandbox === 'on' || (sandbox === 'auto' && !isProduction),
    databaseUrl: reader.databaseUrl(),
    databasePoolSize: reader.integer('DATABASE_POOL_SIZE'),
    databaseStatementTimeoutMs: reader.integer('DATABASE_STATEMENT_TIMEOUT_MS'),
    isEmbeddedAllowedInProduction: reader.boolean('ALLOW_EMBEDDED_IN_PRODUCTION'),
    logLevel: reader.choice('LOG_LEVEL', ENV_SPEC.LOG_LEVEL.choices, { warning: 'warn', critical: 'fatal' }),
    logFormat: logFormat === 'auto' ? (nodeEnv === 'development' ? 'pretty' : 'json') : logFormat,
    logRoot: reader.string('LOG_ROOT')!,
    telemetry: readTelemetry(reader),
    metricsToken: reader.string('METRICS_TOKEN'),
    isCabinetEnabled: reader.boolean('CABINET_ENABLED'),
    isDocsEnabled: reader.boolean('IS_DOCS_ENABLED', !isProduction),
    webApiDefaultToken: reader.string('WEB_API_DEFAULT_TOKEN'),
    webApiTokenHmacSecret: reader.string('WEB_API_TOKEN_HMAC_SECRET'),
    cabinetJwtSecret: reader.string('CABINET_JWT_SECRET'),
    cabinetBrandingName: reader.string('CABINET_BRANDING_NAME')!,
    messengerOidcIssuer: reader.string('MESSENGER_OIDC_ISSUER')?.replace(/\/+$/, '') ?? null,
    disposableEmailListUrl: reader.string('DISPOSABLE_EMAIL_LIST_URL')!,
    serviceInfo: Object.freeze({
      name: reader.string('SERVICE_NAME')!,
      description: reader.string('SERVICE_DESCRIPTION'),
      supportEmail: reader.string('SUPPORT_EMAIL'),
      website: reader.string('WEBSITE_URL'),
    }),
    releases: Object.freeze({
      apiUrl: reader.string('RELEASES_API_URL')!.replace(/\/+$/, ''),
      cabinetRepo: reader.string('CABINET_REPO'),
    }),
    auditLogRetentionDays: reader.integer('AUDIT_LOG_RETENTION_DAYS'),
    mediaS3: readS3Bucket(reader, 'MEDIA_S3'),
    backups: Object.freeze(readBackupEnv(reader)),
    mediaLinkMinutes: reader.integer('MEDIA_LINK_MINUTES'),
    mediaFilesPerUser: reader.integer('MEDIA_FILES_PER_USER'),
    mediaUnusedDays: reader.integer('MEDIA_UNUSED_DAYS'),
    smtpTls: {
      implicitPort: reader.integer('SMTP_IMPLICIT_TLS_PORT'),
      allowsSelfSigned: reader.boolean('SMTP_ALLOW_SELF_SIGNED'),
    },
    mediaMegabytesPerUser: reader.integer('MEDIA_MEGABYTES_PER_USER'),
    messengerSendsPerSecond: reader.integer('MESSENGER_SENDS_PER_SECOND'),
    broadcastMailsPerSecond: reader.integer('BROADCAST_MAILS_PER_SECOND'),
    pinnedAnswerWaitMs: reader.integer('PINNED_ANSWER_WAIT_MS'),
    vpnpanelConcurrency: reader.integer('VPNPANEL_CONCURRENCY'),
    cardChargeDays: Object.freeze(reader.days('CARD_CHARGE_DAYS')),
    cardChargeFailureNotices: reader.choice('CARD_CHARGE_FAILURE_NOTICES', ENV_SPEC.CARD_CHARGE_FAILURE_NOTICES.choices),
    refundSubscriptionRule: reader.choice('REFUND_SUBSCRIPTION_RULE', ENV_SPEC.REFUND_SUBSCRIPTION_RULE.choices),
    trustedProxies: Object.freeze(reader.addresses('TRUSTED_PROXIES')),
    callbackNetworks: Object.freeze({
      yookassa: reader.addresses('YOOKASSA_CALLBACK_NETWORKS'),
      freekassa: reader.addresses('FREEKASSA_CALLBACK_NETWORKS'),
      heleket: reader.addresses('HELEKET_CALLBACK_NETWORKS'),
      wata: reader.addresses('WATA_CALLBACK_NETWORKS'),
      cloudpayments: reader.addresses('CLOUDPAYMENTS_CALLBACK_NETWORKS'),
      severpay: reader.addresses('SEVERPAY_CALLBACK_NETWORKS'),
    }),
    creditsFreekassaWithoutApi: reader.boolean('FREEKASSA_CREDIT_WITHOUT_API'),
    callbacksPerMinute: reader.integer('PAYMENT_CALLBACKS_PER_MINUTE'),
    nonceStarts: Object.freeze({
      freekassa: reader.longInteger('FREEKASSA_NONCE_START'),
      kassa_ai: reader.longInteger('KASSA_AI_NONCE_START'),
    }),
    webhookAllowedPrivateHosts: Object.freeze(reader.list('WEBHOOK_ALLOWED_PRIVATE_HOSTS').map((host) => host.toLowerCase())),
    raw,
  };
  if (env.cabinetJwtSecret !== null && Buffer.byteLength(env.cabinetJwtSecret) < MIN_JWT_SECRET_BYTES) {
    reader.problem('CABINET_JWT_SECRET', `must have at least ${MIN_JWT_SECRET_BYTES} bytes`);
  }
  if (env.messengerOidcIssuer !== null && !/^https:\/\/[^/?#@\s]+$/.test(env.messengerOidcIssuer)) {
    reader.problem('MESSENGER_OIDC_ISSUER', 'must be an https origin');
  }
  if (!/^https:\/\//i.test(env.disposableEmailListUrl) || !URL.canParse(env.disposableEmailListUrl)) {
    reader.problem('DISPOSABLE_EMAIL_LIST_URL', 'must be an https address');
  }
  const { website } = env.serviceInfo;
  if (website !== null && (!/^https?:\/\//i.test(website) || !URL.canParse(website))) {
    reader.problem('WEBSITE_URL', 'must be an http or https address');
  }
  if (isProduction) checkProduction(env, reader);

  const problems = [...fileProblems, ...reader.problems];
  if (problems.length > 0) throw new EnvError(problems);
  return Object.freeze(env);
}
