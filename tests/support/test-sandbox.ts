import { startBanSandbox } from '../../packages/sandbox/src/ban-system/ban-sandbox.ts';
import { memoryStore } from '../../packages/sandbox/src/host-ports.ts';
import { startMailSandbox } from '../../packages/sandbox/src/mail/mail-sandbox.ts';
import { startMessengerSandbox } from '../../packages/sandbox/src/messenger/messenger-sandbox.ts';
import { startReceiptSandbox } from '../../packages/sandbox/src/nalogo/receipt-sandbox.ts';
import { startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import { startPaymentSandbox } from '../../packages/sandbox/src/payments/payment-sandbox.ts';
import { connectOutsideSystems } from '../../src/composition/outside-systems.ts';
import { callbackPathOf } from '../../src/composition/payment-providers.ts';
import type { SandboxServers } from '../../src/composition/sandbox-host.ts';
import type { SandboxSecrets } from '../../src/composition/sandbox-store.ts';
import type { Ports, SettingsReader } from '../../src/core/app.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { Db } from '../../src/core/db/db.ts';
import type { Env } from '../../src/core/env.ts';
import { createHttpClient } from '../../src/core/http/outbound.ts';
import type { Logger } from '../../src/core/log.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { SANDBOX_INN } from '../../src/integrations/receipts/nalogo/nalogo-port.ts';
import { outsideOfTests } from './abandoned-tests.ts';

/** The fake outside systems of one worker, with the clock of the current test. */
export interface TestSandbox {
  servers: SandboxServers;
  secrets: SandboxSecrets;
  clock: { current: Clock };
  /** Where the fake provider and messenger post to; set by tests that listen on a port. */
  callbacks: { url: string | null };
  /** Settings of the current test, which may give callbacks other paths. */
  settings: { current: SettingsReader | null };
}

declare global {
  var testSandbox: Promise<TestSandbox> | undefined;
}

/** The same token as the settings of `testApp`, so that identity data signed by the fake messenger is valid. */
export const TEST_BOT_TOKEN = '1234567890:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

const secrets: SandboxSecrets = {
  panelApiKey: 'test-panel-key',
  botToken: TEST_BOT_TOKEN,
  webhookSecret: 'test-webhook-secret',
  paymentSecret: 'test_payment_secret',
};

/** Starts the fakes once per worker: HTTP servers on loopback, called through the adapters of the service. */
export function workerSandbox(): Promise<TestSandbox> {
  globalThis.testSandbox ??= outsideOfTests(startAll);
  return globalThis.testSandbox;
}

/**
 * While `work` runs, the fakes of this worker are others, so that two databases do not meet in them.
 * @param sandbox started now unless given; whoever had it started closes its servers
 */
export async function withOtherSandbox<T>(
  sandbox: TestSandbox | undefined,
  work: () => Promise<T>,
): Promise<{ sandbox: TestSandbox; made: T }> {
  const before = globalThis.testSandbox;
  const other = sandbox ?? (await outsideOfTests(startAll));
  globalThis.testSandbox = Promise.resolve(other);
  try {
    return { sandbox: other, made: await work() };
  } finally {
    globalThis.testSandbox = before;
  }
}

async function startAll(): Promise<TestSandbox> {
  const clock = { current: { now: () => new Date() } as Clock };
  const callbacks = { url: null as string | null };
  const settings = { current: null as SettingsReader | null };
  const store = memoryStore();
  const now = () => clock.current.now();
  const http = createHttpClient({ system: 'sandbox', retries: 0, breakerThreshold: 0, totalTimeoutMs: 5_000 });
  const base = () => callbacks.url ?? 'http://127.0.0.1:9';
  const [panel, payments, receipts, messenger, mail, banSystem] = await Promise.all([
    startSandboxPanel({ state: store, clock: { now }, apiKey: secrets.panelApiKey }),
    startPaymentSandbox({
      store,
      http,
      secret: secrets.paymentSecret,
      now,
      serviceUrl: base,
      callbackPath: (method) => settings.current && callbackPathOf(settings.current, method),
    }),
    startReceiptSandbox({ store, inn: SANDBOX_INN, secret: secrets.paymentSecret, now }),
    startMessengerSandbox({
      store,
      http,
      botToken: secrets.botToken,
      botUsername: 'test_bot',
      now,
      defaultWebhook: () => ({ url: `${base()}/messenger-webhook`, secret: secrets.webhookSecret }),
    }),
    startMailSandbox({ store, now }),
    startBanSandbox({ store, token: secrets.panelApiKey, now }),
  ]);
  return { servers: { panel, payments, receipts, messenger, mail, banSystem }, secrets, clock, callbacks, settings };
}

/** The domain's ports on the worker's fakes. */
export async function sandboxPorts(parts: {
  env: Env;
  db: Db;
  settings: SettingsReader;
  clock: Clock;
  log: Logger;
}): Promise<Ports> {
  const sandbox = await workerSandbox();
  sandbox.clock.current = parts.clock;
  sandbox.settings.current = parts.settings;
  const { panel, payments, receipts, messenger, mail, banSystem } = sandbox.servers;
  const addresses = {
    instance: 'test',
    panelUrl: panel.url,
    paymentsUrl: payments.server.url,
    receiptsUrl: receipts.server.url,
    messengerUrl: messenger.server.url,
    mailUrl: mail.server.url,
    banSystemUrl: banSystem.server.url,
    serviceUrl: sandbox.callbacks.url ?? '',
  };
  return connectOutsideSystems({
    ...parts,
    metrics: createMetrics(),
    sandbox: { host: { addresses: () => addresses }, secrets, isFake: () => true },
    instance: {
      version: () => '0.0.0-test',
      sandboxKinds: () => ['vpnpanel', 'payments', 'messenger', 'mail'],
      poolCounters: () => ({ size: 20, inUse: 5, waiting: 0 }),
      isReady: () => true,
      isStuck: () => false,
      clockSkewMs: () => 0,
    },
  });
}
