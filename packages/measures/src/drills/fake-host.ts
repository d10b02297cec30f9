/** The fakes of providers and messenger, in the drill's own process: they survive the instances, as the real systems do. */

import type { SandboxAddresses } from '../../../../src/composition/sandbox-host.ts';
import type { SandboxSecrets } from '../../../../src/composition/sandbox-store.ts';
import { SANDBOX_BOT_USERNAME, SANDBOX_HOST_KEY } from '../../../../src/composition/sandbox-store.ts';
import { createHttpClient } from '../../../../src/core/http/outbound.ts';
import { createLogger } from '../../../../src/core/log.ts';
import { SANDBOX_INN } from '../../../../src/integrations/receipts/nalogo/nalogo-port.ts';
import { type HttpClient, memoryStore } from '../../../sandbox/src/host-ports.ts';
import { startMailSandbox } from '../../../sandbox/src/mail/mail-sandbox.ts';
import { type MessengerSandbox, startMessengerSandbox } from '../../../sandbox/src/messenger/messenger-sandbox.ts';
import { startReceiptSandbox } from '../../../sandbox/src/nalogo/receipt-sandbox.ts';
import { type PaymentSandbox, startPaymentSandbox } from '../../../sandbox/src/payments/payment-sandbox.ts';

/** Longer than any drill runs: no instance becomes the host of fakes. */
const LEASE_END = "now() + interval '10 days'";
/** The drill itself sends the callbacks; what a fake would send goes nowhere. */
const NO_SERVICE = 'http://service.invalid';

export interface FakeHost {
  payments: PaymentSandbox;
  messenger: MessengerSandbox;
  close(): Promise<void>;
}

type Run = (text: string) => Promise<unknown>;

interface FakeHostOptions {
  secrets: SandboxSecrets;
  /** Those that the fake providers know from the beginning. */
  invoices: readonly object[];
  /** Where the panel of the drill is. */
  panelUrl: string;
  /** Gets the callbacks of the providers. Default: they go nowhere. */
  callbacks?: HttpClient;
  /** Service time. Default: the time. */
  now?: () => Date;
}

/** Starts the fakes and publishes their addresses. No instance may be running, as one that runs may be their host. */
export async function startFakeHost(run: Run, options: FakeHostOptions): Promise<FakeHost> {
  const { secrets, invoices, panelUrl, now = () => new Date() } = options;
  const store = memoryStore([['payments', { invoices }]]);
  const log = createLogger({ level: 'silent', format: 'json' });
  const http = createHttpClient({ system: 'sandbox', retries: 0, breakerThreshold: 0, totalTimeoutMs: 10_000 }, { log });
  const callbacks = options.callbacks ?? http;
  const [payments, receipts, messenger, mail] = await Promise.all([
    startPaymentSandbox({ store, http: callbacks, secret: secrets.paymentSecret, now, serviceUrl: () => NO_SERVICE }),
    startReceiptSandbox({ store, inn: SANDBOX_INN, secret: secrets.paymentSecret, now }),
    startMessengerSandbox({ store, http, botToken: secrets.botToken, botUsername: SANDBOX_BOT_USERNAME, now }),
    startMailSandbox({ store, now }),
  ]);
  await publishFakes(run, {
    instance: 'drill',
    panelUrl,
    paymentsUrl: payments.server.url,
    receiptsUrl: receipts.server.url,
    messengerUrl: messenger.server.url,
    mailUrl: mail.server.url,
    // The drills ban nobody.
    banSystemUrl: '',
    serviceUrl: '',
  });
  return {
    ...{ payments, messenger },
    close: async () => void (await Promise.all([payments.close(), receipts.close(), messenger.close(), mail.close()])),
  };
}

/** Acquires the lease of the host of fakes for the drill. */
export async function publishFakes(run: Run, addresses: SandboxAddresses): Promise<void> {
  await run(
    `INSERT INTO service_state (key, value, updated_at) VALUES ('${SANDBOX_HOST_KEY}', '${JSON.stringify(addresses)}'::jsonb, ${LEASE_END})
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = EXCLUDED.updated_at RETURNING key`,
  );
}
