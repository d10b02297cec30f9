import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let userId: number;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
  userId = (await aUser(t.app)).id;
  const common = { userId, contra: { kind: 'manual_adjustment' }, description: 'entry' } as const;
  const at = (day: number) => new Date(Date.UTC(2026, 0, day, 12));
  await postMovement(t.app, {
    ...common,
    type: 'deposit',
    amountKopeks: 10_050,
    paymentMethod: 'yookassa',
    externalId: 'inv-9',
    createdAt: at(1),
  });
  await postMovement(t.app, {
    ...common,
    type: 'subscription_payment',
    amountKopeks: -5_000,
    paymentMethod: 'balance',
    createdAt: at(2),
  });
  await postMovement(t.app, { ...common, type: 'deposit', amountKopeks: 300, paymentMethod: 'manual', createdAt: at(3) });
  await postMovement(t.app, {
    ...common,
    type: 'deposit',
    amountKopeks: 1,
    paymentMethod: 'manual',
    isInternal: true,
    createdAt: at(4),
  });
});
afterAll(() => server.close());

const amounts = async (query: Record<string, string | number | boolean>) => {
  const { status, body } = await api.get('/transactions', { query });
  expect(status).toBe(200);
  expect(body.total).toBe(body.items.length);
  return body.items.map((item: { amount_kopeks: number }) => item.amount_kopeks);
};

describe('GET /transactions', () => {
  test('shows stored signs, newest first, without internal movements', async () => {
    const { body } = await api.get('/transactions');
    expect(body).toMatchObject({ total: 3, limit: 50, offset: 0 });
    expect(body.items.map((item: { amount_kopeks: number }) => item.amount_kopeks)).toEqual([300, -5_000, 10_050]);
    expect(body.items[2]).toEqual({
      id: expect.any(Number),
      user_id: userId,
      type: 'deposit',
      amount_kopeks: 10_050,
      amount_rubles: 100.5,
      description: 'entry',
      payment_method: 'yookassa',
      external_id: 'inv-9',
      is_completed: true,
      created_at: '2026-01-01T12:00:00.000Z',
      completed_at: expect.stringMatching(/Z$/),
    });
  });

  test.each([
    ['type', { type: 'deposit' }, [300, 10_050]],
    ['method', { payment_method: 'balance' }, [-5_000]],
    ['user', { user_id: 0 }, []],
    ['a user beyond any id', { user_id: 9_007_199_254_740_991 }, []],
    ['completion', { is_completed: false }, []],
    ['completion true', { is_completed: true, type: 'deposit' }, [300, 10_050]],
    ['both ends of a range', { date_from: '2026-01-01T12:00:00', date_to: '2026-01-02T12:00:00Z' }, [-5_000, 10_050]],
    ['whole days', { date_from: '2026-01-02T00:00:00Z' }, [300, -5_000]],
    ['zones', { date_to: '2026-01-01T15:00:00+03:00' }, [10_050]],
    ['a range that ends before it starts', { date_from: '2026-01-09T00:00:00Z', date_to: '2026-01-01T00:00:00Z' }, []],
    ['an unknown type', { type: 'nonsense' }, []],
  ])('filters by %s', async (_name, query, expected) => {
    expect(await amounts(query as Record<string, string>)).toEqual(expected);
  });

  test('pages, and a page past the end is empty', async () => {
    const page = await api.get('/transactions', { query: { limit: 1, offset: 1 } });
    expect(page.body).toMatchObject({ total: 3, limit: 1, offset: 1, items: [{ amount_kopeks: -5_000 }] });
    expect((await api.get('/transactions', { query: { offset: 3_000_000_000 } })).body).toMatchObject({ total: 3, items: [] });
  });

  test('refuses requests without a token and invalid values', async () => {
    expect((await clientOf(server).get('/transactions')).status).toBe(401);
    const bad: Record<string, string | number>[] = [
      { limit: 0 },
      { limit: 201 },
      { offset: -1 },
      { user_id: 'x' },
      { date_from: 'soon' },
      { is_completed: 'maybe' },
    ];
    for (const query of bad) expect((await api.get('/transactions', { query })).status).toBe(422);
  });
});
