import { join } from 'node:path';
import type { Ports, SettingsReader } from '../core/app.ts';
import type { Clock } from '../core/clock.ts';
import type { Db } from '../core/db/db.ts';
import type { Env } from '../core/env.ts';
import { createHttpClient } from '../core/http/outbound.ts';
import type { Logger } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import { ServiceGate } from '../core/service-gate.ts';
import type { Tracing } from '../core/telemetry/tracing.ts';
import { AuditWriter } from '../domain/access/audit-writer.ts';
import type { OAuthProvider } from '../domain/identity/oauth/types.ts';
import { sharedMessengerPace } from '../domain/mass-sends/pace.ts';
import { messengerFiles } from '../domain/media/messenger-files.ts';
import { assertNotBlacklisted } from '../domain/safety/blacklist.ts';
import { assertChannelsJoined } from '../domain/safety/channel-gate.ts';
import { assertNoMaintenance } from '../domain/safety/maintenance.ts';
import { guestPurchases } from '../domain/storefront/purchases/purpose.ts';
import { s3BackupStore } from '../integrations/backup-storage/s3-backup-store.ts';
import { createBanSystemPort } from '../integrations/ban-system/ban-system-port.ts';
import { type BanSystemConnection, banSystemHttp } from '../integrations/ban-system/ban-transport.ts';
import { createExchangeRatePort } from '../integrations/central-bank/rate-port.ts';
import type { MailConnection } from '../integrations/mail/connection.ts';
import { createMailPort } from '../integrations/mail/mail-port.ts';
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
import { paymentProviders } from './payment-providers.ts';
import { RouteRegistry } from './route-registry.ts';
import type { SandboxHost } from './sandbox-host.ts';
import type { SandboxKind } from './sandbox-kinds.ts';
import type { SandboxSecrets } from './sandbox-store.ts';
import { SANDBOX_BOT_USERNAME } from './sandbox-store.ts';
import { openScratchDatabase } from './scratch-database.ts';

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
    webhooks: createWebhookTransport({ allowedPrivateHosts: env.webhookAllowedPrivateHosts }, deps),
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

/** The fake has to be asked for, because without an address the real one must answer that it is not configured (spec 06 section 13). */
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
