import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type BanSandbox, startBanSandbox } from '@subscription-service/sandbox/ban-system/ban-sandbox';
import { type SandboxStore, SandboxStoreUnavailable } from '@subscription-service/sandbox/host-ports';
import { type MailSandbox, startMailSandbox } from '@subscription-service/sandbox/mail/mail-sandbox';
import { type MessengerSandbox, startMessengerSandbox } from '@subscription-service/sandbox/messenger/messenger-sandbox';
import { type ReceiptSandbox, startReceiptSandbox } from '@subscription-service/sandbox/nalogo/receipt-sandbox';
import { type SandboxPanel, startSandboxPanel } from '@subscription-service/sandbox/panel/sandbox-panel';
import { type PaymentSandbox, startPaymentSandbox } from '@subscription-service/sandbox/payments/payment-sandbox';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Db } from '../core/db/db.ts';
import { isDatabaseUnavailable, isRetryable } from '../core/db/db-errors.ts';
import { createHttpClient } from '../core/http/outbound.ts';
import type { Logger } from '../core/log.ts';
import { claimStateLease, readState, releaseStateLease, writeState } from '../core/service-state.ts';
import { SANDBOX_INN } from '../integrations/receipts/nalogo/nalogo-port.ts';
import { SANDBOX_BOT_USERNAME, SANDBOX_HOST_KEY, type SandboxSecrets } from './sandbox-store.ts';

/** Longer than a lease and the start of the fakes. */
const WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 100;

interface SandboxRelay {
  /** `http://127.0.0.1:{port}` */
  url: string;
  close(): Promise<void>;
}

/**
 * A port of this instance that leads to a fake of the instance that hosts it. Between two hosts a new connection waits, so that a caller gets
 * its answer a little later instead of a 502 (spec 10 F9).
 * @param look finds the fake's address now; null = no instance hosts the fakes
 */
function startSandboxRelay(look: () => Promise<string | null>): Promise<SandboxRelay> {
  const sockets = new Set<Socket>();
  const known = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    known(caller);
    void connectToHost(look, () => caller.destroyed).then((host) => {
      if (!host) return caller.destroy();
      known(host);
      caller.on('close', () => host.destroy());
      host.on('close', () => caller.destroy());
      caller.pipe(host).pipe(caller);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      server.unref();
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            for (const socket of sockets) socket.destroy();
          }),
      });
    });
  });
}

/** Null when there is no host within the time, or nobody waits any more. Never rejects. */
async function connectToHost(look: () => Promise<string | null>, isGone: () => boolean): Promise<Socket | null> {
  const end = performance.now() + WAIT_MS;
  while (performance.now() < end && !isGone()) {
    // Any failure: the database is unavailable at present, and the next look finds the host.
    const url = await look().catch(() => null);
    const socket = url === null ? null : await open(url);
    if (socket) return socket;
    await delay(LOOK_AGAIN_MS);
  }
  return null;
}

function open(url: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

/** Addresses of the fake systems; the instance that hosts them publishes these in the database. */
export interface SandboxAddresses {
  instance: string;
  panelUrl: string;
  paymentsUrl: string;
  receiptsUrl: string;
  messengerUrl: string;
  mailUrl: string;
  banSystemUrl: string;
  /** Address of the hosting instance, for its sandbox page. */
  serviceUrl: string;
}

export interface SandboxServers {
  panel: SandboxPanel;
  payments: PaymentSandbox;
  receipts: ReceiptSandbox;
  messenger: MessengerSandbox;
  mail: MailSandbox;
  banSystem: BanSandbox;
}

const URLS = ['panelUrl', 'paymentsUrl', 'receiptsUrl', 'messengerUrl', 'mailUrl', 'banSystemUrl'] as const;
type SandboxUrl = (typeof URLS)[number];
/** The discard port: every connection is refused. */
const NOWHERE = 'http://127.0.0.1:9';
const BETWEEN_HOSTS: SandboxAddresses = {
  instance: '',
  panelUrl: NOWHERE,
  paymentsUrl: NOWHERE,
  receiptsUrl: NOWHERE,
  messengerUrl: NOWHERE,
  mailUrl: NOWHERE,
  banSystemUrl: NOWHERE,
  serviceUrl: '',
};
const LEASE_MS = 4_000;
const BEAT_MS = 1_000;

export interface SandboxHostOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: SandboxSecrets;
  /** Path of the messenger's webhook on this server. */
  messengerWebhookPath: string;
  /** Where the panel reports its events on this server, and the secret it signs them with; null = nowhere. */
  panelWebhook: () => { path: string; secret: string } | null;
  /** Path of a payment provider's callbacks on this server; null = its default. */
  callbackPath: (method: string) => string | null;
}

/**
 * Runs the fake systems on one instance of the installation: the instance that has the lease serves them on loopback, the others
 * use its addresses. When the host dies, another takes over with the state that was saved.
 */
export class SandboxHost {
  readonly #options: SandboxHostOptions;
  readonly #instance = randomUUID();
  #serviceUrl = '';
  #servers: SandboxServers | null = null;
  #addresses: SandboxAddresses = BETWEEN_HOSTS;
  /** What the other instance that hosts the fakes published. */
  #host: SandboxAddresses | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  /** Ports of this instance that lead to the host, while it is another one. */
  #relays: Record<SandboxUrl, SandboxRelay> | null = null;
  #beating: Promise<void> | null = null;

  constructor(options: SandboxHostOptions) {
    this.#options = options;
  }

  /** Where the fakes can be reached now. Of another instance by a port of this one, which waits for the next host (spec 10 F9). */
  addresses(): SandboxAddresses {
    return this.#addresses;
  }

  /** The servers, when this instance is the host. */
  servers(): SandboxServers | null {
    return this.#servers;
  }

  /** @param serviceUrl this instance's own address on loopback, where callbacks go */
  async start(serviceUrl: string): Promise<void> {
    this.#serviceUrl = serviceUrl;
    await this.#beat();
    const again = () => {
      this.#timer = setTimeout(() => {
        this.#beat()
          .catch((error: unknown) => this.#options.log.warn({ err: error }, 'the sandbox lease could not be renewed'))
          .finally(() => {
            if (!this.#closed) again();
          });
      }, BEAT_MS);
      this.#timer.unref();
    };
    again();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#beating?.catch(() => undefined);
    await this.#closeRelays();
    const servers = this.#servers;
    this.#servers = null;
    if (!servers) return;
    await Promise.all([
      servers.panel.close(),
      servers.payments.close(),
      servers.receipts.close(),
      servers.messenger.close(),
      servers.mail.close(),
      servers.banSystem.close(),
    ]);
    await releaseStateLease(this.#options.database.db, SANDBOX_HOST_KEY, this.#instance);
  }

  /** One at a time: of two that find the lease free, both would start the fakes. */
  #beat(): Promise<void> {
    this.#beating ??= this.#lookAtLease().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  async #lookAtLease(): Promise<void> {
    if (this.#closed) return;
    if (await this.#renewLease()) {
      if (!this.#servers) {
        this.#servers = await this.#startServers();
        this.#addresses = this.#hostAddresses(this.#servers);
        await this.#renewLease();
      }
      return;
    }
    const published = await readState<SandboxAddresses>(this.#options.database.db, SANDBOX_HOST_KEY);
    this.#host = published?.panelUrl ? published : null;
    this.#relays ??= await this.#startRelays();
    const urls = Object.fromEntries(URLS.map((name) => [name, this.#relays![name].url])) as Record<SandboxUrl, string>;
    this.#addresses = { ...BETWEEN_HOSTS, ...this.#host, ...urls };
  }

  async #startRelays(): Promise<Record<SandboxUrl, SandboxRelay>> {
    const look = async (name: SandboxUrl) => {
      await this.#beat();
      return this.#servers ? this.#addresses[name] : (this.#host?.[name] ?? null);
    };
    const relays = await Promise.all(URLS.map(async (name) => [name, await startSandboxRelay(() => look(name))] as const));
    return Object.fromEntries(relays) as Record<SandboxUrl, SandboxRelay>;
  }

  async #closeRelays(): Promise<void> {
    const relays = this.#relays;
    this.#relays = null;
    await Promise.all(Object.values(relays ?? {}).map((relay) => relay.close()));
  }

  /** Acquires or renews the lease and publishes the addresses. */
  #renewLease(): Promise<boolean> {
    const value = this.#servers ? this.#addresses : { instance: this.#instance };
    return claimStateLease(this.#options.database.db, SANDBOX_HOST_KEY, value, LEASE_MS);
  }

  #hostAddresses(servers: SandboxServers): SandboxAddresses {
    return {
      instance: this.#instance,
      panelUrl: servers.panel.url,
      paymentsUrl: servers.payments.server.url,
      receiptsUrl: servers.receipts.server.url,
      messengerUrl: servers.messenger.server.url,
      mailUrl: servers.mail.server.url,
      banSystemUrl: servers.banSystem.server.url,
      serviceUrl: this.#serviceUrl,
    };
  }

  async #startServers(): Promise<SandboxServers> {
    const { database, clock, log, secrets, messengerWebhookPath, panelWebhook, callbackPath } = this.#options;
    const store = databaseSandboxStore(database.db);
    const now = () => clock.now();
    const http = createHttpClient({ system: 'sandbox', retries: 0, breakerThreshold: 0, totalTimeoutMs: 10_000 }, { log });
    const [panel, payments, receipts, messenger, mail, banSystem] = await Promise.all([
      startSandboxPanel({
        state: store,
        clock,
        apiKey: secrets.panelApiKey,
        webhook: () => {
          const webhook = panelWebhook();
          return webhook && { url: `${this.#serviceUrl}${webhook.path}`, secret: webhook.secret };
        },
      }),
      startPaymentSandbox({
        store,
        http,
        secret: secrets.paymentSecret,
        now,
        serviceUrl: () => this.#serviceUrl,
        callbackPath,
      }),
      startReceiptSandbox({ store, inn: SANDBOX_INN, secret: secrets.paymentSecret, now }),
      startMessengerSandbox({
        store,
        http,
        botToken: secrets.botToken,
        botUsername: SANDBOX_BOT_USERNAME,
        now,
        defaultWebhook: () => ({ url: `${this.#serviceUrl}${messengerWebhookPath}`, secret: secrets.webhookSecret }),
      }),
      startMailSandbox({ store, now }),
      startBanSandbox({ store, token: secrets.panelApiKey, now }),
    ]);
    return { panel, payments, receipts, messenger, mail, banSystem };
  }
}

/** Stores the state of the fakes in `service_state`, so that a restart or another instance finds it. */
export function databaseSandboxStore(db: Db): SandboxStore {
  const named = async <T>(access: Promise<T>): Promise<T> => {
    try {
      return await access;
    } catch (error) {
      throw isDatabaseUnavailable(error) || isRetryable(error) ? new SandboxStoreUnavailable(error) : error;
    }
  };
  return {
    load: (key) => named(readState(db, `sandbox:${key}`)),
    save: (key, value) => named(writeState(db, `sandbox:${key}`, value)),
  };
}
