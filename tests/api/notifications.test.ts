import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { aStoredSubscription, rowOf, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient & { token: string };
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

const PATH = '/notifications/subscriptions';

async function facts(): Promise<{ userId: number; messengerId: number; subscriptionId: number; transactionId: number }> {
  const user = await aUser(t.app);
  await topUp(t.app, user.id, 100);
  const { id } = await rowOf<{ id: number }>(t.app, 'SELECT id FROM transactions WHERE user_id = $1::int', [user.id]);
  return {
    userId: user.id,
    messengerId: user.messengerId,
    subscriptionId: await aStoredSubscription(t.app, user.id),
    transactionId: id,
  };
}

describe('POST /notifications/subscriptions', () => {
  test('half a surrogate pair becomes U+FFFD, a whole one and an escaped backslash stay', async () => {
    const { userId } = await facts();
    const text = String.raw`{"event_type":"renewal","user_id":${userId},"extra":{"a":"\ud83d\ude00 \ud83d \\ud800","\udc00":1}}`;
    const reply = await server.inject({
      method: 'POST',
      url: PATH,
      headers: { 'x-api-key': api.token, 'content-type': 'application/json' },
      payload: text,
    });
    expect([reply.statusCode, reply.json().extra]).toEqual([200, { a: '\u{1f600} \ufffd \\ud800', '\ufffd': 1 }]);
    // tRPC input is validated as sent, so that the text is refused and not replaced.
    const typed = await api.post('/trpc/web.notifications.create', {
      event_type: 'renewal',
      user_id: userId,
      extra: { a: '\ud800' },
    });
    expect(typed.body.error.data).toMatchObject({ status: 422, detail: [{ type: 'value_error' }] });
  });

  test('records an event with its references and shows the user', async () => {
    const { userId, messengerId, subscriptionId, transactionId } = await facts();
    const reply = await api.post(PATH, {
      event_type: 'purchase',
      user_id: userId,
      subscription_id: subscriptionId,
      transaction_id: transactionId,
      amount_kopeks: 100,
      currency: 'RUB',
      message: '  hello  ',
      occurred_at: '2026-01-02T03:04:05',
      extra: { period_days: 30 },
    });
    expect(reply).toMatchObject({
      status: 200,
      body: {
        id: expect.any(Number),
        event_type: 'purchase',
        user_id: userId,
        user_full_name: expect.stringMatching(/^User \d+$/),
        user_username: expect.stringMatching(/^user\d+$/),
        user_messenger_id: messengerId,
        subscription_id: subscriptionId,
        transaction_id: transactionId,
        amount_kopeks: 100,
        currency: 'RUB',
        message: 'hello',
        occurred_at: '2026-01-02T03:04:05.000Z',
        created_at: t.clock.now().toISOString(),
        extra: { period_days: 30 },
      },
    });
  });

  test('defaults the time to now and stores a blank message as null', async () => {
    const { userId } = await facts();
    const reply = await api.post(PATH, { event_type: 'activation', user_id: userId, message: '   ' });
    expect(reply.body).toMatchObject({
      message: null,
      occurred_at: t.clock.now().toISOString(),
      extra: {},
      subscription_id: null,
      amount_kopeks: null,
    });
  });

  test.each(['user', 'subscription', 'transaction'])('refuses an unknown %s', async (what) => {
    const { userId } = await facts();
    for (const id of [2_000_000_000, 2 ** 40]) {
      const reply = await api.post(PATH, { event_type: 'renewal', user_id: userId, [`${what}_id`]: id });
      expect(reply).toMatchObject({ status: 404, body: { detail: `${what[0]!.toUpperCase()}${what.slice(1)} not found` } });
    }
  });

  test("refuses another user's subscription and transaction", async () => {
    const [one, other] = [await facts(), await facts()];
    const body = { event_type: 'renewal', user_id: one.userId };
    expect(await api.post(PATH, { ...body, subscription_id: other.subscriptionId })).toMatchObject({
      status: 404,
      body: { detail: 'Subscription not found' },
    });
    expect(await api.post(PATH, { ...body, transaction_id: other.transactionId })).toMatchObject({
      status: 404,
      body: { detail: 'Transaction not found' },
    });
  });

  test.each([
    ['event_type', 'party', 'literal_error'],
    ['user_id', 0, 'greater_than_equal'],
    ['amount_kopeks', -1, 'greater_than_equal'],
    ['currency', '', 'string_too_short'],
    ['currency', 'R'.repeat(17), 'string_too_long'],
    ['message', 'm'.repeat(2001), 'string_too_long'],
  ])('%s = %s is 422', async (field, value, type) => {
    const reply = await api.post(PATH, { event_type: 'renewal', user_id: 1, [field]: value });
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field], type }] } });
  });
});

describe('GET /notifications/subscriptions', () => {
  test('lists newest first, filtered by user and any of several types, paged', async () => {
    const { userId } = await facts();
    const at = (hour: number) => `2026-01-01T0${hour}:00:00Z`;
    const make = async (event_type: string, hour: number) =>
      (await api.post(PATH, { event_type, user_id: userId, occurred_at: at(hour) })).body.id as number;
    const first = await make('purchase', 1);
    const third = await make('renewal', 3);
    const second = await make('promocode_activation', 2);
    const ids = (reply: { body: { items: { id: number }[] } }) => reply.body.items.map((item) => item.id);
    const all = await api.get(PATH, { query: { user_id: userId } });
    expect(all.body).toMatchObject({ total: 3, limit: 50, offset: 0 });
    expect(ids(all)).toEqual([third, second, first]);
    expect(all.body.items[1].extra).toEqual({ balance_before_kopeks: null, balance_after_kopeks: null });
    expect(ids(await api.get(PATH, { query: { user_id: userId, event_type: ['purchase', 'renewal'] } }))).toEqual([third, first]);
    expect(ids(await api.get(PATH, { query: { user_id: userId, event_type: 'purchase' } }))).toEqual([first]);
    const page = await api.get(PATH, { query: { user_id: userId, limit: 1, offset: 1 } });
    expect(page.body).toMatchObject({ total: 3, limit: 1, offset: 1 });
    expect(ids(page)).toEqual([second]);
    expect((await api.get(PATH, { query: { user_id: userId, offset: 10 ** 12 } })).body).toMatchObject({ items: [], total: 3 });
    expect((await api.get(PATH, { query: { limit: 201 } })).status).toBe(422);
    expect((await clientOf(server).get(PATH)).status).toBe(401);
  });
});
