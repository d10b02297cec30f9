/** The outside systems of the drill. They live in its own process, so that they survive the instances, as real ones do. */

import type { SandboxSecrets } from '../../../../../src/composition/sandbox-store.ts';
import { SANDBOX_BOT_USERNAME } from '../../../../../src/composition/sandbox-store.ts';
import type { Database } from '../../../../../src/core/db/database.ts';
import { SANDBOX_INN } from '../../../../../src/integrations/receipts/nalogo/nalogo-port.ts';
import { memoryStore } from '../../../../sandbox/src/host-ports.ts';
import { startMailSandbox } from '../../../../sandbox/src/mail/mail-sandbox.ts';
import { type MessengerSandbox, startMessengerSandbox } from '../../../../sandbox/src/messenger/messenger-sandbox.ts';
import { type ReceiptSandbox, startReceiptSandbox } from '../../../../sandbox/src/nalogo/receipt-sandbox.ts';
import { startSandboxPanel } from '../../../../sandbox/src/panel/sandbox-panel.ts';
import { type PaymentSandbox, startPaymentSandbox } from '../../../../sandbox/src/payments/payment-sandbox.ts';
import { publishFakes } from '../fake-host.ts';
import { createRandom, type SeededRandom } from '../seeded-random.ts';
import { type Courier, createCourier } from './courier.ts';
import { type FaultyProxy, type ProxyOptions, startFaultyProxy } from './faulty-proxy.ts';

export interface FakeSystems {
  payments: PaymentSandbox;
  receipts: ReceiptSandbox;
  messenger: MessengerSandbox;
  /** What the service calls in place of `payments`, `receipts` and `messenger`. */
  paymentProxy: FaultyProxy;
  receiptProxy: FaultyProxy;
  messengerProxy: FaultyProxy;
  /** The one secret of all fake providers. */
  paymentSecret: string;
  /** Of callbacks of providers, and of updates of the messenger. */
  callbacks: Courier;
  updates: Courier;
  close(): Promise<void>;
}

export interface FakeOptions {
  database: Database;
  secrets: SandboxSecrets;
  /** Service time. */
  now: () => Date;
  targets: () => readonly string[];
  random: SeededRandom;
}

const FAULTS = { lostBefore: 0.02, lostAfter: 0.04, unavailable: 0.02 };
/** Of the requests that must be carried out once: those whose answers are lost. */
const ONCE_LOST = 0.4;
const MAX_DELAY_MS = 150;
const LATE_SHARE = 0.05;
/** What a provider reports while it loses an answer mostly comes late, too, so that the service has to find the effect by itself. */
const TROUBLED_LATE_SHARE = 0.7;
/** After the tries that are due at the beginning of a day. */
const MAX_LATE_DELAY_MS = 12_000;
/** Requests for refunds at every provider; of Stars; and for receipts and their cancellation. */
const IS_REFUND = /\/(refunds?|cancel)$/;
const IS_STARS_REFUND = /\/refundStarPayment$/;
const IS_RECEIPT = /\/(income|cancel)$/;

export async function startFakeSystems({ database, secrets, now, targets, random }: FakeOptions): Promise<FakeSystems> {
  const store = memoryStore();
  // Generators of their own, so that the number of retries does not change what users choose.
  const seeded = () => createRandom(random.between(0, 2 ** 31 - 1));
  const troubles = createTroubles();
  const delivery = { targets, doubledShare: 0.3, maxLateDelayMs: MAX_LATE_DELAY_MS };
  const lateShare = (path: string) => (troubles.has(path) ? TROUBLED_LATE_SHARE : LATE_SHARE);
  const callbacks = createCourier({ ...delivery, random: seeded(), lateShare, maxDelayMs: 700 });
  const updates = createCourier({ ...delivery, random: seeded(), lateShare: () => 0, maxDelayMs: 200 });
  // The courier chooses the instance.
  const serviceUrl = 'http://service.invalid';
  const [panel, payments, receipts, messenger, mail] = await Promise.all([
    startSandboxPanel({ state: store, clock: { now }, apiKey: secrets.panelApiKey }),
    startPaymentSandbox({ store, http: callbacks, secret: secrets.paymentSecret, now, serviceUrl: () => serviceUrl }),
    startReceiptSandbox({ store, inn: SANDBOX_INN, secret: secrets.paymentSecret, now }),
    startMessengerSandbox({
      store,
      http: updates,
      botToken: secrets.botToken,
      botUsername: SANDBOX_BOT_USERNAME,
      now,
      defaultWebhook: () => ({ url: `${serviceUrl}/messenger-webhook`, secret: secrets.webhookSecret }),
    }),
    startMailSandbox({ store, now }),
  ]);
  const proxyOf = (target: string, once: RegExp, loses?: ProxyOptions['loses']) =>
    startFaultyProxy({
      ...{ target, random: seeded(), shares: FAULTS, maxDelayMs: MAX_DELAY_MS },
      once: { isOnce: (path) => once.test(path), lostAfter: ONCE_LOST },
      ...(loses ? { loses } : {}),
    });
  const paymentProxy = await proxyOf(payments.server.url, IS_REFUND, troubles.during);
  const receiptProxy = await proxyOf(receipts.server.url, IS_RECEIPT);
  const messengerProxy = await proxyOf(messenger.server.url, IS_STARS_REFUND);
  await publishFakes((text) => database.db.sql(text), {
    instance: 'drill',
    panelUrl: panel.url,
    paymentsUrl: paymentProxy.url,
    receiptsUrl: receiptProxy.url,
    messengerUrl: messengerProxy.url,
    mailUrl: mail.server.url,
    // The drill bans nobody.
    banSystemUrl: '',
    serviceUrl: '',
  });
  return {
    ...{ payments, receipts, messenger, paymentProxy, receiptProxy, messengerProxy, callbacks, updates },
    paymentSecret: secrets.paymentSecret,
    close: async () => {
      callbacks.close();
      updates.close();
      await payments.close();
      await Promise.all([
        panel.close(),
        receipts.close(),
        messenger.close(),
        mail.close(),
        paymentProxy.close(),
        messengerProxy.close(),
        receiptProxy.close(),
      ]);
    },
  };
}

/** The providers that lose an answer now: of requests at `/wata/…` and callbacks at `/wata-webhook/…`, both of the same provider. */
function createTroubles(): { during: NonNullable<ProxyOptions['loses']>; has(callbackPath: string): boolean } {
  const open = new Map<string, number>();
  const count = (provider: string, by: number) => open.set(provider, (open.get(provider) ?? 0) + by);
  return {
    during: async (path, carryOut) => {
      const provider = path.split('/')[1]!;
      count(provider, 1);
      return carryOut().finally(() => count(provider, -1));
    },
    has: (callbackPath) =>
      (open.get(
        callbackPath
          .split('/')[1]!
          .replace(/-webhook$/, '')
          .replaceAll('-', '_'),
      ) ?? 0) > 0,
  };
}
