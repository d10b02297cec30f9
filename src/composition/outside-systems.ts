import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ports, SettingsReader } from '../core/app.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Db } from '../core/db/db.ts';
import { openPostgres } from '../core/db/open-postgres.ts';
import { executeOnServer } from '../core/db/server-statement.ts';
import type { Env } from '../core/env.ts';
import { createHttpClient } from '../core/http/outbound.ts';
import type { Logger } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import { ServiceGate } from '../core/service-gate.ts';
import type { Tracing } from '../core/telemetry/tracing.ts';
import { AuditWriter } from '../domain/access/audit-log.ts';
import { ABANDONED_S, removeAbandoned } from '../domain/backups/backup-folder.ts';
import type { ScratchDatabase } from '../domain/backups/ports.ts';
import type { OAuthProvider } from '../domain/identity/oauth/types.ts';
import { sharedMessengerPace } from '../domain/mass-sends/pace.ts';
import { messengerFiles } from '../domain/media/media.ts';
import { assertChannelsJoined } from '../domain/safety/channel-gate.ts';
import { assertNoMaintenance } from '../domain/safety/maintenance.ts';
import { assertNotBlacklisted } from '../domain/safety/published-lists.ts';
import { barePath } from '../domain/settings/change-setting.ts';
import type { RouteRegistryPort } from '../domain/settings/ports.ts';
import type { SettingKey } from '../domain/settings/types.ts';
import { guestPurchases } from '../domain/storefront/purchases/purpose.ts';
import { s3BackupStore } from '../integrations/backup-storage/s3-backup-store.ts';
import { createBanSystemPort } from '../integrations/ban-system/ban-system-port.ts';
import { type BanSystemConnection, banSystemHttp } from '../integrations/ban-system/ban-transport.ts';
import { createExchangeRatePort } from '../integrations/central-bank/rate-port.ts';
import { createMailPort, type MailConnection } from '../integrations/mail/mail-port.ts';
import { folderStore } from '../integrations/media-storage/folder-store.ts';
import { s3Store } from '../integrations/media-storage/s3-store.ts';
import { BOT_API_BASE_URL, type BotApiConnection } from '../integrations/messenger/bot-api-client.ts';
import { createMessengerIdentityPort, OIDC_ISSUER } from '../integrations/messenger/identity-port.ts';
import { createMessengerPort } from '../integrations/messenger/messenger-port.ts';
import { SendPacer } from '../integrations/messenger/send-pacer.ts';
import { createOAuthPort, type OAuthConnection } from '../integrations/oauth/oauth-port.ts';
import { createPublicListPort } from '../integrations/public-lists/public-list-port.ts';
import { createNalogoPort } from '../integrations/receipts/nalogo/nalogo-port.ts';
import { createReleasePort } from '../integrations/releases/release-port.ts';
import { createPanelEventPort } from '../integrations/vpnpanel/panel-events.ts';
import { isPanelRefusal } from '../integrations/vpnpanel/panel-transport.ts';
import { createVpnPanelAdapter } from '../integrations/vpnpanel/vpnpanel-adapter.ts';
import { createWebhookTransport } from '../integrations/webhooks/webhook-transport.ts';
import { interfaceWordsOf } from './interface-words.ts';
import { migrationsFolder } from './package-root.ts';
import { paymentProviders } from './payment-providers.ts';
import type { SandboxKind } from './sandbox.ts';
import type { SandboxHost } from './sandbox-host.ts';
import { SANDBOX_BOT_USERNAME, type SandboxSecrets } from './sandbox-store.ts';

export interface OutsideOptions {
  env: Env;
  /** For what an adapter must remember: nonces that only grow. Null = nothing is sent that needs one, as in `doctor`. */
  db: Db | null;
  settings: SettingsReader;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  tracing?: Tracing | undefined;
  /** Null while no fake may run. */
  sandbox: { host: Pick<SandboxHost, 'addresses'>; secrets: SandboxSecrets; isFake: (kind: SandboxKind) => boolean } | null;
  instance: Ports['instance'];
}

/** Connects the domain's ports to their adapters. Connections are read on every call, because settings change at run time. */
export function connectOutsideSystems(options: OutsideOptions): Ports {
  const { env, settings, log, metrics, tracing, sandbox } = options;
  const deps = { log, metrics, tracing };
  const fakeAddresses = (kind: SandboxKind) => (sandbox?.isFake(kind) ? sandbox.host.addresses() : null);

  const panel = createVpnPanelAdapter({
    http: createHttpClient(
      { system: 'vpnpanel', connectTimeoutMs: 10_000, totalTimeoutMs: 60_000, retries: 3, isRefusal: isPanelRefusal },
      deps,
    ),
    connection: () => {
      const fake = fakeAddresses('vpnpanel');
      return {
        baseUrl: fake ? fake.panelUrl : settings.get('VPNPANEL_API_URL'),
        apiKey: fake ? sandbox!.secrets.panelApiKey : settings.get('VPNPANEL_API_KEY'),
        authType: fake ? 'api_key' : settings.get('VPNPANEL_AUTH_TYPE'),
        username: settings.get('VPNPANEL_USERNAME'),
        password: settings.get('VPNPANEL_PASSWORD'),
        caddyToken: settings.get('VPNPANEL_CADDY_TOKEN'),
        secretKey: settings.get('VPNPANEL_SECRET_KEY'),
      };
    },
    log,
  });

  // The fake stands on loopback, which a proxy elsewhere does not reach.
  const messengerProxy = () => (fakeAddresses('messenger') ? null : settings.get('PROXY_URL') || null);
  const messengerPort = createMessengerPort({
    pacer: new SendPacer({
      shared: options.db && sharedMessengerPace(options.db, env),
      perSecond: () => env.messengerSendsPerSecond,
    }),
    http: createHttpClient({ system: 'messenger', totalTimeoutMs: 15_000, retries: 0, proxy: messengerProxy }, deps),
    onMoved: (from, to) =>
      log.warn(
        { from, to },
        'a group of the messenger has a new id: replace the old one in the settings (ADMIN_NOTIFICATIONS_CHAT_ID …)',
      ),
    fileHttp: createHttpClient(
      {
        system: 'messenger_files',
        totalTimeoutMs: 60_000,
        retries: 0,
        maxResponseBytes: 21 * 1024 * 1024,
        proxy: messengerProxy,
      },
      deps,
    ),
    connection: (): BotApiConnection | null => {
      const fake = fakeAddresses('messenger');
      if (fake)
        return { baseUrl: fake.messengerUrl, token: sandbox!.secrets.botToken, webhookSecret: sandbox!.secrets.webhookSecret };
      const token = settings.get('BOT_TOKEN');
      if (!token) return null;
      return { baseUrl: BOT_API_BASE_URL, token, webhookSecret: settings.get('WEBHOOK_SECRET_TOKEN') };
    },
  });

  /** What the messenger answered at start; for installations that do not set `BOT_USERNAME`. */
  let answeredBotName: string | null = null;
  const messenger: typeof messengerPort = {
    ...messengerPort,
    getMe: async () => {
      const me = await messengerPort.getMe();
      answeredBotName = me.username;
      return me;
    },
  };

  const { mediaS3 } = env;
  const mail = createMailPort({
    tracing,
    http: createHttpClient({ system: 'mail', totalTimeoutMs: 30_000, retries: 0 }, deps),
    connection: (): MailConnection | null => {
      const fake = fakeAddresses('mail');
      const fromName = settings.get('SMTP_FROM_NAME');
      if (fake) return { kind: 'sandbox', baseUrl: fake.mailUrl, fromEmail: 'service@sandbox.local', fromName };
      const [host, fromEmail] = [settings.get('SMTP_HOST'), settings.get('SMTP_FROM_EMAIL') ?? settings.get('SMTP_USER')];
      if (!host || !fromEmail) return null;
      return {
        kind: 'smtp',
        host,
        port: settings.get('SMTP_PORT'),
        user: settings.get('SMTP_USER'),
        password: settings.get('SMTP_PASSWORD'),
        fromEmail,
        fromName,
        useTls: settings.get('SMTP_USE_TLS'),
        tls: env.smtpTls,
      };
    },
  });

  const providers = paymentProviders(options, messenger);
  return {
    panel,
    panelEvents: createPanelEventPort({
      secret: () => settings.get('VPNPANEL_WEBHOOK_SECRET'),
      count: (outcome) => metrics.countPanelEvent(outcome),
    }),
    messenger,
    messengerFiles,
    mediaStore: mediaS3 ? s3Store(mediaS3, tracing) : folderStore(join(env.dataDir, 'media')),
    backupStore: env.backups.s3 && s3BackupStore(env.backups.s3, tracing),
    openScratchDatabase: () => openScratchDatabase(env, log),
    mail,
    payments: { byMethod: (method) => providers.find((provider) => provider.method === method), all: () => providers },
    // Payments in the sandbox are not real, so neither are their receipts, whatever account is set.
    receipts: createNalogoPort(
      {
        settings,
        fake: () => {
          const fake = fakeAddresses('payments');
          return fake && { baseUrl: fake.receiptsUrl, secret: sandbox!.secrets.paymentSecret };
        },
        now: () => options.clock.now(),
      },
      deps,
    ),
    exchangeRates: createExchangeRatePort(deps),
    webhooks: createWebhookTransport(
      {
        allowedPrivateHosts: env.webhookAllowedPrivateHosts,
        inClientWords: (payload) => interfaceWordsOf(env)?.payload(payload) ?? payload,
      },
      deps,
    ),
    messengerIdentity: createMessengerIdentityPort({
      clock: options.clock,
      log,
      http: createHttpClient(
        {
          system: 'messenger_oidc',
          totalTimeoutMs: 10_000,
          retries: 1,
          publicHostsOnly: { allowedPrivateHosts: env.webhookAllowedPrivateHosts },
        },
        deps,
      ),
      botToken: () => (sandbox?.isFake('messenger') ? sandbox.secrets.botToken : settings.get('BOT_TOKEN')),
      botUsername: () => {
        const named = settings.get('BOT_USERNAME')?.trim().replace(/^@/, '');
        return named || (sandbox?.isFake('messenger') ? SANDBOX_BOT_USERNAME : answeredBotName);
      },
      oidc: () => {
        const clientId = settings.get('MESSENGER_OIDC_CLIENT_ID').trim();
        if (!settings.get('MESSENGER_OIDC_ENABLED') || clientId === '') return null;
        return { issuer: env.messengerOidcIssuer ?? OIDC_ISSUER, clientId };
      },
    }),
    oauth: oauthProviders(options),
    publicLists: createPublicListPort(deps),
    releases: createReleasePort(env.releases.apiUrl, deps),
    banSystem: createBanSystemPort(banSystemHttp(deps), () => banSystemConnection(options)),
    audit: new AuditWriter(log),
    invoicePurposes: [guestPurchases],
    gates: [assertNotBlacklisted, assertNoMaintenance, assertChannelsJoined],
    instance: options.instance,
    gate: new ServiceGate(options.db?.long ?? null),
    routes: new RouteRegistry(),
  };
}

/** The fake has to be asked for, because without an address the real one must answer that it is not configured. */
function banSystemConnection({ env, settings, sandbox }: OutsideOptions): BanSystemConnection {
  const baseUrl = settings.get('BAN_SYSTEM_API_URL');
  const isFake = !baseUrl && env.isBanSystemFake && sandbox?.isFake('vpnpanel');
  return {
    isEnabled: settings.get('BAN_SYSTEM_ENABLED'),
    baseUrl: isFake ? sandbox!.host.addresses().banSystemUrl : baseUrl,
    token: isFake ? sandbox!.secrets.panelApiKey : settings.get('BAN_SYSTEM_API_TOKEN'),
    timeoutSeconds: settings.get('BAN_SYSTEM_REQUEST_TIMEOUT'),
  };
}

/** One HTTP client a provider, so that one being down does not open the circuit of the others. */
function oauthProviders({ settings, log, metrics, tracing }: OutsideOptions) {
  const clientOf = (provider: OAuthProvider) =>
    createHttpClient({ system: `oauth_${provider}`, totalTimeoutMs: 30_000, retries: 1 }, { log, metrics, tracing });
  const clients = { google: clientOf('google'), yandex: clientOf('yandex'), discord: clientOf('discord'), vk: clientOf('vk') };
  return createOAuthPort({
    http: (provider) => clients[provider],
    connection: (provider): OAuthConnection => {
      const name = provider.toUpperCase() as Uppercase<OAuthProvider>;
      return {
        enabled: settings.get(`OAUTH_${name}_ENABLED`),
        clientId: settings.get(`OAUTH_${name}_CLIENT_ID`).trim(),
        clientSecret: settings.get(`OAUTH_${name}_CLIENT_SECRET`).trim(),
        redirectUri: `${settings.get('CABINET_URL').replace(/\/+$/, '')}/auth/oauth/callback`,
      };
    },
  });
}

/** The routes of this process, collected while they are registered, so that a new one cannot be forgotten. */
export class RouteRegistry implements RouteRegistryPort {
  /** Routes without parameters, with the path setting of their callbacks; null = an operation. */
  readonly #paths = new Map<string, SettingKey | null>();
  readonly #patterns = new Map<string, RegExp>();

  add(url: string, callbackOf?: SettingKey): void {
    if (/[:*]/.test(url)) this.#patterns.set(url, patternOf(url));
    else this.#paths.set(barePath(url), callbackOf ?? null);
  }

  isTaken(path: string, forKey?: SettingKey): boolean {
    const wanted = barePath(path);
    const owner = this.#paths.get(wanted);
    if (owner !== undefined) return owner === null || owner !== forKey;
    return [...this.#patterns.values()].some((pattern) => pattern.test(wanted));
  }
}

/** A route in fastify's notation: `:name` is a parameter, `::` a colon, `*` the rest. */
function patternOf(url: string): RegExp {
  const source = barePath(url).replace(/::|:\w+|\*|[\\^$.+?()[\]{}|]/g, (part) => {
    if (part === '::') return ':';
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : `\\${part}`;
  });
  return new RegExp(`^${source}$`);
}

const PREFIX = 'backup_drill_';
const FOLDER_PREFIX = 'backup-drill-';
const ABANDONED_FOLDERS = new RegExp(`^${FOLDER_PREFIX}`);

/** `BACKUP_DRILL_DATABASE_URL`, emptied; else a new database beside that of the service; for an embedded one a temporary folder. */
async function openScratchDatabase(env: Env, log: Logger): Promise<ScratchDatabase> {
  if (env.backups.drillDatabaseUrl !== null) {
    const url = env.backups.drillDatabaseUrl;
    const statements = ['DROP SCHEMA IF EXISTS jobs CASCADE', 'DROP SCHEMA IF EXISTS public CASCADE', 'CREATE SCHEMA public'];
    const empty = async () => void (await executeOnServer(url, ...statements));
    await empty();
    return migrated(await openServer(url, log), empty);
  }
  if (env.databaseUrl !== null) {
    const server = env.databaseDirectUrl ?? env.databaseUrl;
    await dropAbandoned(server);
    const name = `${PREFIX}${Math.floor(Date.now() / 1000)}_${randomBytes(6).toString('hex')}`;
    await executeOnServer(server, `CREATE DATABASE ${name}`);
    const drop = async () => void (await executeOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    try {
      const url = new URL(server);
      url.pathname = `/${name}`;
      return await migrated(await openServer(url.href, log), drop);
    } catch (error) {
      await drop();
      throw error;
    }
  }
  await removeAbandoned(log, tmpdir(), ABANDONED_FOLDERS);
  const dataDir = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  const { openEmbedded } = await import('../core/db/open-embedded.ts');
  return migrated(await openEmbedded({ dataDir, migrationsFolder }), () => rm(dataDir, { recursive: true, force: true }));
}

/** Databases of this user whose drill's process died: nothing is connected to them. One that is in use cannot be dropped. */
async function dropAbandoned(server: string): Promise<void> {
  const abandoned = await executeOnServer(
    server,
    `SELECT datname AS name FROM pg_database WHERE datdba = (SELECT oid FROM pg_roles WHERE rolname = current_user)
       AND datname ~ '^${PREFIX}[0-9]{10}_[0-9a-f]{12}$' AND split_part(datname, '_', 3)::bigint < extract(epoch FROM now()) - ${ABANDONED_S}`,
  );
  for (const { name } of abandoned) await executeOnServer(server, `DROP DATABASE IF EXISTS ${name}`).catch(() => undefined);
}

function openServer(url: string, log: Logger): Promise<Database> {
  return openPostgres({ url, poolSize: 2, statementTimeoutMs: 0, migrationsFolder, log });
}

async function migrated(database: Database, remove: () => Promise<void>): Promise<ScratchDatabase> {
  const drop = async () => {
    await database.close();
    await remove();
  };
  try {
    await database.migrate();
    return { database, drop };
  } catch (error) {
    await drop();
    throw error;
  }
}
