/** Hazards of spec 01 section 19 about balances and life of accounts. */

import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenActor } from '../../../../src/core/actor.ts';
import type { App } from '../../../../src/core/app.ts';
import { HOUR_MS } from '../../../../src/core/clock.ts';
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { authenticateUser, forgetSessionUser } from '../../../../src/domain/identity/authenticate.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { listMyTransactions } from '../../../../src/domain/ledger/transactions.ts';
import { adjustBalance } from '../../../../src/domain/users/account/change-balance.ts';
import { recordedEvents } from '../../../support/recorded-events.ts';
import { rowOf } from '../../../support/sale-samples.ts';
import { type TestClock, testApp } from '../../../support/test-app.ts';
import { aVerifiedAccount } from '../accounts.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

describe('spec 01 H16: a balance moved over the Web API', () => {
  const token: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };
  const adjust = (user: number, amountKopeks: number, isShown = true) =>
    adjustBalance(app, token, { user, amountKopeks, description: null, isShown }, null);
  const facts = async (id: number) => ({
    ...(await rowOf<object>(
      app,
      `SELECT u.balance_kopeks AS balance, (SELECT count(*)::int FROM transactions t WHERE t.user_id = u.id) AS rows
       FROM users u WHERE u.id = $1::int`,
      [id],
    )),
    events: (await recordedEvents(app, 'payment.completed', id)).length,
  });

  test('never falls below zero, by the use case nor by any statement', async () => {
    const { id } = await aVerifiedAccount(app);
    await adjust(id, 500);
    await expect(adjust(id, -501)).rejects.toMatchObject({ status: 400, detail: 'Insufficient balance' });
    expect(await facts(id)).toEqual({ balance: 500, rows: 1, events: 1 });
    const setBalance = (t: App, kopeks: number) =>
      t.db.sql('UPDATE users SET balance_kopeks = $2::bigint WHERE id = $1::int RETURNING id', [id, kopeks]);
    await expect(setBalance(app, 9)).rejects.toThrow(/money moves only through post_transaction/);
    // Nor by the posting function itself, should it ever reckon wrong.
    const posting = inTransaction(app, async (t) => {
      await t.db.sql("SELECT set_config('app.posting', '1', true) AS flag");
      await setBalance(t, -1);
    });
    await expect(posting).rejects.toThrow(/users_balance_not_negative/);
    expect(await facts(id)).toMatchObject({ balance: 500 });
  });

  test('one row per movement: a deduction is a withdrawal without a payment event, an internal one is in no list', async () => {
    const { id } = await aVerifiedAccount(app);
    await adjust(id, 1_000);
    await adjust(id, -300);
    await adjust(id, 50, false);
    expect(await facts(id)).toEqual({ balance: 750, rows: 3, events: 1 });
    const shown = await listMyTransactions(app, id, { page: 1, perPage: 10, type: null });
    expect(shown.items.map((item) => item.type).toSorted()).toEqual(['deposit', 'withdrawal']);
    expect(await checkLedger(app)).toEqual([]);
  });
});

describe('spec 01 H22: use of the web counts as activity', () => {
  test('an authenticated request moves last_activity of an account without messenger', async () => {
    const { id, signIn } = await aVerifiedAccount(app);
    const activity = async () =>
      (await rowOf<{ at: Date }>(app, 'SELECT last_activity AS at FROM users WHERE id = $1::int', [id])).at;
    const before = await activity();
    clock.advance(HOUR_MS / 6);
    await forgetSessionUser(app, id);
    await authenticateUser(app, { bearer: signIn.accessToken, initData: null });
    await expect.poll(activity).toEqual(new Date(before.getTime() + HOUR_MS / 6));
  });
});
