import type { FastifyInstance } from 'fastify';
import type { LoopbackReply, LoopbackRequest } from '../../../packages/sandbox/src/loopback-server.ts';
import type { InvoiceAction, SandboxInvoice } from '../../../packages/sandbox/src/payments/invoice.ts';
import type { PaymentSandbox } from '../../../packages/sandbox/src/payments/payment-sandbox.ts';
import { callbackRoute, registerCallbackRoutes } from '../../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../../src/composition/http-server.ts';
import type { App } from '../../../src/core/app.ts';
import { createMetrics } from '../../../src/core/metrics.ts';
import { seedPaymentMethods } from '../../../src/domain/payments/payment-methods.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser, type BuiltUser } from '../builders.ts';
import { startRecorder } from '../loopback-http.ts';
import { moneyFacts } from '../payment-samples.ts';
import { observeRefusal } from '../refusal-recorder.ts';
import { type TestApp, type TestAppOptions, testApp } from '../test-app.ts';
import { workerSandbox } from '../test-sandbox.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';

export interface PreparedInvoice {
  user: BuiltUser;
  paymentId: number;
  orderId: string;
  /** The fake's side of it. */
  invoice: SandboxInvoice;
}

/** A provider that does not answer. */
interface Stall {
  /** Requests that wait for it, or have waited. */
  requests(): number;
  /** It answers again, also what still waits. */
  end(): void;
}

/** What a fixture needs besides the provider. */
export interface FixtureOptions extends TestAppOptions {
  /** Another provider of the same service. */
  neighbour?: ProviderCase;
  /** The service has no sandbox and no settings of the provider yet: `switchOn` and `switchOff` of `real-provider.ts` change them. */
  isReal?: boolean;
}

/** The service with one provider as the sandbox's fake: the adapter calls it over HTTP, its callbacks are kept for the test to deliver. */
export interface ProviderFixture {
  t: TestApp;
  app: App;
  method: string;
  server: FastifyInstance;
  sandbox: PaymentSandbox;
  /** The one secret of the fake, which replaces every credential. */
  secret: string;
  /** The latest invoice. */
  current: PreparedInvoice;
  /**
   * A new invoice through the operation of the cabinet; kopeks.
   * @param of another provider of the fixture; default: its own
   */
  open(amountKopeks?: number, of?: ProviderCase): Promise<PreparedInvoice>;
  /** Performs an action at the fake. @returns the callbacks that it posted */
  act(action: InvoiceAction, refundKopeks?: number): Promise<RawCallback[]>;
  /** What the fake has posted of an action about the latest invoice. */
  posted(action: InvoiceAction): readonly RawCallback[];
  /** `act` for an action with exactly one callback. */
  callbackOf(action: InvoiceAction): Promise<RawCallback>;
  /** Delivers a callback to the service's HTTP server, which only stores it. */
  store(callback: RawCallback): Promise<{ status: number; body: string }>;
  /** `store`, then `process`. */
  deliver(callback: RawCallback, of?: ProviderCase): Promise<{ status: number; body: string }>;
  /** Runs the jobs of all callbacks of a provider that wait. */
  process(of?: ProviderCase): Promise<void>;
  /** Answers the adapter's requests in place of the fake; null = the fake answers. */
  intercept(answer: ((request: LoopbackRequest) => LoopbackReply | null) | null): void;
  /** From now on the provider accepts connections and does not answer. */
  stall(): Stall;
  close(): Promise<void>;
}

const AMOUNT_KOPEKS = 50_000;

/** Starts the fixture of a provider with one open invoice, unless it is a real one, which has to be switched on first. */
export async function aProviderFixture(provider: ProviderCase, options: FixtureOptions = {}): Promise<ProviderFixture> {
  const { method } = provider;
  const { neighbour, isReal = false, ...appOptions } = options;
  const cases = [provider, ...(neighbour ? [neighbour] : [])];
  const fakes = { SANDBOX_PROVIDERS: isReal ? '' : cases.map((prepared) => prepared.method).join(',') };
  const environment = {
    ...fakes,
    ...neighbour?.settings,
    ...provider.settings,
    ...(isReal ? provider.realEnvironment : {}),
    ...options.environment,
  };
  const { servers, secrets, callbacks } = await workerSandbox();
  const recorder = await startRecorder(() => ({ ...provider.acknowledges, contentType: 'application/json' }));
  const t = await testApp({ ...appOptions, environment });
  const { app } = t;
  callbacks.url = recorder.server.url;
  await seedPaymentMethods(app);
  await app.db.sql('UPDATE payment_method_configs SET is_enabled = true WHERE method_id = ANY($1::text[]) RETURNING method_id', [
    cases.map((prepared) => prepared.method),
  ]);
  const { fastify: server } = await createHttpServer({
    // Only callbacks are called: registering all operations costs more than most tests.
    routes: [],
    observeRefusal,
    app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(app),
    extend: (instance) => registerCallbackRoutes(instance, app),
  });
  await server.ready();
  const sandbox = servers.payments;

  const posted = new Map<InvoiceAction, readonly RawCallback[]>();
  const open = async (amountKopeks = AMOUNT_KOPEKS, { method: wire, option, pays } = provider): Promise<PreparedInvoice> => {
    if (pays) {
      fixture.current = await pays(fixture, amountKopeks);
      posted.clear();
      return fixture.current;
    }
    const user = await aUser(app, { email: `payer-${amountKopeks}-${Math.random()}@example.com` });
    const { paymentId } = await topupBalance(
      app,
      { kind: 'user', userId: user.id },
      { amountKopeks, method: wire, option: option ?? null },
      { idempotencyKey: null, ip: '203.0.113.7' },
    );
    const [row] = await app.db.sql<{ orderId: string }>('SELECT order_id FROM payments WHERE id = $1::int', [paymentId]);
    const invoice = (await sandbox.list()).find((known) => known.wire === wire && known.orderId === row!.orderId);
    if (!invoice) throw new Error(`the fake of ${wire} has no invoice of order ${row!.orderId}`);
    fixture.current = { user, paymentId, orderId: row!.orderId, invoice };
    posted.clear();
    return fixture.current;
  };

  const act = async (action: InvoiceAction, refundKopeks?: number): Promise<RawCallback[]> => {
    const before = recorder.requests.length;
    const changed = await sandbox.act(fixture.current.invoice.id, action, refundKopeks);
    if (!changed) throw new Error(`the fake of ${method} allows no ${action} now`);
    fixture.current.invoice = { ...fixture.current.invoice, ...changed };
    await sandbox.idle();
    const callbacks = recorder.requests
      .slice(before)
      .map(({ path, headers, body }) => ({ path, headers: bareHeaders(headers), body }));
    posted.set(action, callbacks);
    return callbacks;
  };

  const process = async (of = provider) => {
    const waiting = await app.db.sql<{ id: number }>(
      'SELECT id FROM provider_callbacks WHERE provider = $1 AND processed_at IS NULL ORDER BY id',
      [of.method],
    );
    for (const { id } of waiting) await processCallback(app, { callbackId: id });
  };

  const store = async ({ method: verb = 'POST', path, headers, body, ip }: RawCallback) => {
    const reply = await server.inject({
      method: verb as 'POST',
      url: path,
      headers,
      payload: body,
      ...(ip ? { remoteAddress: ip } : {}),
    });
    return { status: reply.statusCode, body: reply.body };
  };

  const fixture: ProviderFixture = {
    t,
    app,
    method,
    server,
    sandbox,
    secret: secrets.paymentSecret,
    open,
    act,
    process,
    current: undefined as unknown as PreparedInvoice,
    posted: (action) => posted.get(action) ?? [],
    callbackOf: async (action) => {
      const made = await act(action);
      if (made.length !== 1) throw new Error(`${made.length} callbacks of ${action} in place of one`);
      return made[0]!;
    },
    store,
    deliver: async (callback, of) => {
      const reply = await store(callback);
      await process(of);
      return reply;
    },
    intercept: (answer) => sandbox.intercept(answer === null ? null : (request) => answer(request)),
    stall: () => {
      let requests = 0;
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      // Closed without an answer then: the caller has long given up.
      const cut = { status: 0, contentType: '', body: '', isCut: true };
      sandbox.intercept((_request, wire) => {
        if (wire !== method) return null;
        requests++;
        return ended.then(() => cut);
      });
      return {
        requests: () => requests,
        end: () => {
          sandbox.intercept(null);
          end();
        },
      };
    },
    close: async () => {
      sandbox.intercept(null);
      callbacks.url = null;
      await server.close();
      await recorder.server.close();
    },
  };
  if (!isReal) await open();
  return fixture;
}

/** The headers of the provider, without those of the connection. */
function bareHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const connection = ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'user-agent', 'accept'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !connection.includes(name)));
}

/** Everything that a callback may change: money, ledger rows, the record of the invoice. */
export async function factsOf({ app, current, method }: ProviderFixture) {
  const { user, paymentId } = current;
  const [payment] = await app.db.sql<{ outcome: string; isPaid: boolean; transactionId: number | null }>(
    `SELECT outcome, is_paid, transaction_id FROM payments WHERE id = $1::int OR ($1 = 0 AND user_id = $2::int AND method = $3)
     ORDER BY id DESC LIMIT 1`,
    [paymentId, user.id, method],
  );
  const [ledger] = await app.db.sql<{ entries: number; transactions: number }>(
    'SELECT (SELECT count(*)::int FROM ledger_entries) AS entries, (SELECT count(*)::int FROM transactions) AS transactions',
  );
  const { balance, deposits } = await moneyFacts(app, user.id);
  const unpaid = { outcome: 'pending', isPaid: false, transactionId: null };
  return { payment: payment ?? unpaid, ledger: ledger!, balance, deposits };
}

/** Kinds of the open cases of a provider, since the id; of each the administrators are notified by a job of its own. */
export async function openCasesOf({ app, method }: ProviderFixture, sinceId: number): Promise<string[]> {
  const rows = await app.db.sql<{ kind: string; alerts: number }>(
    `SELECT c.kind, (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'payments.notify-case' AND j.data ->> 'caseId' = c.id::text) AS alerts
     FROM payment_cases c WHERE c.method = $1 AND c.id > $2::int AND c.status = 'open' ORDER BY c.id`,
    [method, sinceId],
  );
  return rows.map(({ kind, alerts }) => (alerts === 1 ? kind : `${kind} with ${alerts} alerts`));
}

export async function lastCaseId({ app }: ProviderFixture): Promise<number> {
  const [row] = await app.db.sql<{ id: number }>('SELECT coalesce(max(id), 0)::int AS id FROM payment_cases');
  return row!.id;
}
