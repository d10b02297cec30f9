/** What a purchase on a sales page and a gift refuse, as their clients see it (spec 03 sections 7.2 and 9). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActorClient, userClient } from '../support/actors.ts';
import type { ApiClient } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { aGiftTariff, giftsAreOn } from '../support/gift-samples.ts';
import { type LandingFixture, landingFixture } from '../support/landing-fixture.ts';
import { topUp } from '../support/sale-samples.ts';
import type { ScriptedProvider } from '../support/scripted-provider.ts';
import type { TestApp } from '../support/test-app.ts';

const STILL_PROCESSED = 'A request with this Idempotency-Key is still being processed';

let t: TestApp;
let server: FastifyInstance;
let guest: ApiClient;
let provider: ScriptedProvider;
let aSalesPage: LandingFixture['aSalesPage'];
let reset: LandingFixture['reset'];

beforeAll(async () => {
  ({ t, server, guest, provider, aSalesPage, reset } = await landingFixture());
});
afterAll(() => server.close());
beforeEach(async () => {
  await reset();
  provider.createFaults = [];
  provider.paymentUrl = 'https://pay.example.com/';
});

const aKey = () => ({ 'idempotency-key': `key-${unique()}` });

/** The answers to a repeat that is sent while the provider is asked for the invoice of the first request. */
async function answersWhileAsked(send: () => ReturnType<ApiClient['post']>): Promise<unknown[]> {
  const answers: unknown[] = [];
  const create = provider.createInvoice;
  provider.createInvoice = async (request) => {
    const { status, body } = await send();
    answers.push([status, body.detail]);
    return create(request);
  };
  try {
    expect((await send()).status).toBe(200);
  } finally {
    provider.createInvoice = create;
  }
  return answers;
}

describe('POST /cabinet/landing/{slug}/purchase', () => {
  interface Case {
    page?: Record<string, unknown>;
    tariff?: Record<string, unknown>;
    order?: Record<string, unknown>;
    /** Changes the page or its tariff after the page was made. */
    given?: (page: { tariffId: number; id: number }) => Promise<unknown>;
    refused: [status: number, detail: string];
  }
  const gift = { is_gift: true, gift_recipient_type: 'messenger', gift_recipient_value: '@somebody' };
  const method = (limits: Record<string, unknown>) => ({
    payment_methods: [{ method_id: 'sandbox', display_name: 'Sandbox', ...limits }],
  });

  const cases: Record<string, Case> = {
    'a gift where the page has none': {
      page: { gift_enabled: false },
      order: gift,
      refused: [400, 'Gift purchases are not enabled for this landing page'],
    },
    'a method of another page': {
      order: { payment_method: 'yookassa' },
      refused: [400, 'Payment method is not available on this landing page'],
    },
    'a tariff of another page': {
      order: { tariff_id: 2_000_000_000 },
      refused: [400, 'Tariff is not available on this landing page'],
    },
    'a tariff that is off': { tariff: { is_active: false }, refused: [400, 'Tariff not found or inactive'] },
    'a gift of a tariff that is not given': {
      tariff: { show_in_gift: false },
      order: gift,
      refused: [400, 'This tariff is not available for gift purchases'],
    },
    'a period that the page leaves out': {
      given: ({ tariffId, id }) =>
        t.app.db.sql('UPDATE landing_pages SET allowed_periods = $2::json WHERE id = $1::int RETURNING id', [
          id,
          JSON.stringify({ [tariffId]: [90] }),
        ]),
      refused: [400, 'Period is not available for this tariff on this landing page'],
    },
    'a period that the tariff leaves out': {
      order: { period_days: 31 },
      refused: [400, 'Period is not available for this tariff'],
    },
    'a period without a price': {
      tariff: { period_prices: { 30: 0 } },
      refused: [400, 'Price is not configured for this period'],
    },
    'less than the minimum of the method': {
      page: method({ min_amount_kopeks: 30_001 }),
      refused: [400, 'Amount is below the minimum (300.01 ₽) for this payment method'],
    },
    'more than the maximum of the method': {
      page: method({ max_amount_kopeks: 29_999 }),
      refused: [400, 'Amount exceeds the maximum (299.99 ₽) for this payment method'],
    },
    'an answer of the provider without a page': {
      given: async () => {
        provider.paymentUrl = 'nowhere';
      },
      refused: [502, 'Payment provider returned an invalid response'],
    },
  };

  const anOrder = (tariffId: number, fields: Record<string, unknown> = {}) => ({
    tariff_id: tariffId,
    period_days: 30,
    contact_type: 'email',
    contact_value: `guest${unique()}@example.com`,
    payment_method: 'sandbox',
    ...fields,
  });

  it.each(Object.entries(cases))('refuses %s', async (_name, { page, tariff, order, given, refused }) => {
    const { landing, tariffId } = await aSalesPage(page, tariff);
    await given?.({ tariffId, id: landing.id });
    const { status, body } = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, anOrder(tariffId, order));
    expect([status, body.detail]).toEqual(refused);
  });

  it('refuses a repeat while the provider has not answered the first request', async () => {
    const { landing, tariffId } = await aSalesPage();
    const [order, headers] = [anOrder(tariffId), aKey()];
    const answers = await answersWhileAsked(() => guest.post(`/cabinet/landing/${landing.slug}/purchase`, order, { headers }));
    expect(answers).toEqual([[409, STILL_PROCESSED]]);
  });
});

describe('gifts', () => {
  let buyer: ActorClient;
  let tariffId: number;

  beforeEach(async () => {
    await giftsAreOn(t.app);
    tariffId = await aGiftTariff(t.app);
    buyer = await userClient(t.app, server);
    await topUp(t.app, buyer.user.id, 100_000);
  });

  const purchase = (fields: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    buyer.post('/cabinet/gift/purchase', { tariff_id: tariffId, period_days: 30, ...fields }, { headers });
  const throughProvider = { payment_mode: 'gateway', payment_method: 'sandbox' };

  it.each([
    ['min_amount_kopeks', 30_001, 'Minimum amount is 300.01 RUB'],
    ['max_amount_kopeks', 29_999, 'Maximum amount is 299.99 RUB'],
  ])('POST /cabinet/gift/purchase refuses a price outside of %s of the method', async (column, kopeks, detail) => {
    const change = (value: number | null) =>
      t.app.db.sql(`UPDATE payment_method_configs SET ${column} = $1::int WHERE method_id = 'sandbox' RETURNING method_id`, [
        value,
      ]);
    await change(kopeks);
    try {
      const { status, body } = await purchase(throughProvider);
      expect([status, body.detail]).toEqual([400, detail]);
    } finally {
      await change(null);
    }
  });

  it('POST /cabinet/gift/purchase refuses when the answer of the provider has no page', async () => {
    provider.paymentUrl = 'nowhere';
    const { status, body } = await purchase(throughProvider);
    expect([status, body.detail]).toEqual([502, 'Payment provider returned an invalid response']);
  });

  it('POST /cabinet/gift/purchase refuses a repeat while the provider has not answered the first request', async () => {
    const headers = aKey();
    expect(await answersWhileAsked(() => purchase(throughProvider, headers))).toEqual([[409, STILL_PROCESSED]]);
  });

  it('POST /cabinet/gift/activate refuses a repeat while the first request has no answer', async () => {
    const code = (await purchase({ payment_mode: 'balance' })).body.purchase_token;
    const friend = (await userClient(t.app, server)).with(aKey());
    const activate = () => friend.post('/cabinet/gift/activate', { code });
    expect((await activate()).status).toBe(200);
    const unanswered = "UPDATE idempotency_keys SET response = NULL WHERE operation = 'gift.activate' RETURNING key";
    expect(await t.app.db.sql(unanswered)).toHaveLength(1);
    const { status, body } = await activate();
    expect([status, body.detail]).toEqual([409, STILL_PROCESSED]);
  });
});
