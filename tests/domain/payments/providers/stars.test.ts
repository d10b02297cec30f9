import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startLoopbackServer } from '../../../../packages/sandbox/src/loopback-server.ts';
import { callbackRoute, registerCallbackRoutes } from '../../../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../../../src/composition/http-server.ts';
import type { App } from '../../../../src/core/app.ts';
import { createHttpClient } from '../../../../src/core/http/outbound.ts';
import { createMetrics } from '../../../../src/core/metrics.ts';
import { processCallback } from '../../../../src/domain/payments/process-callback.ts';
import { createStarsInvoice, type StarsInvoiceLink } from '../../../../src/domain/payments/stars-invoices.ts';
import { putSetting } from '../../../../src/domain/settings/change-setting.ts';
import { createMessengerPort } from '../../../../src/integrations/messenger/messenger-port.ts';
import { createStarsProvider } from '../../../../src/integrations/payments/stars-provider.ts';
import { aUser, type BuiltUser, unique } from '../../../support/builders.ts';
import { dyingAt } from '../../../support/dying-app.ts';
import { type ElapsedTimers, recordTimers } from '../../../support/elapsed-timers.ts';
import { creditedOnce, moneyFacts } from '../../../support/payment-samples.ts';
import { cryptobotCase } from '../../../support/providers/cryptobot-case.ts';
import { notApplicable } from '../../../support/providers/provider-case.ts';
import { aProviderFixture } from '../../../support/providers/provider-fixture.ts';
import { observeRefusal } from '../../../support/refusal-recorder.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';
import { workerSandbox } from '../../../support/test-sandbox.ts';

/**
 * The row of Stars in the table of providers (03a section 1), as far as `stars.test.ts` beside this folder has not its cases. Stars have no
 * wire of their own: the messenger makes the invoices and reports the payments.
 */
let t: TestApp;
let server: FastifyInstance;
let secret: string;
let timers: ElapsedTimers | null = null;
beforeAll(async () => {
  t = await testApp();
  const { app } = t;
  secret = (await workerSandbox()).secrets.webhookSecret;
  const created = await createHttpServer({
    observeRefusal,
    app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(app),
    extend: (instance) => registerCallbackRoutes(instance, app),
  });
  server = created.fastify;
  await server.ready();
});
afterEach(async () => {
  timers?.stop();
  timers = null;
  await t.app.db.sql("DELETE FROM system_settings WHERE key = 'MESSENGER_STARS_ENABLED' RETURNING key");
});
afterAll(() => server.close());

const AMOUNT = 15_000;
const SYSTEM = { kind: 'system' };

interface Invoice {
  user: BuiltUser;
  link: StarsInvoiceLink;
}

async function anInvoice(app: App = t.app): Promise<Invoice> {
  const user = await aUser(app);
  return { user, link: await createStarsInvoice(app, { kind: 'user', userId: user.id }, AMOUNT, null) };
}

/** The update about the payment of an invoice, as the messenger posts it. */
function paidUpdate({ user, link }: Invoice, headers: Record<string, string> = {}, padding = '') {
  const charge = { telegram_payment_charge_id: `charge-${unique()}`, provider_payment_charge_id: '' };
  const message = {
    message_id: unique(),
    date: 1_790_000_000,
    chat: { id: user.messengerId, type: 'private', first_name: 'P' },
    from: { id: user.messengerId, is_bot: false, first_name: 'P' },
    successful_payment: { currency: 'XTR', total_amount: link.stars, invoice_payload: link.payload, ...charge },
  };
  return {
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret, ...headers },
    payload: `${JSON.stringify({ update_id: unique(), message })}${padding}`,
  };
}

const post = async (update: ReturnType<typeof paidUpdate>) =>
  (await server.inject({ method: 'POST', url: '/messenger-webhook', ...update })).statusCode;

const waiting = async () =>
  (
    await t.app.db.sql<{ id: number }>(
      "SELECT id FROM provider_callbacks WHERE provider = 'messenger_stars' AND processed_at IS NULL ORDER BY id",
    )
  ).map(({ id }) => id);

async function pay(invoice: Invoice): Promise<void> {
  const update = paidUpdate(invoice);
  for (let copy = 0; copy < 2; copy++) {
    expect(await post(update)).toBe(200);
    for (const callbackId of await waiting()) await processCallback(t.app, { callbackId });
  }
}

describe('messenger_stars', () => {
  test('fail credits nothing, and money that comes late is credited', () =>
    notApplicable('a payment in Stars is made or does not exist'));
  test('expire credits nothing, and money that comes late is credited', () =>
    notApplicable('an expired invoice is refused before its payment, and never afterwards'));
  test('a chargeback after the credit is taken from the balance once', () => notApplicable('the messenger reports refunds only'));
  test('03a F11: an address outside the list', () => notApplicable('updates have a secret and no addresses'));

  test('a payment is credited although the method is switched off meanwhile', async () => {
    const invoice = await anInvoice();
    await t.app.db.sql(
      "UPDATE payment_method_configs SET is_enabled = false WHERE method_id = 'messenger_stars' RETURNING method_id",
    );
    await pay(invoice);
    expect(await moneyFacts(t.app, invoice.user.id)).toEqual(creditedOnce(AMOUNT));
  });

  test('switched on at run time it takes payments without a restart', async () => {
    await putSetting(t.app, SYSTEM, 'MESSENGER_STARS_ENABLED', false);
    await expect(anInvoice()).rejects.toMatchObject({ status: 400 });
    await putSetting(t.app, SYSTEM, 'MESSENGER_STARS_ENABLED', true);
    const invoice = await anInvoice();
    await pay(invoice);
    expect(await moneyFacts(t.app, invoice.user.id)).toEqual(creditedOnce(AMOUNT));
  });

  test('switched off at run time it credits the payments under way and takes no new ones', async () => {
    const invoice = await anInvoice();
    await putSetting(t.app, SYSTEM, 'MESSENGER_STARS_ENABLED', false);
    await expect(anInvoice()).rejects.toMatchObject({ status: 400 });
    await pay(invoice);
    expect(await moneyFacts(t.app, invoice.user.id)).toEqual(creditedOnce(AMOUNT));
    await putSetting(t.app, SYSTEM, 'MESSENGER_STARS_ENABLED', true);
  });

  test.each([
    ['F1', 'wrong signature', 401, { 'x-telegram-bot-api-secret-token': 'another-secret' }, ''],
    ['F2', 'missing signature', 401, { 'x-telegram-bot-api-secret-token': '' }, ''],
    ['F3', 'another merchant', 401, { 'x-telegram-bot-api-secret-token': 'secret-of-another-bot' }, ''],
    ['F9', 'a body of 10 MiB', 413, {}, ' '.repeat(10 * 1024 * 1024)],
    ['F10', 'a wrong content type', 415, { 'content-type': 'text/plain' }, ''],
  ])('03a %s: %s', async (_id, _title, status, headers, padding) => {
    const invoice = await anInvoice();
    expect(await post(paidUpdate(invoice, headers, padding))).toBe(status);
    expect(await waiting()).toEqual([]);
    await pay(invoice);
    expect(await moneyFacts(t.app, invoice.user.id)).toEqual(creditedOnce(AMOUNT));
  });

  test.each([
    ['before the credit', /credit_topup/, 'before'],
    ['after the credit, before the update is marked', /credit_topup/, 'after'],
    ['while the update is marked', /processed_at = \$2/, 'before'],
  ] as const)('a process that ends %s: the next one credits once', async (_name, part, when) => {
    const invoice = await anInvoice();
    await post(paidUpdate(invoice));
    const [callbackId] = await waiting();
    await expect(processCallback(dyingAt(t.app, part, when), { callbackId: callbackId! })).rejects.toThrow('killed');
    for (const id of await waiting()) await processCallback(t.app, { callbackId: id });
    expect(await moneyFacts(t.app, invoice.user.id)).toEqual(creditedOnce(AMOUNT));
  });

  test('while it does not answer nothing else waits, and its callers are refused after its time-out', async () => {
    let requests = 0;
    const silent = await startLoopbackServer(() => {
      requests++;
      return new Promise(() => undefined);
    });
    const fixture = await aProviderFixture(cryptobotCase);
    const paidBefore = await anInvoice();
    const http = createHttpClient({ system: 'messenger', retries: 0 });
    const messenger = createMessengerPort({ http, connection: () => ({ baseUrl: silent.url, token: 'x', webhookSecret: null }) });
    const stars = createStarsProvider({ messenger, connection: () => ({ enabled: true, title: 'Top-up' }) });
    const payments = { ...fixture.app.ports.payments, byMethod: () => stars };
    timers = recordTimers('core/http/outbound.ts');
    const refused = anInvoice({ ...fixture.app, ports: { ...fixture.app.ports, payments } }).then(
      () => null,
      (error: unknown) => error,
    );
    await expect.poll(() => requests).toBe(1);

    for (const callback of await fixture.act('pay')) await fixture.deliver(callback);
    expect((await moneyFacts(fixture.app, fixture.current.user.id)).balance).toBe(50_000);
    await pay(paidBefore);
    expect(await moneyFacts(t.app, paidBefore.user.id)).toEqual(creditedOnce(AMOUNT));
    await expect.poll(() => fixture.t.database.poolCounters()).toMatchObject({ inUse: 0, waiting: 0 });

    timers.elapse(30_000);
    expect(await refused).toMatchObject({ status: 502, code: 'payment_creation_failed' });
    await fixture.close();
    await silent.close();
  });
});
