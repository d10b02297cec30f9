import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { aStoredSubscription } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let referrer: { id: number; messengerId: number };
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
  referrer = await aUser(t.app);
  const referral = await aUser(t.app);
  const posted = await postMovement(t.app, {
    userId: referral.id,
    type: 'deposit',
    amountKopeks: 12_345,
    contra: { kind: 'provider_clearing', provider: 'yookassa' },
    paymentMethod: 'yookassa',
    description: null,
  });
  if (posted.outcome !== 'posted') throw new Error(posted.outcome);
  await aStoredSubscription(t.app, referral.id, { is_trial: true });
  await t.app.db.sql('UPDATE users SET referred_by_id = $1::int WHERE id = $2::int RETURNING id', [referrer.id, referral.id]);
  await storeRow(t.app, 'ReferralEarning', {
    userId: referrer.id,
    referralId: referral.id,
    amountKopeks: 1050,
    reason: 'referral_first_topup',
    referralTransactionId: posted.transactionId,
    createdAt: t.clock.now(),
  });
});
afterAll(() => server.close());

const OVERVIEW = {
  users: { total: 2, active: 2, blocked: 0, balance_kopeks: 12_345, balance_rubles: 123.45 },
  subscriptions: { active: 1, expired: 0 },
  support: { open_tickets: 0 },
  payments: { today_kopeks: 12_345, today_rubles: 123.45 },
};

test('GET /stats/overview answers the fields of the specification', async () => {
  const { status, body } = await api.get('/stats/overview');
  expect(status).toBe(200);
  expect(body).toEqual(OVERVIEW);
});

test('GET /stats/full answers the fields of the specification, each sum in kopeks and rubles', async () => {
  const { status, body } = await api.get('/stats/full');
  expect(status).toBe(200);
  expect(body).toEqual({
    overview: OVERVIEW,
    users: { total_users: 2, active_users: 2, blocked_users: 0, new_today: 2, new_week: 2, new_month: 2 },
    subscriptions: {
      total_subscriptions: 1,
      active_subscriptions: 1,
      trial_subscriptions: 1,
      paid_subscriptions: 0,
      purchased_today: 0,
      purchased_week: 0,
      purchased_month: 0,
      trial_to_paid_conversion: 0,
      renewals_count: 0,
      trial_statistics: { used_trials: 1, active_trials: 1, resettable_trials: 0 },
    },
    transactions: {
      period: { start_date: '2020-01-01T00:00:00.000Z', end_date: t.clock.now().toISOString() },
      totals: {
        income_kopeks: 12_345,
        income_rubles: 123.45,
        expenses_kopeks: 0,
        expenses_rubles: 0,
        profit_kopeks: 12_345,
        profit_rubles: 123.45,
        subscription_income_kopeks: 0,
        subscription_income_rubles: 0,
      },
      today: { transactions_count: 1, income_kopeks: 12_345, income_rubles: 123.45 },
      by_type: { deposit: { count: 1, amount: 12_345 } },
      by_payment_method: { yookassa: { count: 1, amount: 12_345 } },
    },
    referrals: {
      users_with_referrals: 1,
      active_referrers: 1,
      total_paid_kopeks: 1_050,
      total_paid_rubles: 10.5,
      today_earnings_kopeks: 1_050,
      today_earnings_rubles: 10.5,
      week_earnings_kopeks: 1_050,
      week_earnings_rubles: 10.5,
      month_earnings_kopeks: 1_050,
      month_earnings_rubles: 10.5,
      top_referrers: [
        {
          user_id: referrer.id,
          display_name: expect.stringMatching(/^User /),
          username: expect.stringMatching(/^user/),
          messenger_id: referrer.messengerId,
          total_earned_kopeks: 1_050,
          referrals_count: 1,
        },
      ],
    },
  });
});

describe('without a valid API token', () => {
  test.each(['/stats/overview', '/stats/full'])('%s is refused', async (path) => {
    const missing = await clientOf(server).get(path);
    expect([missing.status, missing.body]).toEqual([401, { detail: 'Missing API key' }]);
    const wrong = await clientOf(server, { 'x-api-key': 'sst_wrong' }).get(path);
    expect([wrong.status, wrong.body]).toEqual([401, { detail: 'Invalid or expired API key' }]);
  });
});
