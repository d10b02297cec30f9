import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

const newMessengerId = () => 7_100_000_000 + unique();
const create = async (fields: object = {}) => (await api.post('/users', { messenger_id: newMessengerId(), ...fields })).body;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('one user', () => {
  test('is created and read back in the shape of the contract', async () => {
    const messengerId = newMessengerId();
    const made = await api.post('/users', { messenger_id: messengerId, username: 'ann', first_name: 'Ann', language: 'en' });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      id: expect.any(Number),
      messenger_id: messengerId,
      username: 'ann',
      first_name: 'Ann',
      last_name: null,
      status: 'active',
      language: 'en',
      balance_kopeks: 0,
      balance_rubles: 0,
      referred_by_id: null,
      referral_code: expect.stringMatching(/^ref[A-Za-z0-9]{8}$/),
      has_had_paid_subscription: false,
      has_made_first_topup: false,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
      last_activity: expect.stringMatching(TIMESTAMP),
      promo_group: {
        id: expect.any(Number),
        name: 'Default',
        server_discount_percent: 0,
        traffic_discount_percent: 0,
        device_discount_percent: 0,
        apply_discounts_to_addons: true,
      },
      subscription: null,
    });
    for (const path of [`/users/${messengerId}`, `/users/${made.body.id}`, `/users/by-messenger-id/${messengerId}`]) {
      expect(await api.get(path), path).toMatchObject({ status: 200, body: made.body });
    }
    expect(await api.post('/users', { messenger_id: messengerId })).toMatchObject({
      status: 400,
      body: { detail: 'User with this messenger_id already exists' },
    });
  });

  test('needs no messenger id, and russian is the default', async () => {
    expect((await api.post('/users', {})).body).toMatchObject({ messenger_id: null, language: 'ru' });
  });

  test.each([
    ['get', '/users/999999999', undefined],
    ['get', '/users/-1', undefined],
    ['get', '/users/4294967296', undefined],
    ['get', '/users/by-messenger-id/1', undefined],
    ['patch', '/users/999999999', { username: 'x' }],
    ['post', '/users/999999999/balance', { amount_kopeks: 5 }],
    ['post', '/users/999999999/subscription', { duration_days: 5 }],
    ['delete', '/users/999999999/subscription', undefined],
  ] as const)('%s %s is 404', async (method, path, body) => {
    const reply = method === 'get' || method === 'delete' ? await api[method](path) : await api[method](path, body);
    expect(reply).toMatchObject({ status: 404, body: { detail: 'User not found' } });
  });

  test('every endpoint requires an API key', async () => {
    const stranger = clientOf(server);
    const replies = [
      await stranger.get('/users'),
      await stranger.post('/users', {}),
      await stranger.get('/users/1'),
      await stranger.patch('/users/1', {}),
      await stranger.get('/users/by-messenger-id/1'),
      await stranger.post('/users/1/balance', { amount_kopeks: 5 }),
      await stranger.post('/users/1/subscription', {}),
      await stranger.delete('/users/1/subscription'),
    ];
    for (const reply of replies) expect(reply.status).toBe(401);
  });
});

describe('the list', () => {
  test('pages by limit and offset or by page and per_page, which win', async () => {
    const key = `p${unique()}p`;
    const ids: number[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await create({ first_name: key })).id);
    const idsOf = async (query: Record<string, string | number>) => {
      const { body } = await api.get('/users', { query: { search: key, ...query } });
      return {
        ids: body.items.map((user: { id: number }) => user.id),
        total: body.total,
        limit: body.limit,
        offset: body.offset,
      };
    };
    expect(await idsOf({})).toEqual({ ids, total: 5, limit: 50, offset: 0 });
    expect(await idsOf({ limit: 2, offset: 1 })).toEqual({ ids: ids.slice(1, 3), total: 5, limit: 2, offset: 1 });
    expect(await idsOf({ page: 2, per_page: 3 })).toEqual({ ids: ids.slice(3), total: 5, limit: 3, offset: 3 });
    expect(await idsOf({ page: 2, per_page: 2, limit: 200, offset: 4 })).toEqual({
      ids: ids.slice(2, 4),
      total: 5,
      limit: 2,
      offset: 2,
    });
    expect(await idsOf({ offset: 5 })).toEqual({ ids: [], total: 5, limit: 50, offset: 5 });
  });

  test('filters by status', async () => {
    const key = `s${unique()}s`;
    const user = await create({ first_name: key });
    await create({ first_name: key });
    await api.patch(`/users/${user.id}`, { status: 'blocked' });
    const reply = await api.get('/users', { query: { search: key, status: 'blocked' } });
    expect(reply.body).toMatchObject({ total: 1, items: [{ id: user.id, status: 'blocked' }] });
  });

  test.each([
    ['limit=0', 'limit', 'greater_than_equal'],
    ['limit=201', 'limit', 'less_than_equal'],
    ['limit=x', 'limit', 'int_parsing'],
    ['offset=-1', 'offset', 'greater_than_equal'],
    ['page=0', 'page', 'greater_than_equal'],
    ['per_page=0', 'per_page', 'greater_than_equal'],
    ['per_page=201', 'per_page', 'less_than_equal'],
    ['promo_group_id=x', 'promo_group_id', 'int_parsing'],
  ])('%s is 422', async (query, field, type) => {
    const reply = await api.get(`/users?${query}`);
    expect(reply.status).toBe(422);
    expect(reply.body.detail).toMatchObject([{ loc: ['query', field], type }]);
  });

  test('an unknown status is 422', async () => {
    expect((await api.get('/users?status=gone')).status).toBe(422);
  });

  test('numbers beyond every id are only unknown', async () => {
    expect((await api.get(`/users?search=${'9'.repeat(40)}`)).body).toMatchObject({ items: [], total: 0 });
    expect((await api.get('/users?promo_group_id=99999999999')).body).toMatchObject({ items: [], total: 0 });
    expect((await api.get('/users?page=9007199254740991&per_page=200')).body.items).toEqual([]);
    expect((await api.get('/users?search=%00%25')).status).toBe(200);
  });
});

describe('changes', () => {
  test('null leaves a field, refusals have their words', async () => {
    const user = await create({ username: 'kept', first_name: 'Kept' });
    const reply = await api.patch(`/users/${user.id}`, { username: null, first_name: 'New', has_had_paid_subscription: true });
    expect(reply.body).toMatchObject({ username: 'kept', first_name: 'New', has_had_paid_subscription: true });
    expect(await api.patch(`/users/${user.id}`, {})).toMatchObject({ status: 200, body: { first_name: 'New' } });
    const refused = async (body: object) => (await api.patch(`/users/${user.id}`, body)).body.detail;
    expect(await refused({ status: 'gone' })).toBe('Invalid status');
    expect(await refused({ promo_group_id: 999_999 })).toBe('Promo group not found');
    expect(await refused({ referral_code: (await create()).referral_code })).toBe('Referral code already in use');
    expect(await refused({ referral_code: 'r'.repeat(21) })).toMatchObject([
      { loc: ['body', 'referral_code'], type: 'string_too_long', ctx: { max_length: 20 } },
    ]);
    expect(await refused({ has_made_first_topup: 'perhaps' })).toMatchObject([{ loc: ['body', 'has_made_first_topup'] }]);
  });
});

describe('the balance', () => {
  test('goes up and down, never below zero', async () => {
    const { id } = await create();
    const adjust = (body: object) => api.post(`/users/${id}/balance`, body);
    expect((await adjust({ amount_kopeks: 12_345 })).body).toMatchObject({ balance_kopeks: 12_345, balance_rubles: 123.45 });
    expect((await adjust({ amount_kopeks: -45, create_transaction: false, description: null })).body.balance_kopeks).toBe(12_300);
    expect(await adjust({ amount_kopeks: -12_301 })).toMatchObject({ status: 400, body: { detail: 'Insufficient balance' } });
    expect(await adjust({ amount_kopeks: 0 })).toMatchObject({ status: 400, body: { detail: 'Amount must be non-zero' } });
    expect((await adjust({})).body.detail).toMatchObject([{ loc: ['body', 'amount_kopeks'], type: 'missing' }]);
    expect((await adjust({ amount_kopeks: 1.5 })).body.detail).toMatchObject([
      { loc: ['body', 'amount_kopeks'], type: 'int_from_float' },
    ]);
    expect((await api.get(`/users/${id}`)).body.balance_kopeks).toBe(12_300);
    const rows = await t.app.db.sql<{ description: string | null }>(
      'SELECT description FROM transactions WHERE user_id = $1::int ORDER BY id',
      [id],
    );
    expect(rows).toEqual([{ description: 'Корректировка через веб-API' }, { description: null }]);
  });

  test('a repeated key replays the first answer to the letter', async () => {
    const { id } = await create();
    const once = api.with({ 'idempotency-key': `users-${unique()}` });
    const first = await once.post(`/users/${id}/balance`, { amount_kopeks: 500 });
    await api.post(`/users/${id}/balance`, { amount_kopeks: 1 });
    const second = await once.post(`/users/${id}/balance`, { amount_kopeks: 500 });
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect((await once.post(`/users/${id}/balance`, { amount_kopeks: 501 })).status).toBe(422);
    expect((await api.get(`/users/${id}`)).body.balance_kopeks).toBe(501);
  });
});

describe('the subscription', () => {
  test('is given, replaced only on request, and switched off', async () => {
    const { id } = await create();
    const path = `/users/${id}/subscription`;
    expect(await api.delete(path)).toMatchObject({ status: 404, body: { detail: 'User has no subscription' } });
    expect(await api.post(path, {})).toMatchObject({
      status: 400,
      body: { detail: 'duration_days is required for paid subscriptions' },
    });
    const given = await api.post(path, { duration_days: 30, traffic_limit_gb: 100, device_limit: 3 });
    expect(given).toMatchObject({
      status: 200,
      body: {
        id,
        subscription: { status: 'active', is_trial: false, traffic_limit_gb: 100, device_limit: 3, connected_squads: [] },
      },
    });
    expect(Object.keys(given.body.subscription).sort()).toEqual(
      [
        ...['id', 'status', 'actual_status', 'is_trial', 'start_date', 'end_date', 'traffic_limit_gb', 'traffic_used_gb'],
        ...[
          'device_limit',
          'autopay_enabled',
          'autopay_days_before',
          'subscription_url',
          'subscription_crypto_link',
          'connected_squads',
        ],
      ].sort(),
    );
    expect(await api.post(path, { duration_days: 5 })).toMatchObject({
      status: 400,
      body: { detail: 'User already has a subscription. Use replace_existing=true to replace it' },
    });
    const replaced = await api.post(path, { is_trial: true, traffic_limit_gb: 0, replace_existing: true });
    expect(replaced.body.subscription).toMatchObject({
      id: given.body.subscription.id,
      is_trial: true,
      traffic_limit_gb: t.app.settings.get('TRIAL_TRAFFIC_LIMIT_GB'),
    });
    expect(await api.delete(path)).toMatchObject({
      status: 200,
      body: { id, subscription: { status: 'disabled', actual_status: 'disabled' } },
    });
    expect((await api.post(path, { duration_days: 0, replace_existing: true })).status).toBe(422);
  });
});
