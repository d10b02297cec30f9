import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../../src/core/actor.ts';
import type { App } from '../../../../src/core/app.ts';
import { HOUR_MS } from '../../../../src/core/clock.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { listTransactions, sumTransactions } from '../../../../src/domain/ledger/transactions.ts';
import { approveWithdrawal, completeWithdrawal, rejectWithdrawal } from '../../../../src/domain/referrals/withdrawals/decide.ts';
import { cancelMyWithdrawal, readMyWithdrawalBalance } from '../../../../src/domain/referrals/withdrawals/my-withdrawals.ts';
import { giveRole } from '../../../support/actors.ts';
import { unique } from '../../../support/builders.ts';
import { setUser } from '../../../support/merge-samples.ts';
import { detailOf } from '../../../support/parallel.ts';
import { recordedEvents } from '../../../support/recorded-events.ts';
import { rowOf } from '../../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';
import {
  anAdmin,
  anEarner,
  aRequest,
  aRequestOfBefore,
  earn,
  moneyOf,
  requestRow,
  reservedOf,
  spend,
  WITHDRAWALS_ON,
} from '../../../support/withdrawal-samples.ts';

const CHAT = -1_002_222_333_444;
let t: TestApp;
let app: App;
let admin: AdminActor;
beforeAll(async () => {
  t = await testApp({ environment: WITHDRAWALS_ON });
  app = t.app;
  admin = await anAdmin(app);
});

const approve = (id: number, comment: string | null = null, key: string | null = null, by = admin, inApp = app) =>
  approveWithdrawal(inApp, by, { id, comment }, key);
const reject = (id: number, comment: string | null = null, key: string | null = null) =>
  rejectWithdrawal(app, admin, { id, comment }, key);
const complete = (id: number, key: string | null = null, by = admin) => completeWithdrawal(app, by, id, key);

const entriesOf = (transactionId: number) =>
  app.db.sql<{ key: string; kopeks: number }>(
    `SELECT a.key, e.kopeks FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
     WHERE e.transaction_id = $1::int ORDER BY e.kopeks`,
    [transactionId],
  );
const messagesTo = async (messengerId: number) =>
  (
    await app.db.sql<{ html: string }>(
      `SELECT data->>'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint
       ORDER BY created_on, ctid`,
      [messengerId],
    )
  ).map((row) => row.html);

describe('an approval (spec 03 section 6)', () => {
  test('takes the amount from the balance: a movement, its entries, its event, and a message with the comment', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_050);
    await approve(id, 'On <Monday>');
    const row = await requestRow(app, id);
    expect(row).toMatchObject({ status: 'approved', processedBy: admin.userId, adminComment: 'On <Monday>' });
    expect(row.processedAt).toEqual(t.clock.now());
    const { transactionId } = row;
    expect(
      await rowOf(
        app,
        'SELECT type, amount_kopeks, payment_method, is_completed, is_internal, description FROM transactions WHERE id = $1::int',
        [transactionId],
      ),
    ).toEqual({
      type: 'withdrawal',
      amountKopeks: -20_050,
      paymentMethod: null,
      isCompleted: true,
      isInternal: false,
      description: `Withdrawal of referral earnings, request #${id}`,
    });
    expect(await entriesOf(transactionId!)).toEqual([
      { key: `withdrawal_hold:${id}`, kopeks: -20_050 },
      { key: 'withdrawal_payable', kopeks: 20_050 },
    ]);
    expect(await moneyOf(app, earner.userId)).toEqual({ balance: 29_950, debits: 1, payouts: 0, payable: 20_050, paidOut: 0 });
    const [event] = (await recordedEvents(app, 'transaction.created', earner.userId)).filter(({ type }) => type === 'withdrawal');
    expect(event).toMatchObject({
      transaction_id: transactionId,
      user_id: earner.userId,
      type: 'withdrawal',
      amount_kopeks: 20_050,
      amount_rubles: 200.5,
      payment_method: null,
      external_id: null,
      is_completed: true,
    });
    const message = (await messagesTo(earner.messengerId)).at(-1);
    expect(message).toContain('200.50 ₽');
    expect(message).toContain('Comment: On &lt;Monday&gt;');
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M5: what a request holds cannot be spent, and the approval moves it on without touching the balance', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 30_000);
    expect(await reservedOf(app, id)).toBe(30_000);
    expect(await spend(app, earner.userId, 20_001)).toBe('insufficient');
    expect(await spend(app, earner.userId, 20_000)).toBe('posted');
    await approve(id);
    expect(await reservedOf(app, id)).toBe(0);
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 0, debits: 1, payable: 30_000 });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M5: the user is notified of the balance by the request and by its end, while lists and sums show the approval alone', async () => {
    const earner = await anEarner(app, 50_000);
    const sums = async () =>
      (await sumTransactions(app, new Date(0))).find((row) => row.type === 'withdrawal')?.amountKopeks ?? 0;
    const before = await sums();
    const changes = async () =>
      (await recordedEvents(app, 'balance.change', earner.userId)).map((event) => [
        event.amount_kopeks,
        event.new_balance_kopeks,
      ]);
    const first = await aRequest(app, earner, 20_000);
    await reject(first);
    const second = await aRequest(app, earner, 30_000);
    await approve(second);
    expect((await changes()).slice(-3)).toEqual([
      [-20_000, 30_000],
      [20_000, 50_000],
      [-30_000, 20_000],
    ]);
    const { items } = await listTransactions(app, { userId: earner.userId, type: 'withdrawal' }, { limit: 50, offset: 0 });
    expect(items.map(({ amountKopeks }) => amountKopeks)).toEqual([-30_000]);
    expect((await sums()) - before).toBe(30_000);
  });

  test('spec 03 H13: of a request of before, money that was spent since is not there: refused, nothing changes', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequestOfBefore(app, earner, 30_000);
    await spend(app, earner.userId, 20_001);
    const before = await moneyOf(app, earner.userId);
    await expect(approve(id)).rejects.toMatchObject({ status: 400, detail: "The user's balance is too low" });
    expect(await requestRow(app, id)).toMatchObject({ status: 'pending', transactionId: null });
    expect(await moneyOf(app, earner.userId)).toEqual(before);
    await earn(app, earner.pair, 1);
    await approve(id);
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 0, debits: 1 });
  });

  test('a repeat is refused, with its key it gets the first answer', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 10_000);
    const key = `approve-${unique()}`;
    expect(await approve(id, 'ok', key)).toEqual({ success: true });
    expect(await approve(id, 'ok', key)).toEqual({ success: true });
    await expect(approve(id, 'other', key)).rejects.toMatchObject({ status: 422 });
    await expect(approve(id)).rejects.toMatchObject({ status: 400, detail: 'The request has already been processed' });
    expect(await detailOf(reject(id))).toBe('The request has already been processed');
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 40_000, debits: 1 });
  });

  test('without a comment none is stored and none is sent', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 10_000);
    await approve(id);
    expect((await requestRow(app, id)).adminComment).toBeNull();
    expect((await messagesTo(earner.messengerId)).at(-1)).not.toContain('Comment');
  });

  test('of unknown, cancelled and deleted ones is refused, in the language of the administrator', async () => {
    expect(await detailOf(approve(2_147_000_000))).toBe('Request not found');
    expect(await detailOf(approve(9_007_199_254_740_991))).toBe('Request not found');
    const earner = await anEarner(app, 50_000);
    const cancelled = await aRequest(app, earner, 10_000);
    await cancelMyWithdrawal(app, earner, cancelled, null);
    expect(await detailOf(approve(cancelled))).toBe('The request has already been processed');
    const id = await aRequest(app, earner, 10_000);
    await setUser(app, earner.userId, { status: 'deleted' });
    expect(await detailOf(approve(id))).toBe('The user of the request was not found');
    const russian = await anAdmin(app);
    await setUser(app, russian.userId, { language: 'ru' });
    expect(await detailOf(approve(id, null, null, russian))).toBe('Пользователь заявки не найден');
    // A request of a deleted account can still be closed.
    expect(await reject(id)).toEqual({ success: true });
  });
});

describe('a rejection (spec 03 section 6)', () => {
  test('moves no money, stores the comment, and sends the reason: by mail to a user without a messenger', async () => {
    const earner = await anEarner(app, 50_000);
    const email = `earner-${unique()}@example.com`;
    await setUser(app, earner.userId, { messenger_id: null, email, email_verified: true });
    const id = await aRequest(app, earner, 10_000);
    await reject(id, 'No <b>card</b>');
    expect(await requestRow(app, id)).toMatchObject({
      status: 'rejected',
      adminComment: 'No <b>card</b>',
      processedBy: admin.userId,
    });
    expect(await moneyOf(app, earner.userId)).toEqual({ balance: 50_000, debits: 0, payouts: 0, payable: 0, paidOut: 0 });
    const mails = await app.db.sql<{ template: string }>('SELECT template FROM outgoing_mails WHERE recipient = $1', [email]);
    expect(mails).toEqual([{ template: 'withdrawal_rejected' }]);
    expect(await recordedEvents(app, 'notification.withdrawal_rejected', earner.userId)).toEqual([
      { amount_kopeks: 10_000, amount_rubles: 100, formatted_amount: '100 ₽', comment: 'No <b>card</b>' },
    ]);
    expect(await readMyWithdrawalBalance(app, earner)).toMatchObject({ availableReferralKopeks: 50_000, canRequest: true });
  });

  test('in the messenger the reason is escaped, and a repeat is refused', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 10_000);
    const key = `reject-${unique()}`;
    await reject(id, 'a < b', key);
    expect(await reject(id, 'a < b', key)).toEqual({ success: true });
    expect((await messagesTo(earner.messengerId)).at(-1)).toContain('Reason: a &lt; b');
    expect(await detailOf(reject(id))).toBe('The request has already been processed');
  });

  test('null clears the comment', async () => {
    const id = await aRequest(app, await anEarner(app, 50_000), 10_000);
    await app.db.sql("UPDATE withdrawal_requests SET admin_comment = 'earlier' WHERE id = $1::int", [id]);
    await reject(id);
    expect((await requestRow(app, id)).adminComment).toBeNull();
  });
});

describe('a completion (spec 03 section 6)', () => {
  test('pays out of withdrawal_payable, once, without touching balance, lists, events or sums', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    expect(await detailOf(complete(id))).toBe('The request has not been approved yet');
    await approve(id, 'Thanks');
    const events = (await recordedEvents(app, 'transaction.created', earner.userId)).length;
    const messages = (await messagesTo(earner.messengerId)).length;
    const expenses = async () => (await sumTransactions(app, new Date(0))).find((row) => row.type === 'withdrawal')?.amountKopeks;
    const before = await expenses();
    const cashier = await anAdmin(app);
    const key = `complete-${unique()}`;
    await complete(id, key, cashier);
    expect(await complete(id, key, cashier)).toEqual({ success: true });
    const row = await requestRow(app, id);
    expect(row).toMatchObject({ status: 'completed', processedBy: cashier.userId, adminComment: 'Thanks' });
    expect(await entriesOf(row.payoutTransactionId!)).toEqual([
      { key: 'withdrawal_payable', kopeks: -20_000 },
      { key: 'withdrawal_payout', kopeks: 20_000 },
    ]);
    expect(await moneyOf(app, earner.userId)).toEqual({ balance: 30_000, debits: 1, payouts: 1, payable: 0, paidOut: 20_000 });
    expect((await recordedEvents(app, 'transaction.created', earner.userId)).length).toBe(events);
    expect((await messagesTo(earner.messengerId)).length).toBe(messages);
    expect(await expenses()).toBe(before);
    expect(await detailOf(complete(id))).toBe('The request has already been processed');
    expect(await checkLedger(app)).toEqual([]);
  });

  test('of unknown and rejected ones is refused', async () => {
    expect(await detailOf(complete(2_147_000_000))).toBe('Request not found');
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    await reject(id);
    expect(await detailOf(complete(id))).toBe('The request has not been approved yet');
  });
});

describe('a second approval above an amount (setting, off by default)', () => {
  let strict: App;
  beforeAll(async () => {
    strict = (
      await testApp({
        clock: t.clock,
        environment: {
          ...WITHDRAWALS_ON,
          REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS: '20000',
          ADMIN_NOTIFICATIONS_ENABLED: 'true',
          ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
        },
      })
    ).app;
  });

  test('the first approval is only recorded, the same administrator is refused, another one approves', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_001);
    const before = await moneyOf(app, earner.userId);
    expect(await approve(id, 'Checked', null, admin, strict)).toEqual({ success: true });
    expect(await requestRow(app, id)).toMatchObject({
      status: 'pending',
      firstApprovedBy: admin.userId,
      processedBy: null,
      adminComment: null,
      transactionId: null,
    });
    expect(await moneyOf(app, earner.userId)).toEqual(before);
    expect((await messagesTo(CHAT)).at(-1)).toContain(`Withdrawal request #${id} needs a second approval`);
    await expect(approve(id, null, null, admin, strict)).rejects.toMatchObject({
      status: 400,
      detail: 'You have approved this request already. Another administrator has to approve it too',
    });
    const second = await anAdmin(app);
    await approve(id, null, null, second, strict);
    expect(await requestRow(app, id)).toMatchObject({
      status: 'approved',
      firstApprovedBy: admin.userId,
      processedBy: second.userId,
      adminComment: 'Checked',
    });
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 29_999, debits: 1 });
  });

  test('not by somebody whose rights come from the first or are newer than the approval, and after the time it is a first approval again', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_001);
    await approve(id, null, null, admin, strict);
    const [dependent, newer] = [await anAdmin(app), await anAdmin(app)];
    await giveRole(app, dependent.userId, ['tickets:read'], { by: admin.userId });
    await expect(approve(id, null, null, dependent, strict)).rejects.toMatchObject({ status: 403, code: 'approver_dependent' });
    await app.db.sql("UPDATE user_roles SET assigned_at = now() + interval '1 day' WHERE user_id = $1::int RETURNING id", [
      newer.userId,
    ]);
    await expect(approve(id, null, null, newer, strict)).rejects.toMatchObject({ status: 403, code: 'approver_rights_too_new' });
    t.clock.advance(72 * HOUR_MS);
    await approve(id, null, null, dependent, strict);
    expect(await requestRow(app, id)).toMatchObject({ status: 'pending', firstApprovedBy: dependent.userId });
  });

  test('at the amount one approval is enough', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    await approve(id, null, null, admin, strict);
    expect(await requestRow(app, id)).toMatchObject({ status: 'approved', firstApprovedBy: null });
  });

  test('the second approval compares with the balance of its own time', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequestOfBefore(app, earner, 30_000);
    await approve(id, null, null, admin, strict);
    await spend(app, earner.userId, 40_000);
    expect(await detailOf(approve(id, null, null, await anAdmin(app), strict))).toBe("The user's balance is too low");
  });

  test('a request with one approval can be rejected, and cancelled by its user', async () => {
    const earner = await anEarner(app, 90_000);
    const id = await aRequest(app, earner, 30_000);
    await approve(id, null, null, admin, strict);
    await reject(id, 'No');
    expect(await requestRow(app, id)).toMatchObject({ status: 'rejected' });
    const second = await aRequest(app, earner, 30_000);
    await approve(second, null, null, admin, strict);
    await cancelMyWithdrawal(app, earner, second, null);
    expect(await requestRow(app, second)).toMatchObject({ status: 'cancelled' });
  });
});

test('spec 10 M5: an upgrade reserves the money of requests of before where the balance covers it', async () => {
  const [covered, spentSince] = [await anEarner(app, 50_000), await anEarner(app, 50_000)];
  const ids = [await aRequestOfBefore(app, covered, 30_000), await aRequestOfBefore(app, covered, 30_000)] as const;
  const uncovered = await aRequestOfBefore(app, spentSince, 30_000);
  await spend(app, spentSince.userId, 20_001);
  const migration = await readFile('prisma/migrations/0045_withdrawal_reserves/migration.sql', 'utf8');
  await app.db.sql(migration.slice(migration.indexOf('DO $$')));
  expect(await Promise.all([...ids, uncovered].map((id) => reservedOf(app, id)))).toEqual([30_000, 0, 0]);
  expect((await moneyOf(app, covered.userId)).balance).toBe(20_000);
  await approve(ids[0]);
  expect(await detailOf(approve(ids[1]))).toBe("The user's balance is too low");
  expect(await detailOf(approve(uncovered))).toBe("The user's balance is too low");
  expect(await checkLedger(app)).toEqual([]);
});

describe('invariants of the database', () => {
  test('a debit belongs to an approved request, a payout to a completed one', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    await approve(id);
    const set = (assignment: string) => app.db.sql(`UPDATE withdrawal_requests SET ${assignment} WHERE id = $1::int`, [id]);
    await expect(set("status = 'pending'")).rejects.toThrow(/withdrawal_requests_(?:debited|held)/);
    const waiting = await aRequest(app, earner, 20_000);
    const end = (status: string) =>
      app.db.sql(`UPDATE withdrawal_requests SET status = '${status}' WHERE id = $1::int`, [waiting]);
    for (const status of ['cancelled', 'rejected', 'approved'])
      await expect(end(status)).rejects.toThrow(/withdrawal_requests_reserved/);
    await expect(set('payout_transaction_id = transaction_id')).rejects.toThrow(/withdrawal_requests_paid_out/);
  });
});
