/** Requests to the real address, captured; no other request is allowed. */
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpClient } from '../../../src/core/http/outbound.ts';
import {
  createYookassaProvider,
  YOOKASSA_BASE_URL,
  type YookassaConnection,
} from '../../../src/integrations/payments/yookassa/yookassa-provider.ts';

const seen: { url: string; authorization: string | null; key: string | null; body: unknown }[] = [];
const outside = setupServer(
  http.post('https://api.yookassa.ru/v3/payments', async ({ request }) => {
    const { headers } = request;
    seen.push({
      url: request.url,
      authorization: headers.get('authorization'),
      key: headers.get('idempotence-key'),
      body: await request.json(),
    });
    return HttpResponse.json({
      id: 'p-1',
      status: 'pending',
      paid: false,
      amount: { value: '500.00', currency: 'RUB' },
      confirmation: { type: 'redirect', confirmation_url: 'https://yoomoney.ru/pay/p-1' },
      created_at: '2026-03-01T10:00:00.000Z',
      test: false,
    });
  }),
);
beforeAll(() => outside.listen({ onUnhandledRequest: 'error' }));
afterAll(() => outside.close());

const connection: YookassaConnection = {
  baseUrl: YOOKASSA_BASE_URL,
  shopId: '100',
  secretKey: 'live_key',
  isTestShop: false,
  returnUrl: 'https://shop.example.com/back',
  receiptEmail: 'receipts@shop.example.com',
  vatCode: 1,
  paymentMode: 'full_payment',
  paymentSubject: 'service',
  saveCard: false,
  minKopeks: 5_000,
  maxKopeks: 1_000_000,
  proxies: [],
  allowedNetworks: [],
};

test('an invoice goes to the provider’s address, with credentials and our order id as idempotence key', async () => {
  const provider = createYookassaProvider({
    http: createHttpClient({ system: 'yookassa', retries: 0 }),
    connection: () => connection,
    isOn: () => true,
    webhookPath: () => '/yookassa-webhook',
  });
  const invoice = await provider.createInvoice({
    paymentId: 1,
    orderId: 'order-with-enough-random-bits',
    amountKopeks: 50_000,
    description: 'Top-up',
    option: 'sbp',
    returnUrls: { result: null, success: null, failed: null },
    metadata: { user_id: 7 },
  });
  expect(invoice).toMatchObject({ externalId: 'p-1', paymentUrl: 'https://yoomoney.ru/pay/p-1', status: 'pending' });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    url: 'https://api.yookassa.ru/v3/payments',
    authorization: `Basic ${Buffer.from('100:live_key').toString('base64')}`,
    key: 'order-with-enough-random-bits',
    body: { amount: { value: '500.00', currency: 'RUB' }, capture: true, payment_method_data: { type: 'sbp' } },
  });
});
