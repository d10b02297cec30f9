import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { createStarsInvoice } from '../../src/domain/payments/stars-invoices.ts';
import { aUser, unique } from '../support/builders.ts';
import { changedTables, databaseDigests } from '../support/database-digests.ts';
import { callbackJobs, creditedOnce, moneyFacts } from '../support/payment-samples.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

/** Payments in Stars that nobody made (03a section 1 and 0.10), at the address to which the messenger posts. */
const HEADER = 'x-telegram-bot-api-secret-token';
const WEBHOOK_SECRET = 'test-webhook-secret';
let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp({ environment: { WEBHOOK_PATH: '/messenger-webhook' } });
  const made = await createHttpServer({
    observeRefusal,
    app: t.app,
    metrics: createMetrics(),
    callbackRoute: () => null,
    extend: (fastify) => registerCallbackRoutes(fastify, t.app),
  });
  server = made.fastify;
  await server.ready();
});
afterAll(() => server.close());

async function aPaidUpdate() {
  const user = await aUser(t.app);
  const { payload, stars } = await createStarsInvoice(t.app, { kind: 'user', userId: user.id }, 15_000, null);
  const chargeId = `forged-${unique()}`;
  const update = {
    update_id: unique(),
    message: {
      message_id: 1,
      date: 1_700_000_000,
      chat: { id: user.messengerId, type: 'private' },
      from: { id: user.messengerId, is_bot: false, first_name: 'Payer' },
      successful_payment: {
        currency: 'XTR',
        total_amount: stars,
        invoice_payload: payload,
        telegram_payment_charge_id: chargeId,
        provider_payment_charge_id: '',
      },
    },
  };
  return { user, update, chargeId };
}

const post = (update: object, headers: Record<string, string>) =>
  server.inject({ method: 'POST', url: '/messenger-webhook', headers, payload: update });

test.each([
  ['F1: with a wrong secret', { [HEADER]: `${WEBHOOK_SECRET.slice(0, -1)}#` }],
  ['F2: without a secret', {}],
  ['F2: with an empty secret', { [HEADER]: '' }],
  ['F3: with the secret of another bot', { [HEADER]: 'the-secret-of-another-bot' }],
] as const)('03a %s: refused, no row in any table, and the genuine one still credits once', async (_what, headers) => {
  const { user, update, chargeId } = await aPaidUpdate();
  const before = await databaseDigests(t.app);
  expect((await post(update, headers)).statusCode).toBe(401);
  expect(changedTables(before, await databaseDigests(t.app))).toEqual([]);
  for (let copy = 0; copy < 2; copy++) expect((await post(update, { [HEADER]: WEBHOOK_SECRET })).statusCode).toBe(200);
  for (const callbackId of await callbackJobs(t.app, chargeId)) await processCallback(t.app, { callbackId });
  expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
});
