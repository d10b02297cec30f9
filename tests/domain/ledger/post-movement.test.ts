import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import type { Movement } from '../../../src/domain/ledger/types.ts';
import { aUser } from '../../support/builders.ts';
import { recordedEvents, recordedEventsOf } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const deposit = (userId: number, amountKopeks: number, externalId: string | null = null): Movement => ({
  userId,
  type: 'deposit',
  amountKopeks,
  contra: { kind: 'provider_clearing', provider: 'test' },
  paymentMethod: 'test',
  externalId,
  description: 'top-up',
});

const purchase = (userId: number, kopeks: number): Movement => ({
  userId,
  type: 'subscription_payment',
  amountKopeks: -kopeks,
  contra: { kind: 'sales_revenue', product: 'tariff' },
  paymentMethod: 'balance',
  description: 'purchase',
});

describe('postMovement', () => {
  test('a credit has a row, two entries that sum to zero, the balance and one event', async () => {
    const user = await aUser(t.app);
    const posting = await postMovement(t.app, deposit(user.id, 50_000, 'inv-1'));
    expect(posting).toMatchObject({ outcome: 'posted', balanceKopeks: 50_000 });
    const entries = await t.app.db.sql<{ kopeks: number; key: string }>(
      `SELECT e.kopeks, a.key FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
       WHERE e.transaction_id = $1::int ORDER BY e.id`,
      [(posting as { transactionId: number }).transactionId],
    );
    expect(entries).toEqual([
      { kopeks: 50_000, key: `wallet:${user.id}` },
      { kopeks: -50_000, key: 'provider:test' },
    ]);
    expect(await recordedEventsOf(t.app, user.id)).toMatchObject([
      {
        type: 'payment.completed',
        payload: { amount_kopeks: 50_000, amount_rubles: 500, payment_method: 'test', external_id: 'inv-1', is_completed: true },
      },
      { type: 'payment.received', payload: { amount_kopeks: 50_000, amount_rubles: 500, payment_method: 'test' } },
    ]);
  });

  test("the user's sockets receive movements other than the user's payments: signed amount and the balance afterwards", async () => {
    const user = await aUser(t.app);
    const bonus: Movement = {
      ...deposit(user.id, 1_250),
      contra: { kind: 'bonus_expense', bonus: 'promocode' },
      description: 'gift',
    };
    await postMovement(t.app, deposit(user.id, 50_000));
    await postMovement(t.app, bonus);
    await postMovement(t.app, purchase(user.id, 30_000));
    await postMovement(t.app, { ...purchase(user.id, 7_000), paidThroughProvider: 'test' });
    await postMovement(t.app, { ...bonus, isInternal: true });
    expect((await postMovement(t.app, purchase(user.id, 900_000))).outcome).toBe('insufficient');
    expect(await recordedEvents(t.app, 'balance.change', user.id)).toEqual([
      { amount_kopeks: 1_250, amount_rubles: 12.5, new_balance_kopeks: 51_250, new_balance_rubles: 512.5, description: 'gift' },
      {
        amount_kopeks: -30_000,
        amount_rubles: -300,
        new_balance_kopeks: 21_250,
        new_balance_rubles: 212.5,
        description: 'purchase',
      },
    ]);
  });

  test('05 12.2: only what a provider took is announced to the user, also what paid for something at once', async () => {
    const user = await aUser(t.app);
    await postMovement(t.app, deposit(user.id, 50_000, 'received'));
    await postMovement(t.app, deposit(user.id, 50_000, 'received'));
    await postMovement(t.app, { ...purchase(user.id, 7_050), paymentMethod: 'test', paidThroughProvider: 'test' });
    await postMovement(t.app, purchase(user.id, 30_000));
    await postMovement(t.app, { ...deposit(user.id, 900), contra: { kind: 'manual_adjustment' } });
    // Money that goes back, from the wallet and past it.
    const back = { contra: { kind: 'provider_clearing', provider: 'test' }, paymentMethod: 'test', type: 'refund' } as const;
    await postMovement(t.app, { ...deposit(user.id, -500), ...back });
    await postMovement(t.app, { ...deposit(user.id, 400), ...back });
    await postMovement(t.app, { ...deposit(user.id, 300), isInternal: true });
    expect(await recordedEvents(t.app, 'payment.received', user.id)).toEqual([
      { amount_kopeks: 50_000, amount_rubles: 500, payment_method: 'test' },
      { amount_kopeks: 7_050, amount_rubles: 70.5, payment_method: 'test' },
    ]);
  });

  test('one outside payment is posted once, also for another user', async () => {
    const [first, second] = [await aUser(t.app), await aUser(t.app)];
    await postMovement(t.app, deposit(first.id, 1_000, 'same'));
    expect(await postMovement(t.app, deposit(first.id, 1_000, 'same'))).toMatchObject({
      outcome: 'duplicate',
      balanceKopeks: 1_000,
    });
    expect(await postMovement(t.app, deposit(second.id, 1_000, 'same'))).toMatchObject({
      outcome: 'duplicate',
      balanceKopeks: 0,
    });
  });

  test('a debit above the balance changes nothing', async () => {
    const user = await aUser(t.app);
    await postMovement(t.app, deposit(user.id, 999));
    expect(await postMovement(t.app, purchase(user.id, 1_000))).toEqual({ outcome: 'insufficient', balanceKopeks: 999 });
    expect(await postMovement(t.app, purchase(user.id, 999))).toMatchObject({ outcome: 'posted', balanceKopeks: 0 });
  });

  test('an unknown user and a movement past the wallet', async () => {
    expect(await postMovement(t.app, deposit(2_000_000_000, 1))).toEqual({ outcome: 'no_user' });
    const user = await aUser(t.app);
    const direct = await postMovement(t.app, {
      ...purchase(user.id, 700),
      paymentMethod: 'yookassa',
      externalId: 'direct-1',
      paidThroughProvider: 'yookassa',
    });
    expect(direct).toMatchObject({ outcome: 'posted', balanceKopeks: 0 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('any sequence of credits and debits keeps the ledger clean and the balance equal to the accepted sum', async () => {
    const user = await aUser(t.app);
    let expected = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -5_000, max: 5_000 }), async (amount) => {
        const posting = await postMovement(t.app, amount >= 0 ? deposit(user.id, amount) : purchase(user.id, -amount));
        if (expected + amount >= 0) expected += amount;
        else expect(posting.outcome).toBe('insufficient');
        expect((posting as { balanceKopeks: number }).balanceKopeks).toBe(expected);
      }),
      { numRuns: 60 },
    );
    expect(await checkLedger(t.app)).toEqual([]);
  });
});

describe('the database itself', () => {
  const refused = async (sql: string) =>
    expect(t.app.db.sql(sql)).rejects.toThrow(/post_transaction|append-only|balance_not_negative/);

  test('refuses money that does not come through post_transaction', async () => {
    const user = await aUser(t.app);
    const posting = await postMovement(t.app, deposit(user.id, 100));
    const id = (posting as { transactionId: number }).transactionId;
    await refused(`UPDATE users SET balance_kopeks = 5 WHERE id = ${user.id}`);
    // Raw SQL: the guard refuses it.
    await refused(`INSERT INTO transactions (user_id, type, amount_kopeks) VALUES (${user.id}, 'deposit', 5)`);
    await refused(`UPDATE ledger_entries SET kopeks = 1 WHERE transaction_id = ${id}`);
    await refused(`DELETE FROM ledger_entries WHERE transaction_id = ${id}`);
    await refused(`DELETE FROM transactions WHERE id = ${id}`);
    await refused(`UPDATE transactions SET amount_kopeks = 7 WHERE id = ${id}`);
    await refused(
      `SELECT set_config('app.posting', '1', false); UPDATE users SET balance_kopeks = -1 WHERE id = ${user.id}`.split(';')[1]!,
    );
  });

  test('ledger check finds a balance that was forced past the guards', async () => {
    const user = await aUser(t.app);
    await t.database.jobDatabase.executeSql(
      `BEGIN; SELECT set_config('app.posting', '1', true); UPDATE users SET balance_kopeks = 77 WHERE id = ${user.id}; COMMIT;`,
    );
    expect(await checkLedger(t.app)).toMatchObject([{ problem: 'balance_differs_from_ledger', rowId: user.id }]);
    await t.database.jobDatabase.executeSql(
      `BEGIN; SELECT set_config('app.posting', '1', true); UPDATE users SET balance_kopeks = 0 WHERE id = ${user.id}; COMMIT;`,
    );
  });
});
