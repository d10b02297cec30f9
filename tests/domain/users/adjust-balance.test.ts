import { beforeAll, expect, test } from 'vitest';
import type { TokenActor } from '../../../src/core/actor.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { adjustBalance } from '../../../src/domain/users/account/change-balance.ts';
import { readUser } from '../../../src/domain/users/account/read-user.ts';
import { registerUser } from '../../../src/domain/users/account/save-user.ts';
import { unique } from '../../support/builders.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { aRegistration } from '../../support/user-requests.ts';

const actor: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const registered = () => registerUser(t.app, actor, aRegistration());
const adjust = (user: number, amountKopeks: number, options: { isShown?: boolean; key?: string; description?: string } = {}) =>
  adjustBalance(
    t.app,
    actor,
    { user, amountKopeks, description: options.description ?? null, isShown: options.isShown ?? true },
    options.key ?? null,
  );
const rowsOf = (userId: number) =>
  t.app.db.sql<{ type: string; amount: number; method: string; internal: boolean; text: string | null }>(
    `SELECT type, amount_kopeks AS amount, payment_method AS method, is_internal AS internal, description AS text
     FROM transactions WHERE user_id = $1::int ORDER BY id`,
    [userId],
  );
const eventsOf = async (userId: number) =>
  (await recordedEventsOf(t.app, userId))
    .filter(({ type }) => type !== 'user.created')
    .map(({ type, payload }) => [type, 'amount_kopeks' in payload ? payload.amount_kopeks : null]);

test('each movement has its row, its event and its entries', async () => {
  const user = await registered();
  expect((await adjust(user.messengerId!, 10_050, { description: 'gift' })).balanceKopeks).toBe(10_050);
  expect((await adjust(user.id, -50)).balanceKopeks).toBe(10_000);
  expect((await adjust(user.id, -4_000, { isShown: false })).balanceKopeks).toBe(6_000);
  expect(await rowsOf(user.id)).toEqual([
    { type: 'deposit', amount: 10_050, method: 'manual', internal: false, text: 'gift' },
    { type: 'withdrawal', amount: -50, method: 'manual', internal: false, text: null },
    { type: 'withdrawal', amount: -4_000, method: 'manual', internal: true, text: null },
  ]);
  expect(await eventsOf(user.id)).toEqual([
    ['payment.completed', 10_050],
    ['balance.change', 10_050],
    ['transaction.created', 50],
    ['balance.change', -50],
  ]);
  expect(await checkLedger(t.app)).toEqual([]);
});

test('refusals move nothing', async () => {
  const user = await registered();
  await adjust(user.id, 100);
  await expect(adjust(user.id, -101)).rejects.toMatchObject({ status: 400, detail: 'Insufficient balance' });
  await expect(adjust(user.id, 0)).rejects.toMatchObject({ status: 400, detail: 'Amount must be non-zero' });
  await expect(adjust(user.id, Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({ status: 400, detail: 'Amount is too large' });
  await expect(adjust(999_999, 5)).rejects.toMatchObject({ status: 404, detail: 'User not found' });
  expect(await rowsOf(user.id)).toHaveLength(1);
  expect((await readUser(t.app, user.id)).balanceKopeks).toBe(100);
});

test('a key runs once and gives the first answer again', async () => {
  const user = await registered();
  const key = `key-${unique()}`;
  const first = await adjust(user.id, 700, { key });
  await adjust(user.id, 300);
  expect(await adjust(user.id, 700, { key })).toEqual(first);
  await expect(adjust(user.id, 701, { key })).rejects.toMatchObject({ status: 422 });
  expect((await readUser(t.app, user.id)).balanceKopeks).toBe(1_000);
  await expect(adjust(user.id, -9_999, { key: `${key}-b` })).rejects.toMatchObject({ status: 400 });
  await adjust(user.id, 9_999);
  expect((await adjust(user.id, -9_999, { key: `${key}-b` })).balanceKopeks).toBe(1_000);
});
