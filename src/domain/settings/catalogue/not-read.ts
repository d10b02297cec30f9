import type { SettingKey } from './catalogue.ts';

/**
 * Settings that the service does not read, or not while it runs (spec 10 O4). Hints, docs/settings.md and the test that every other key has a
 * reader come from these lists.
 */

/** Read by clients, a bot for example, through the settings operations; each text says for what. */
export const usedByClients: Partial<Record<SettingKey, string>> = {
  ACTIVATE_BUTTON_TEXT: 'the text of the activation button',
  ACTIVATE_BUTTON_VISIBLE: 'whether the activation button is shown',
  BASE_SUBSCRIPTION_PRICE: 'the price of a period without a price of its own, as the choices of the simple purchase show it',
  BUY_TRAFFIC_BUTTON_VISIBLE: 'whether the button for more traffic is shown',
  CABINET_BUTTON_STYLE: 'the style of menu buttons whose section has none',
  DISABLE_WEB_PAGE_PREVIEW: 'link previews in messages of the client; messages of this service have none',
  ENABLE_DEEP_LINKS: 'whether links open the VPN apps',
  ENABLE_LOGO_MODE: 'whether menus are shown with the logo',
  LOGO_FILE: 'the image of the logo',
  MINIAPP_SUPPORT_TYPE: 'how a mini app leads to support; the support configuration of the cabinet follows SUPPORT_SYSTEM_MODE',
  MINIAPP_SUPPORT_URL: 'where a mini app leads to support',
  MINIAPP_TICKETS_ENABLED: 'whether a mini app shows tickets',
  SERVER_STATUS_EXTERNAL_URL: 'the page of the server status',
  SERVER_STATUS_ITEMS_PER_PAGE: 'servers on one page of the server status',
  SERVER_STATUS_METRICS_PASSWORD: 'the access to the metrics of the server status',
  SERVER_STATUS_METRICS_URL: 'the source of the server status',
  SERVER_STATUS_METRICS_USERNAME: 'the access to the metrics of the server status',
  SERVER_STATUS_METRICS_VERIFY_SSL: 'whether the certificate of the source is verified',
  SERVER_STATUS_MODE: 'how the server status is shown',
  SERVER_STATUS_REQUEST_TIMEOUT: 'the time for one request of the server status',
  SIMPLE_SUBSCRIPTION_DEVICE_LIMIT: 'the devices of the simple purchase',
  SIMPLE_SUBSCRIPTION_PERIOD_DAYS: 'the period of the simple purchase',
  SIMPLE_SUBSCRIPTION_SQUAD_UUID: 'the servers of the simple purchase',
  SIMPLE_SUBSCRIPTION_TRAFFIC_GB: 'the traffic of the simple purchase',
  SKIP_REFERRAL_CODE: 'whether new users are asked for a referral code',
  SKIP_RULES_ACCEPT: 'whether new users are asked to accept the rules',
  SUBSCRIPTION_RENEWAL_BALANCE_THRESHOLD_KOPEKS: 'the balance from which a renewal is suggested',
  SUPPORT_TOPUP_ENABLED: 'whether a top-up through support is offered',
  TRAFFIC_RESET_BASE_PRICE: 'the price of a traffic reset',
  TRAFFIC_RESET_PRICE_MODE: 'how the price of a traffic reset is calculated',
};

const ONE_ADDRESS = 'callbacks arrive at the address and the port of the service (HOST, PORT)';
const ONE_DATABASE = 'the database is PostgreSQL, at DATABASE_URL of the environment';
const KASSA_OPTIONS = 'bank card and SBP are options of the method kassa_ai, switched with the payment methods';
const UPDATE_JOBS = 'updates of the messenger are stored and processed by the jobs';

/** No part of the service reads them; each text says why. */
export const withoutEffect: Partial<Record<SettingKey, string>> = {
  CLOUDPAYMENTS_SKIN: "payers pay on the provider's page of their order, not in its widget",
  CLOUDPAYMENTS_WIDGET_URL: "payers pay on the provider's page of their order, not in its widget",
  CRYPTOBOT_DEFAULT_ASSET: 'invoices are in rubles, and the payer chooses one of CRYPTOBOT_ASSETS',
  CRYPTOBOT_WEBHOOK_SECRET: 'callbacks are signed with the API token',
  DATABASE_MODE: ONE_DATABASE,
  DEBUG: 'LOG_LEVEL of the environment decides how much is logged',
  EXTERNAL_ADMIN_TOKEN: 'no external admin panel is connected',
  EXTERNAL_ADMIN_TOKEN_BOT_ID: 'no external admin panel is connected',
  KASSA_AI_CARD_DISPLAY_NAME: KASSA_OPTIONS,
  KASSA_AI_CARD_ENABLED: KASSA_OPTIONS,
  KASSA_AI_SBP_DISPLAY_NAME: KASSA_OPTIONS,
  KASSA_AI_SBP_ENABLED: KASSA_OPTIONS,
  LOCALES_PATH: 'the texts are a part of the release',
  LOG_COLORS: 'LOG_FORMAT of the environment decides the form of the log',
  MESSENGER_OIDC_CLIENT_SECRET: 'identity tokens are verified with the published keys of the messenger',
  MINIAPP_STATIC_PATH: 'the service serves no files of a mini app',
  MIN_BALANCE_FOR_AUTOPAY_KOPEKS: 'an automatic payment is made whenever the balance covers the price',
  NALOGO_QUEUE_MAX_ATTEMPTS: 'a receipt is sent until it is registered; none is given up',
  NALOGO_STORAGE_PATH: 'tokens of the tax service are in the database',
  NOTIFICATION_CACHE_HOURS: 'the database records for as long as needed which notifications were sent',
  NOTIFICATION_RETRY_ATTEMPTS: 'messages are repeated by the rules of the job queue',
  POSTGRES_DB: ONE_DATABASE,
  POSTGRES_HOST: ONE_DATABASE,
  POSTGRES_PASSWORD: ONE_DATABASE,
  POSTGRES_PORT: ONE_DATABASE,
  POSTGRES_USER: ONE_DATABASE,
  REDIS_URL: 'queues, caches and locks are in PostgreSQL',
  REFERRAL_NOTIFICATION_RETRY_ATTEMPTS: 'messages are repeated by the rules of the job queue',
  RIOPAY_CURRENCY: 'orders of the provider have no currency; they are in rubles',
  SERVER_PUBLIC_IP: 'providers get the address of the payer, never that of the server',
  SQLITE_PATH: ONE_DATABASE,
  TRIAL_WARNING_HOURS: 'the reminder comes two hours before the end of a trial, as its text says',
  WEBHOOK_DROP_PENDING_UPDATES: 'waiting updates may be payments, so none is dropped',
  WEBHOOK_ENQUEUE_TIMEOUT: UPDATE_JOBS,
  WEBHOOK_MAX_QUEUE_SIZE: UPDATE_JOBS,
  WEBHOOK_WORKERS: UPDATE_JOBS,
  WEBHOOK_WORKER_SHUTDOWN_TIMEOUT: UPDATE_JOBS,
  WEB_API_WORKERS: 'an instance is one process; more instances share the work',
  CRYPTOBOT_WEBHOOK_PORT: ONE_ADDRESS,
  ...ofEach(['CLOUDPAYMENTS', 'FREEKASSA', 'HELEKET', 'KASSA_AI', 'PLATEGA', 'TRIBUTE', 'WATA', 'YOOKASSA']),
};

function ofEach<P extends string>(providers: readonly P[]) {
  const keys = providers.flatMap((provider) => [`${provider}_WEBHOOK_HOST`, `${provider}_WEBHOOK_PORT`] as const);
  return Object.fromEntries(keys.map((key) => [key, ONE_ADDRESS])) as Record<(typeof keys)[number], string>;
}

/** Read once at start, from the environment only: a stored value has no effect. */
export const environmentOnly: ReadonlySet<SettingKey> = new Set([
  'CABINET_TRUSTED_PROXIES',
  'DATABASE_URL',
  'LOG_LEVEL',
  'WEB_API_DOCS_ENABLED',
  'WEB_API_HOST',
  'WEB_API_PORT',
]);

/** The interval of a job: a change is in effect from the next round on. */
export const roundIntervals: ReadonlySet<SettingKey> = new Set([
  'DAILY_SUBSCRIPTIONS_CHECK_INTERVAL_MINUTES',
  'MAINTENANCE_CHECK_INTERVAL',
  'MONITORING_INTERVAL',
  'NALOGO_QUEUE_CHECK_INTERVAL',
  'PAYMENT_VERIFICATION_AUTO_CHECK_INTERVAL_MINUTES',
  'SUPPORT_TICKET_SLA_CHECK_INTERVAL_SECONDS',
  'TRAFFIC_FAST_CHECK_INTERVAL_MINUTES',
  'VERSION_CHECK_INTERVAL_HOURS',
]);

/** What an administrator must know before changing a setting that the service does not read while it runs; null for every other. */
export function unreadReason(key: SettingKey): string | null {
  const [client, none] = [usedByClients[key], withoutEffect[key]];
  if (client !== undefined) return `Used by clients: ${client}.`;
  if (none !== undefined) return `Has no effect in this service: ${none}.`;
  return environmentOnly.has(key) ? 'Only the environment sets it, at start: a stored value has no effect.' : null;
}
