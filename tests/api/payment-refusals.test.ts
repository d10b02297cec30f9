/** What the start of a payment refuses, in the cabinet and in the mini-app (spec 03 section 3, spec 02 section 12.5). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { putSetting, resetSetting } from '../../src/domain/settings/change-setting.ts';
import type { SettingKey } from '../../src/domain/settings/types.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { paymentMethodIsListed } from '../support/payment-samples.ts';
import { ScriptedProvider } from '../support/scripted-provider.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const METHODS = ['sandbox', 'messenger_stars', 'platega'] as const;

let t: TestApp;
let server: FastifyInstance;
let anonymous: ApiClient;
let user: ActorClient;
let providers: Map<string, ScriptedProvider>;

beforeAll(async () => {
  t = await testApp();
  const payments = { byMethod: (method: string) => providers.get(method), all: () => [...providers.values()] };
  resetProviders();
  t.app = { ...t.app, ports: { ...t.app.ports, payments } };
  for (const method of METHODS) await paymentMethodIsListed(t.app, method);
  server = await testServer(t.app);
  anonymous = clientOf(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  resetProviders();
  user = await userClient(t.app, server);
});

function resetProviders(): void {
  providers = new Map(METHODS.map((method) => [method, Object.assign(new ScriptedProvider(), { method: method as 'sandbox' })]));
}

/** Changes a setting until the returned function is called. */
async function setting(key: SettingKey, value: number): Promise<() => Promise<unknown>> {
  await putSetting(t.app, { kind: 'system' }, key, value);
  return () => resetSetting(t.app, { kind: 'system' }, key);
}

const restricted = async () => {
  await t.app.db.sql('UPDATE users SET restriction_topup = true WHERE id = $1::int RETURNING id', [user.user.id]);
};
async function limitsOf(min: number | null, max: number | null): Promise<() => Promise<unknown>> {
  const change = (values: (number | null)[]) =>
    t.app.db.sql(
      `UPDATE payment_method_configs SET min_amount_kopeks = $1::int, max_amount_kopeks = $2::int
       WHERE method_id = 'sandbox' RETURNING method_id`,
      values,
    );
  await change([min, max]);
  return () => change([null, null]);
}
const fails = (method: string, failure: ScriptedProvider['createFaults'][number]) => async () => {
  providers.get(method)!.createFaults = [failure];
};
const isOff = (method: string) => async () => {
  providers.get(method)!.configured = false;
};

interface Case {
  /** Makes the state in which the request is refused; what it returns undoes what is not the user's. */
  given?: () => Promise<unknown>;
  request?: Record<string, unknown>;
  refused: [status: number, detail: string];
}

function refuses(
  send: (request: Record<string, unknown>, headers?: Record<string, string>) => ReturnType<ApiClient['post']>,
  usual: Record<string, unknown>,
  cases: Record<string, Case>,
): void {
  it.each(Object.entries(cases))('refuses %s', async (_name, { given, request, refused }) => {
    const undo = await given?.();
    try {
      const { status, body } = await send({ ...usual, ...request });
      expect([status, body.detail]).toEqual(refused);
    } finally {
      if (typeof undo === 'function') await undo();
    }
  });

  it('refuses the eleventh call of a minute', async () => {
    for (let call = 0; call < 10; call++) expect((await send(usual)).status).toBe(200);
    const { status, body, headers } = await send(usual);
    expect([status, body.detail, headers['retry-after']]).toEqual([429, 'Too many requests', expect.stringMatching(/^\d+$/)]);
  });

  it('refuses a repeat while the provider has not answered the first request', async () => {
    const key = { 'idempotency-key': `key-${unique()}` };
    const repeats: [number, string][] = [];
    for (const provider of providers.values()) {
      const create = provider.createInvoice;
      provider.createInvoice = async (order) => {
        const { status, body } = await send(usual, key);
        repeats.push([status, body.detail]);
        return create(order);
      };
    }
    expect((await send(usual, key)).status).toBe(200);
    expect(repeats).toEqual([[409, 'A request with this Idempotency-Key is still being processed']]);
  });
}

describe('POST /cabinet/balance/topup', () => {
  refuses(
    (request, headers = {}) => user.post('/cabinet/balance/topup', request, { headers }),
    { amount_kopeks: 50_000, payment_method: 'sandbox' },
    {
      'a restricted user': { given: restricted, refused: [403, 'Balance top-up is restricted for this account'] },
      'an unknown method': { request: { payment_method: 'bank' }, refused: [400, 'Invalid or unavailable payment method'] },
      'less than the minimum': { given: () => limitsOf(50_001, null), refused: [400, 'Minimum amount is 500.01 RUB'] },
      'more than the maximum': { given: () => limitsOf(null, 49_999), refused: [400, 'Maximum amount is 499.99 RUB'] },
      Stars: {
        request: { payment_method: 'messenger_stars' },
        refused: [400, 'Messenger Stars payments are only available through @test_bot'],
      },
      'a provider that turns out to be off': {
        given: fails('sandbox', 'not_configured'),
        refused: [400, 'Sandbox payment method is unavailable'],
      },
      'a provider that is down': { given: fails('sandbox', 'unavailable'), refused: [502, 'Failed to create Sandbox payment'] },
    },
  );
});

describe('POST /cabinet/balance/stars-invoice', () => {
  refuses(
    (request, headers = {}) => user.post('/cabinet/balance/stars-invoice', request, { headers }),
    { amount_kopeks: 50_000 },
    {
      'a restricted user': { given: restricted, refused: [403, 'Balance top-up is restricted for this account'] },
      'Stars that are off': { given: isOff('messenger_stars'), refused: [400, 'Messenger Stars payments are not enabled'] },
      'more than the maximum': { request: { amount_kopeks: 1_000_001 }, refused: [400, 'Maximum amount is 10,000.00 RUB'] },
      'more Stars than the messenger accepts': {
        given: () => setting('MESSENGER_STARS_RATE_RUB', 0.01),
        refused: [400, 'Maximum amount is 100.00 RUB'],
      },
      'a messenger that is down': {
        given: fails('messenger_stars', 'unavailable'),
        refused: [502, 'Failed to create Stars invoice'],
      },
    },
  );
});

describe('POST /miniapp/payments/create', () => {
  const stars = (amountKopeks: number) => ({ method: 'stars', amountKopeks });

  refuses(
    (request, headers = {}) =>
      anonymous.post('/miniapp/payments/create', { initData: initDataOf(t, user.user), ...request }, { headers }),
    { method: 'sandbox', amountKopeks: 50_000 },
    {
      'a restricted user': { given: restricted, refused: [403, 'Balance top-up is restricted for this account'] },
      'a missing method': { request: { method: ' ' }, refused: [400, 'Payment method is required'] },
      'an unknown method': { request: { method: 'bank' }, refused: [400, 'Unknown payment method'] },
      'a method that is off': { given: isOff('sandbox'), refused: [400, 'Payment method is unavailable'] },
      'a missing amount': { request: { amountKopeks: null }, refused: [400, 'Amount must be positive'] },
      'less than the listed minimum': { request: { amountKopeks: 999 }, refused: [400, 'Amount is below minimum'] },
      'less than the minimum of a Stars invoice': {
        given: () => setting('MESSENGER_STARS_RATE_RUB', 0.5),
        request: stars(99),
        refused: [400, 'Amount is below minimum'],
      },
      'more than the maximum of a Stars invoice': { request: stars(1_000_001), refused: [400, 'Amount exceeds maximum'] },
      'an unknown number of an option': {
        request: { method: 'platega', option: '99' },
        refused: [400, 'Selected Platega method is unavailable'],
      },
      'an option that is no number': {
        request: { method: 'platega', option: 'card' },
        refused: [400, 'Invalid Platega payment option'],
      },
      'a provider that is down': { given: fails('sandbox', 'unavailable'), refused: [502, 'Failed to create payment'] },
      'an answer of the provider without a page': {
        given: async () => Object.assign(providers.get('sandbox')!, { paymentUrl: 'nowhere' }) && undefined,
        refused: [502, 'Failed to obtain payment url'],
      },
    },
  );
});

it('DELETE /cabinet/balance/saved-cards/{card_id} is refused while recurrent payments are off', async () => {
  const { status, body } = await user.delete('/cabinet/balance/saved-cards/1');
  expect([status, body.detail]).toEqual([400, 'Recurrent payments are not enabled']);
});
