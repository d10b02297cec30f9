import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/clock.ts';
import { type ActorClient, adminClient, giveRole, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { setUser } from '../support/merge-samples.ts';
import { anEarning, aReferralOf } from '../support/referral-samples.ts';
import { topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { aRequestOfBefore, earn, moneyOf, requestRow, spend, WITHDRAWALS_ON } from '../support/withdrawal-samples.ts';

let t: TestApp;
let server: FastifyInstance;
let boss: ActorClient;

const ROOT = '/cabinet/referral/withdrawal';
const ADMIN = '/cabinet/admin/withdrawals';
const UNKNOWN = 2_147_000_000;
const BEYOND = 9_007_199_254_740_991;
const DETAILS = 'Card 2200 0000 0000 0004';

beforeAll(async () => {
  t = await testApp({ environment: { ...WITHDRAWALS_ON, REFERRAL_WITHDRAWAL_REQUISITES_TEXT: 'Card and bank' } });
  server = await testServer(t.app);
  boss = await adminClient(t.app, server, ['withdrawals:read', 'withdrawals:approve', 'withdrawals:reject']);
  await setUser(t.app, boss.user.id, { language: 'en' });
});
afterAll(() => server.close());

/** A signed-in referrer with earnings on the balance, kopeks. */
async function anEarnerClient(kopeks = 50_000): Promise<ActorClient> {
  const client = await userClient(t.app, server, { language: 'en' });
  const referral = await aReferralOf(t.app, client.user.id);
  await earn(t.app, { referrer: client.user, referral }, kopeks);
  return client;
}

const create = (client: ActorClient, amount_kopeks: unknown, headers: Record<string, string> = {}) =>
  client.post(`${ROOT}/create`, { amount_kopeks, payment_details: DETAILS }, { headers });
async function made(client: ActorClient, amount = 20_000): Promise<number> {
  const reply = await create(client, amount);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.id;
}
const typesOf = (reply: { body: { detail: { type: string }[] } }) => reply.body.detail.map((issue) => issue.type);

describe('Cabinet Withdrawal', () => {
  it('shows what can be withdrawn', async () => {
    const client = await anEarnerClient();
    const page = await client.get(`${ROOT}/balance`);
    expect([page.status, page.body]).toEqual([
      200,
      {
        total_earned: 50_000,
        referral_spent: 0,
        withdrawn: 0,
        pending: 0,
        available_referral: 50_000,
        available_total: 50_000,
        only_referral_mode: true,
        min_amount_kopeks: 100,
        is_withdrawal_enabled: true,
        can_request: true,
        cannot_request_reason: null,
        requisites_text: 'Card and bank',
      },
    ]);
    await made(client);
    expect((await client.get(`${ROOT}/balance`)).body).toMatchObject({
      pending: 20_000,
      available_total: 30_000,
      can_request: false,
      cannot_request_reason: 'You already have a request under review',
    });
  });

  it('requests, lists and cancels', async () => {
    const client = await anEarnerClient();
    const reply = await client.post(`${ROOT}/create`, { amount_kopeks: 20_050, payment_details: `  ${DETAILS} ` });
    expect([reply.status, reply.body]).toEqual([200, { id: expect.any(Number), amount_kopeks: 20_050, status: 'pending' }]);
    const { id } = reply.body;
    const pending = {
      id,
      amount_kopeks: 20_050,
      amount_rubles: 200.5,
      status: 'pending',
      payment_details: DETAILS,
      admin_comment: null,
      created_at: t.clock.now().toISOString(),
      processed_at: null,
    };
    expect((await client.get(`${ROOT}/history`)).body).toEqual({ items: [pending], total: 1 });
    const cancelled = await client.post(`${ROOT}/${id}/cancel`);
    expect([cancelled.status, cancelled.body]).toEqual([200, { success: true }]);
    expect((await client.get(`${ROOT}/history`)).body.items).toEqual([{ ...pending, status: 'cancelled' }]);
    const again = await client.post(`${ROOT}/${id}/cancel`);
    expect([again.status, again.body.detail]).toEqual([400, 'Only a request under review can be cancelled']);
    for (const unknown of [UNKNOWN, BEYOND]) {
      const missing = await client.post(`${ROOT}/${unknown}/cancel`);
      expect([missing.status, missing.body.detail]).toEqual([404, 'Request not found']);
    }
  });

  it('refuses with 400 in the language of the user', async () => {
    const client = await anEarnerClient();
    await topUp(t.app, client.user.id, 1_000);
    const refusal = async (amount: number) => {
      const reply = await create(client, amount);
      return [reply.status, reply.body.detail];
    };
    expect(await refusal(99)).toEqual([400, 'Minimum withdrawal: 1 ₽. Available: 500 ₽.']);
    expect(await refusal(50_001)).toEqual([400, 'Only referral earnings can be withdrawn: 500 ₽']);
    expect(await refusal(51_001)).toEqual([400, 'The amount exceeds what is available: 500 ₽']);
    await made(client);
    expect(await refusal(100)).toEqual([400, 'You already have a request under review']);
    await setUser(t.app, client.user.id, { language: 'ru' });
    expect(await refusal(100)).toEqual([400, 'У вас уже есть заявка на рассмотрении']);
    const poor = await userClient(t.app, server, { language: 'en' });
    expect((await create(poor, 100)).body.detail).toBe('Minimum withdrawal: 1 ₽. Available: 0 ₽.');
  });

  it('refuses during the pause, and while withdrawals are off', async () => {
    const client = await anEarnerClient();
    const headers = { authorization: `Bearer ${client.accessToken}` };
    const slow = await testServer(
      (await testApp({ environment: { ...WITHDRAWALS_ON, REFERRAL_WITHDRAWAL_COOLDOWN_DAYS: '7' }, clock: t.clock })).app,
    );
    const off = await testServer((await testApp({ environment: { REFERRAL_WITHDRAWAL_ENABLED: 'false' }, clock: t.clock })).app);
    const body = { amount_kopeks: 100, payment_details: DETAILS };
    await made(client);
    const early = await clientOf(slow, headers).post(`${ROOT}/create`, body);
    expect([early.status, early.body.detail]).toEqual([400, 'The next request can be made in 7 d.']);
    const closed = await clientOf(off, headers).post(`${ROOT}/create`, body);
    expect([closed.status, closed.body.detail]).toEqual([400, 'Withdrawals are switched off']);
    expect((await clientOf(off, headers).get(`${ROOT}/balance`)).body).toMatchObject({
      total_earned: 0,
      pending: 0,
      is_withdrawal_enabled: false,
      can_request: false,
      // Spec 10 X22.
      min_amount_kopeks: 100_000,
      cannot_request_reason: 'Withdrawals are switched off',
    });
    expect((await clientOf(off, headers).get(`${ROOT}/history`)).body.total).toBe(1);
    await Promise.all([slow.close(), off.close()]);
  });

  it('checks the body: bounds of the amount, and the length of the details without spaces around them', async () => {
    const client = await anEarnerClient(100);
    const typesFor = async (body: unknown) => typesOf(await client.post(`${ROOT}/create`, body));
    expect(await typesFor({})).toEqual(['missing', 'missing']);
    expect(await typesFor({ amount_kopeks: 0, payment_details: '12345' })).toEqual(['greater_than']);
    expect(await typesFor({ amount_kopeks: 10_000_001, payment_details: '12345' })).toEqual(['less_than_equal']);
    expect(await typesFor({ amount_kopeks: 1.5, payment_details: '12345' })).toEqual(['int_from_float']);
    expect(await typesFor({ amount_kopeks: 1, payment_details: ' 1234 ' })).toEqual(['string_too_short']);
    expect(await typesFor({ amount_kopeks: 1, payment_details: 'x'.repeat(1_001) })).toEqual(['string_too_long']);
    expect(await typesFor({ amount_kopeks: '1', payment_details: 12_345 })).toEqual(['int_type', 'string_type']);
  });

  it('gives the first answer to a repeat with its key', async () => {
    const client = await anEarnerClient();
    const headers = { 'idempotency-key': `w-${unique()}` };
    const first = await create(client, 20_000, headers);
    const second = await create(client, 20_000, headers);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect((await create(client, 20_001, headers)).status).toBe(422);
    const cancelKey = { headers: { 'idempotency-key': `c-${unique()}` } };
    const path = `${ROOT}/${first.body.id}/cancel`;
    expect((await client.post(path, undefined, cancelKey)).body).toEqual({ success: true });
    expect((await client.post(path, undefined, cancelKey)).body).toEqual({ success: true });
    expect((await client.post(path)).status).toBe(400);
  });
});

describe('Cabinet Admin Withdrawals', () => {
  it('lists with totals, and pages', async () => {
    // Later than what the apps of other tests have stored.
    t.clock.advance(5 * MINUTE_MS);
    const client = await anEarnerClient();
    await setUser(t.app, client.user.id, { username: 'anna', first_name: 'Anna' });
    const before = (await boss.get(ADMIN)).body;
    const id = await made(client);
    const { status, body } = await boss.get(`${ADMIN}?limit=1`);
    expect(status).toBe(200);
    expect(body).toEqual({
      items: [
        {
          id,
          user_id: client.user.id,
          username: 'anna',
          first_name: 'Anna',
          messenger_id: client.user.messengerId,
          amount_kopeks: 20_000,
          amount_rubles: 200,
          status: 'pending',
          risk_score: 0,
          risk_level: 'low',
          payment_details: DETAILS,
          admin_comment: null,
          created_at: t.clock.now().toISOString(),
          processed_at: null,
        },
      ],
      total: before.total + 1,
      pending_count: before.pending_count + 1,
      pending_total_kopeks: before.pending_total_kopeks + 20_000,
    });
    const second = (await boss.get(`${ADMIN}?limit=1&offset=1`)).body;
    expect(second.total).toBe(before.total + 1);
    expect(second.items[0]?.id).not.toBe(id);
    expect((await boss.get(`${ADMIN}?offset=100000`)).body).toMatchObject({ items: [], total: before.total + 1 });
    await boss.post(`${ADMIN}/${id}/reject`, {});
    const rejected = (await boss.get(`${ADMIN}?status=rejected&limit=1`)).body;
    expect(rejected).toMatchObject({ items: [{ id, status: 'rejected' }], pending_count: before.pending_count });
    const counted = await t.app.db.sql<{ n: number }>(
      "SELECT count(*)::int AS n FROM withdrawal_requests WHERE status = 'rejected'",
    );
    expect(rejected.total).toBe(counted[0]!.n);
  });

  it('checks its parameters', async () => {
    expect(typesOf(await boss.get(`${ADMIN}?status=open`))).toEqual(['enum']);
    expect(typesOf(await boss.get(`${ADMIN}?limit=0`))).toEqual(['greater_than_equal']);
    expect(typesOf(await boss.get(`${ADMIN}?limit=101`))).toEqual(['less_than_equal']);
    expect(typesOf(await boss.get(`${ADMIN}?offset=-1`))).toEqual(['greater_than_equal']);
    expect(typesOf(await boss.get(`${ADMIN}/abc`))).toEqual(['int_parsing']);
    const comment = 'x'.repeat(2_001);
    expect(typesOf(await boss.post(`${ADMIN}/1/approve`, { comment }))).toEqual(['string_too_long']);
    expect(typesOf(await boss.post(`${ADMIN}/1/reject`, { comment }))).toEqual(['string_too_long']);
  });

  it('shows a request with its analysis', async () => {
    const client = await anEarnerClient(60_000);
    const id = await made(client);
    await anEarning(
      t.app,
      { referrer: client.user, referral: await aReferralOf(t.app, client.user.id) },
      { kopeks: 1_000, at: t.clock.now() },
    );
    const { status, body } = await boss.get(`${ADMIN}/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      user_id: client.user.id,
      status: 'pending',
      risk_score: 20,
      risk_level: 'low',
      balance_kopeks: 40_000,
      total_referrals: 2,
      total_earnings_kopeks: 61_000,
      amount_rubles: 200,
      risk_analysis: {
        risk_score: 20,
        risk_level: 'low',
        recommendation: 'approve',
        flags: ['All earnings come from one referral'],
        details: { balance_stats: { total_earned: 60_000 }, referral_count: 1 },
      },
    });
    await t.app.db.sql("UPDATE withdrawal_requests SET risk_analysis = 'broken' WHERE id = $1::int", [id]);
    expect((await boss.get(`${ADMIN}/${id}`)).body.risk_analysis).toBeNull();
    for (const unknown of [UNKNOWN, BEYOND]) {
      const missing = await boss.get(`${ADMIN}/${unknown}`);
      expect([missing.status, missing.body.detail]).toEqual([404, 'Request not found']);
    }
  });

  const decide = async (action: string, id: number, body?: object) => {
    const reply = await boss.post(`${ADMIN}/${id}/${action}`, body);
    return [reply.status, reply.body.detail ?? reply.body];
  };

  it('approves a request, and shows it to its user as a movement', async () => {
    const client = await anEarnerClient();
    expect(await decide('approve', await made(client), { comment: 'Soon' })).toEqual([200, { success: true }]);
    expect((await client.get(`${ROOT}/history`)).body.items[0]).toMatchObject({
      status: 'approved',
      admin_comment: 'Soon',
      processed_at: t.clock.now().toISOString(),
    });
    expect((await client.get('/cabinet/balance/transactions')).body.items[0]).toMatchObject({
      type: 'withdrawal',
      amount_kopeks: -20_000,
      payment_method: null,
    });
  });

  it('completes an approved request without another movement of the user', async () => {
    const client = await anEarnerClient();
    const id = await made(client);
    await decide('approve', id, {});
    expect(await decide('complete', id)).toEqual([200, { success: true }]);
    expect((await client.get('/cabinet/balance/transactions')).body.total).toBe(2);
    expect(await moneyOf(t.app, client.user.id)).toMatchObject({ balance: 30_000, debits: 1, payouts: 1 });
  });

  it('answers 400 to a step that the state of a request does not allow', async () => {
    const id = await made(await anEarnerClient());
    expect(await decide('complete', id)).toEqual([400, 'The request has not been approved yet']);
    await decide('approve', id, {});
    const processed = [400, 'The request has already been processed'];
    for (const action of ['approve', 'reject']) expect(await decide(action, id, {})).toEqual(processed);
    await decide('complete', id);
    expect(await decide('complete', id)).toEqual(processed);
  });

  it.each([UNKNOWN, BEYOND])('answers 400 to the unknown request %i', async (id) => {
    const unknown = [400, 'Request not found'];
    for (const action of ['approve', 'reject']) expect(await decide(action, id, {})).toEqual(unknown);
    expect(await decide('complete', id)).toEqual(unknown);
  });

  it('spec 10 M5: what is requested cannot be spent, so that the approval is covered', async () => {
    const client = await anEarnerClient();
    const id = await made(client);
    expect(await spend(t.app, client.user.id, 30_001)).toBe('insufficient');
    expect(await spend(t.app, client.user.id, 30_000)).toBe('posted');
    expect((await boss.post(`${ADMIN}/${id}/approve`, {})).body).toEqual({ success: true });
    expect(await moneyOf(t.app, client.user.id)).toMatchObject({ balance: 0, debits: 1, payable: 20_000 });
  });

  it('spec 03 H13: does not approve a request without a hold that the balance does not cover, nor for a deleted user', async () => {
    const client = await anEarnerClient();
    const id = await aRequestOfBefore(t.app, { userId: client.user.id }, 20_000);
    await spend(t.app, client.user.id, 40_000);
    const low = await boss.post(`${ADMIN}/${id}/approve`, {});
    expect([low.status, low.body.detail]).toEqual([400, "The user's balance is too low"]);
    await setUser(t.app, client.user.id, { status: 'deleted' });
    const gone = await boss.post(`${ADMIN}/${id}/approve`, {});
    expect([gone.status, gone.body.detail]).toEqual([400, 'The user of the request was not found']);
    expect(await requestRow(t.app, id)).toMatchObject({ status: 'pending' });
  });

  test('a second approver above the amount of the setting: not the same administrator twice', async () => {
    const app = (
      await testApp({
        environment: { ...WITHDRAWALS_ON, REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS: '10000' },
        clock: t.clock,
      })
    ).app;
    const strict = await testServer(app);
    const of = (client: ActorClient) => clientOf(strict, { authorization: `Bearer ${client.accessToken}` });
    const approver = () => adminClient(t.app, server, ['withdrawals:approve']);
    const [second, dependent, late] = [await approver(), await approver(), await approver()];
    await giveRole(t.app, dependent.user.id, [], { by: boss.user.id });
    await t.app.db.sql("UPDATE user_roles SET assigned_at = now() + interval '1 h' WHERE user_id = $1::int", [late.user.id]);
    const id = await made(await anEarnerClient());
    expect((await of(boss).post(`${ADMIN}/${id}/approve`, {})).body).toEqual({ success: true });
    expect((await boss.get(`${ADMIN}/${id}`)).body.status).toBe('pending');
    const twice = await of(boss).post(`${ADMIN}/${id}/approve`, {});
    expect(twice.body.detail).toBe('You have approved this request already. Another administrator has to approve it too');
    for (const refused of [dependent, late])
      expect((await of(refused).post(`${ADMIN}/${id}/approve`, {})).body.detail).toMatch(/somebody else has to decide$/);
    expect((await of(second).post(`${ADMIN}/${id}/approve`, {})).body).toEqual({ success: true });
    expect((await boss.get(`${ADMIN}/${id}`)).body.status).toBe('approved');
    await strict.close();
  });

  it('repeats with a key get the first answer', async () => {
    const client = await anEarnerClient();
    const id = await made(client);
    for (const [action, body] of [
      ['approve', { comment: 'Yes' }],
      ['complete', undefined],
    ] as const) {
      const key = { headers: { 'idempotency-key': `${action}-${unique()}` } };
      const replies = [1, 2].map(() => boss.post(`${ADMIN}/${id}/${action}`, body, key));
      expect((await Promise.all(replies)).map((reply) => [reply.status, reply.body])).toEqual([
        [200, { success: true }],
        [200, { success: true }],
      ]);
    }
    const rejected = await made(client);
    const key = { headers: { 'idempotency-key': `reject-${unique()}` } };
    for (const _ of [1, 2]) expect((await boss.post(`${ADMIN}/${rejected}/reject`, {}, key)).status).toBe(200);
  });

  it('needs the permission of each operation', async () => {
    const id = await made(await anEarnerClient());
    const denied = async (permission: string) => {
      const client = await adminClient(t.app, server, [permission]);
      const replies = [
        await client.get(ADMIN),
        await client.get(`${ADMIN}/${id}`),
        await client.post(`${ADMIN}/${UNKNOWN}/approve`, {}),
        await client.post(`${ADMIN}/${UNKNOWN}/reject`, {}),
        await client.post(`${ADMIN}/${UNKNOWN}/complete`),
      ];
      return replies.map((reply) => reply.status === 403);
    };
    expect(await denied('withdrawals:read')).toEqual([false, false, true, true, true]);
    expect(await denied('withdrawals:approve')).toEqual([true, true, false, true, false]);
    expect(await denied('withdrawals:reject')).toEqual([true, true, true, false, true]);
    const user = await userClient(t.app, server);
    expect((await user.get(ADMIN)).status).toBe(403);
    expect((await clientOf(server).get(`${ROOT}/balance`)).status).toBe(401);
  });
});
