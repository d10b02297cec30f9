/**
 * Every variable that the service itself reads at start. `env.ts` parses by this table and `.env.example` is printed from it
 * (`env-example.ts`), so every variable is documented. The settings of `domain/settings` are not here: they read `Env.raw`.
 */

import { BACKUP_VARIABLES } from './env-spec-backups.ts';
import { CONTENT_VARIABLES } from './env-spec-content.ts';
import { OUTSIDE_VARIABLES } from './env-spec-outside.ts';
import { SERVICE_VARIABLES } from './env-spec-service.ts';
import { TELEMETRY_VARIABLES } from './env-spec-telemetry.ts';

export interface EnvVariable {
  readonly group: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'choice' | 'list';
  /** Other names of the same variable; the main name wins when several are set. */
  readonly aliases?: readonly string[];
  /** Value when unset; null = no value. */
  readonly default: string | null;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  /** May also be given as `NAME_FILE`, and the value never appears in a problem or a log. */
  readonly isSecret?: boolean;
  /** What the variable does, for the person who runs the service. */
  readonly effect: string;
}

export const ENV_SPEC = {
  NODE_ENV: {
    group: 'Process',
    type: 'choice',
    default: 'development',
    choices: ['development', 'production', 'test'],
    effect: 'production enables strict start-up checks and JSON logs, and disables the API documentation and the sandbox.',
  },
  HOST: {
    group: 'Process',
    type: 'string',
    aliases: ['WEB_API_HOST'],
    default: '0.0.0.0',
    effect: 'Address the HTTP server listens on.',
  },
  PORT: {
    group: 'Process',
    type: 'integer',
    aliases: ['WEB_API_PORT'],
    default: '8080',
    min: 0,
    max: 65_535,
    effect: 'Port the HTTP server listens on; 0 takes any free one.',
  },
  DATA_DIR: {
    group: 'Process',
    type: 'string',
    default: './data',
    effect: 'Folder of the embedded database and, with the sandbox on, of the first API token.',
  },
  SHUTDOWN_TIMEOUT_MS: {
    group: 'Process',
    type: 'integer',
    default: '20000',
    min: 0,
    max: 600_000,
    effect: 'Milliseconds that running requests and jobs get to finish after SIGTERM and SHUTDOWN_DRAIN_MS.',
  },
  PROVISION_ANSWER_WAIT_MS: {
    group: 'Process',
    type: 'integer',
    default: '3000',
    min: 0,
    max: 30_000,
    effect:
      'Milliseconds that the answer of an operation that creates a subscription waits for the panel, so that it has the connection link. Then it answers without; 0 never waits.',
  },
  SHUTDOWN_DRAIN_MS: {
    group: 'Process',
    type: 'integer',
    default: '5000',
    min: 0,
    max: 600_000,
    effect:
      'Milliseconds after SIGTERM in which everything is still served while /readyz answers 503, so that a load balancer sends its requests elsewhere. Longer than the balancer needs to notice; 0 without a balancer. SIGINT and a second signal end it at once.',
  },
  SANDBOX: {
    group: 'Process',
    type: 'choice',
    default: 'auto',
    choices: ['auto', 'on', 'off'],
    effect:
      'Fake panel, payment provider, messenger and mail box on loopback. auto = all of them outside production, until one real system is configured. on = those that have no real system configured; refused in production.',
  },
  SANDBOX_PROVIDERS: {
    group: 'Process',
    type: 'list',
    default: '',
    effect:
      'Payment methods, separated by commas, whose real providers the sandbox stands in for besides its own, for example yookassa,cryptobot. Only while the sandbox has the payments.',
  },
  DATABASE_URL: {
    group: 'Database',
    type: 'string',
    default: null,
    isSecret: true,
    effect:
      'postgresql://user:password@host:5432/name. Unset = embedded database in DATA_DIR, for development and a single process.',
  },
  DATABASE_POOL_SIZE: {
    group: 'Database',
    type: 'integer',
    default: '10',
    min: 2,
    max: 1_000,
    effect: 'Maximum number of connections of this process. Not used with the embedded database.',
  },
  DATABASE_STATEMENT_TIMEOUT_MS: {
    group: 'Database',
    type: 'integer',
    default: '15000',
    min: 0,
    max: 3_600_000,
    effect: 'Milliseconds after which the database cancels one statement; 0 = never.',
  },
  ALLOW_EMBEDDED_IN_PRODUCTION: {
    group: 'Database',
    type: 'boolean',
    default: 'false',
    effect: 'Allows the embedded database in production: one process only, no replicas.',
  },
  ...CONTENT_VARIABLES,
  ...BACKUP_VARIABLES,
  LOG_LEVEL: {
    group: 'Logs and metrics',
    type: 'choice',
    default: 'info',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    effect: 'Lowest level that is logged. WARNING and CRITICAL are accepted too; upper and lower case are the same.',
  },
  LOG_FORMAT: {
    group: 'Logs and metrics',
    type: 'choice',
    default: 'auto',
    choices: ['auto', 'json', 'pretty'],
    effect: 'auto = pretty in development, otherwise one JSON object per line.',
  },
  ...TELEMETRY_VARIABLES,
  METRICS_TOKEN: {
    group: 'Logs and metrics',
    type: 'string',
    default: null,
    isSecret: true,
    effect: 'Bearer token for GET /metrics. Unset = only requests from loopback addresses are answered.',
  },
  AUDIT_LOG_RETENTION_DAYS: {
    group: 'Logs and metrics',
    type: 'integer',
    default: '0',
    min: 0,
    max: 36_500,
    effect: "Days after which rows of the administrators' audit log are deleted; 0 = never.",
  },
  CARD_CHARGE_DAYS: {
    group: 'Process',
    type: 'list',
    default: '3,1,0,-1',
    effect:
      'Days before the end of a subscription on which a saved card is charged for a renewal that the balance does not cover, separated by commas: 0 = the last 24 hours, -1 = the first 24 hours after the end. One charge a day.',
  },
  CARD_CHARGE_FAILURE_NOTICES: {
    group: 'Process',
    type: 'choice',
    default: 'each',
    choices: ['each', 'last', 'none'],
    effect: 'Which failed charges of saved cards the owner is told of: each one, that of the last day, or none.',
  },
  REFUND_SUBSCRIPTION_RULE: {
    group: 'Process',
    type: 'choice',
    default: 'keep',
    choices: ['keep', 'shorten', 'end'],
    effect:
      'What happens to a subscription when a payment is refunded or charged back and its money was spent: keep it, take off the days that the money buys, or end it.',
  },
  VPNPANEL_CONCURRENCY: {
    group: 'Outside systems',
    type: 'integer',
    default: '8',
    min: 1,
    max: 64,
    effect: 'Users that one run to the panel (synchronisation, squad migration) works on at the same time.',
  },
  WEB_API_ENABLED: {
    group: 'Web API',
    type: 'boolean',
    default: 'true',
    effect: 'Serves the Web API.',
  },
  CABINET_ENABLED: {
    group: 'Cabinet',
    type: 'boolean',
    default: 'true',
    effect: 'Serves the cabinet and its administration.',
  },
  IS_DOCS_ENABLED: {
    group: 'Web API',
    type: 'boolean',
    aliases: ['WEB_API_DOCS_ENABLED'],
    default: null,
    effect: 'Serves /docs, /redoc and /openapi.json. Unset = true, in production false.',
  },
  WEB_API_DEFAULT_TOKEN: {
    group: 'Web API',
    type: 'string',
    default: null,
    isSecret: true,
    effect: 'API token that exists after every start, for the first access. Create your own tokens, then remove it.',
  },
  WEB_API_TOKEN_HMAC_SECRET: {
    group: 'Web API',
    type: 'string',
    default: null,
    isSecret: true,
    effect: 'Key of the HMAC as which API tokens are stored; without it they are stored as a plain hash.',
  },
  CABINET_JWT_SECRET: {
    group: 'Cabinet',
    type: 'string',
    default: null,
    isSecret: true,
    effect:
      'Key that signs the access tokens of the cabinet; at least 32 bytes, the same on every instance. Required in production when the cabinet is enabled; otherwise generated once and stored in the database.',
  },
  CABINET_BRANDING_NAME: {
    group: 'Cabinet',
    type: 'string',
    aliases: ['VITE_APP_NAME'],
    default: 'Cabinet',
    effect: 'Name that the cabinet shows until an administrator sets one.',
  },
  DISPOSABLE_EMAIL_LIST_URL: {
    group: 'Cabinet',
    type: 'string',
    default:
      'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/HEAD/disposable_email_blocklist.conf',
    effect:
      'Published list of disposable mail domains (https, one per line), fetched once a day. Until the first fetch the built-in list is used; when a fetch fails, the last list.',
  },
  MESSENGER_OIDC_ISSUER: {
    group: 'Cabinet',
    type: 'string',
    default: null,
    effect:
      "Issuer (https origin) of the messenger's OpenID Connect tokens; its keys are read from /.well-known/jwks.json. Unset = the issuer of the messenger.",
  },
  ...SERVICE_VARIABLES,
  ...OUTSIDE_VARIABLES,
  TRUSTED_PROXIES: {
    group: 'Network',
    type: 'list',
    aliases: ['CABINET_TRUSTED_PROXIES'],
    default: '',
    effect: 'Addresses or CIDR ranges, comma separated, whose X-Forwarded-For and X-Real-IP headers are trusted.',
  },
  YOOKASSA_CALLBACK_NETWORKS: {
    group: 'Network',
    type: 'list',
    default: '185.71.76.0/27,185.71.77.0/27,77.75.153.0/25,77.75.154.128/25,77.75.156.11,77.75.156.35,2a02:5180::/32',
    effect:
      'Addresses and networks, separated by commas, that callbacks of YooKassa may come from (as published; keep it up to date).',
  },
  FREEKASSA_CALLBACK_NETWORKS: {
    group: 'Network',
    type: 'list',
    default: '168.119.157.136,168.119.60.227,178.154.197.79,51.250.54.238',
    effect:
      'Addresses and networks, separated by commas, that callbacks of Freekassa may come from (as published; keep it up to date).',
  },
  HELEKET_CALLBACK_NETWORKS: {
    group: 'Network',
    type: 'list',
    default: '',
    effect:
      'Addresses and networks, separated by commas, that callbacks of Heleket may come from; empty = any, since callbacks are signed.',
  },
  WATA_CALLBACK_NETWORKS: {
    group: 'Network',
    type: 'list',
    default: '',
    effect:
      'Addresses and networks, separated by commas, that callbacks of WATA may come from; empty = any, since callbacks are signed.',
  },
  CLOUDPAYMENTS_CALLBACK_NETWORKS: {
    group: 'Network',
    type: 'list',
    default: '',
    effect:
      'Addresses and networks, separated by commas, that callbacks of CloudPayments may come from; empty = any, since callbacks are signed.',
  },
  SEVERPAY_CALLBACK_NETWORKS: {
    group: 'Network',
    type: 'list',
    default: '',
    effect:
      'Addresses and networks, separated by commas, that callbacks of SeverPay may come from; empty = any, since callbacks are signed.',
  },
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: {
    group: 'Network',
    type: 'list',
    default: '',
    effect:
      'Host names or addresses, comma separated, that webhooks may use although they are private. For development and tests.',
  },
  FREEKASSA_CREDIT_WITHOUT_API: {
    group: 'Payments',
    type: 'boolean',
    default: 'false',
    effect:
      'Freekassa without FREEKASSA_API_KEY: the payment form is used, and a callback is credited by its signature and address alone. With a key every callback is confirmed by the API first.',
  },
  PAYMENT_CALLBACKS_PER_MINUTE: {
    group: 'Payments',
    type: 'integer',
    default: '3000',
    min: 0,
    max: 1_000_000,
    effect:
      'Genuine payment callbacks that each instance accepts from one address in a minute; more are answered 429 with Retry-After, and the provider repeats them. A provider sends all payments of a shop from a few addresses. 0 = no limit.',
  },
  FREEKASSA_NONCE_START: {
    group: 'Payments',
    type: 'string',
    default: '1',
    effect:
      'Lowest nonce of requests to Freekassa. Needed when other software sent higher ones with the same API key; a new API key makes it unnecessary.',
  },
  KASSA_AI_NONCE_START: {
    group: 'Payments',
    type: 'string',
    default: '1',
    effect: 'Lowest nonce of requests to Kassa.ai; as FREEKASSA_NONCE_START.',
  },
} as const satisfies Record<string, EnvVariable>;

export type EnvName = keyof typeof ENV_SPEC;

/**
 * Names that end in `_FILE` and have a value themselves, so they are not read as "the secret NAME is in this file":
 * keys of the settings registry, and variables of other programs that are often present.
 */
export const PLAIN_FILE_NAMES: ReadonlySet<string> = new Set([
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
