import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { runSubscriptionAction } from '../../../src/domain/subscriptions/manual/run-action.ts';
import { changeRestrictions, changeUserPromoGroup, changeUserStatus } from '../../../src/domain/users/account/change-account.ts';
import { changeUserBalance } from '../../../src/domain/users/account/change-balance.ts';
import { changeReferralCommission, listUserTransactions } from '../../../src/domain/users/account/read-user.ts';
import { resetUserDevices } from '../../../src/domain/users/panel/panel-info.ts';
import { syncFromPanel } from '../../../src/domain/users/panel/sync-from-panel.ts';
import { syncToPanel } from '../../../src/domain/users/panel/sync-to-panel.ts';
import { deleteUserRow, disableUser, eraseUser, resetSubscription, resetTrial } from '../../../src/domain/users/removal.ts';
import { anAction, setUser } from '../../support/admin-setup.ts';
import { anAdmin, giveRole } from '../../support/admins.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import { aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';

const LISTED_ADMIN = 4_990_000_000 + (process.pid % 1000);

let app: App;
let admin: AdminActor;
beforeAll(async () => {
  ({ app } = await testApp({ environment: { ADMIN_IDS: String(LISTED_ADMIN) } }));
  admin = await anAdmin(app, 100);
});

const removals: Record<string, (actor: AdminActor, userId: number) => Promise<unknown>> = {
  block: (actor, id) => changeUserStatus(app, actor, id, 'blocked', null),
  'mark deleted': (actor, id) => changeUserStatus(app, actor, id, 'deleted', null),
  'delete the row of': (actor, id) => deleteUserRow(app, actor, id, null),
  'fully delete': (actor, id) => eraseUser(app, actor, id, { deletesFromPanel: true, reason: null }),
  disable: (actor, id) => disableUser(app, actor, id, null),
};
const balance = (userId: number, amountKopeks: number, isShown = true) => ({ userId, amountKopeks, description: 'x', isShown });
const changes: Record<string, (actor: AdminActor, userId: number) => Promise<unknown>> = {
  credit: (actor, id) => changeUserBalance(app, actor, balance(id, 100), null),
  restrict: (actor, id) => changeRestrictions(app, actor, id, { restrictionTopup: true }),
  'change the group of': (actor, id) => changeUserPromoGroup(app, actor, id, null),
  'change the commission of': (actor, id) => changeReferralCommission(app, actor, id, 5),
  'change the subscription of': (actor, id) => runSubscriptionAction(app, actor, id, anAction('create')),
  'reset the trial of': (actor, id) => resetTrial(app, actor, id, null),
  'reset the subscription of': (actor, id) => resetSubscription(app, actor, id, { disablesInPanel: true, reason: null }),
  'take devices from': (actor, id) => resetUserDevices(app, actor, id),
  'sync from the panel': (actor, id) =>
    syncFromPanel(app, actor, id, { updatesSubscription: true, updatesTraffic: true, createsMissing: true }),
  'sync to the panel': (actor, id) =>
    syncToPanel(app, actor, id, { createsMissing: true, status: true, trafficLimit: true, expireDate: true, squads: true }),
};
const every = Object.entries({ ...removals, ...changes });
const snapshot = (user: BuiltUser) =>
  rowOf(
    app,
    'SELECT u.*, (SELECT count(*) FROM subscriptions s WHERE s.user_id = u.id) AS subscriptions FROM users u WHERE u.id = $1::int',
    [user.id],
  );

describe('spec 01 H5: whom an administrator may act on', () => {
  test.each(every)('not to %s an administrator of the same level or above', async (_name, act) => {
    for (const level of [100, 999]) {
      const target = await aUser(app);
      await giveRole(app, target.id, level);
      const before = await snapshot(target);
      const refusal = { status: 403, detail: 'Cannot act on a user at or above your own level' };
      await expect(act(admin, target.id)).rejects.toMatchObject(refusal);
      expect(await snapshot(target)).toEqual(before);
    }
  });

  test.each(every)('not to %s an administrator of the configuration, not even as a superadmin', async (_name, act) => {
    const top = await anAdmin(app, 1000);
    const [row] = await app.db.sql<{ id: number }>('SELECT id FROM users WHERE messenger_id = $1::bigint', [LISTED_ADMIN]);
    const target = row ? { id: row.id, messengerId: LISTED_ADMIN } : await aUser(app);
    if (!row) await setUser(app, target, { messenger_id: LISTED_ADMIN });
    const before = await snapshot(target);
    await expect(act(top, target.id)).rejects.toMatchObject({ status: 403, detail: 'Cannot act on a configured administrator' });
    expect(await snapshot(target)).toEqual(before);
  });

  test.each(Object.entries(removals))('users cannot %s themselves', async (_name, act) => {
    const actor = { ...(await anAdmin(app)), isConfigAdmin: true, level: 1000 };
    const refusal = { status: 403, detail: 'Cannot block or delete your own account' };
    await expect(act(actor, actor.userId)).rejects.toMatchObject(refusal);
  });

  test.each(Object.entries(changes))('an administrator by role does not %s himself', async (_name, act) => {
    const actor = await anAdmin(app);
    await expect(act(actor, actor.userId)).rejects.toMatchObject({ status: 403, detail: 'Cannot change your own account' });
  });

  test('one below and a plain user may be acted on', async () => {
    const below = await aUser(app);
    await giveRole(app, below.id, 50);
    expect(await removals.block!(admin, below.id)).toEqual({ oldStatus: 'active', newStatus: 'blocked' });
    const zero: AdminActor = { ...(await anAdmin(app, 0)), level: 0 };
    expect(await removals.block!(zero, (await aUser(app)).id)).toEqual({ oldStatus: 'active', newStatus: 'blocked' });
  });

  test.each(every)('an unknown id is 404 for every caller who may %s it', async (_name, act) => {
    for (const id of [2_000_000_000, 0, -1, 4_294_967_296, 9_007_199_254_740_991]) {
      await expect(act(admin, id)).rejects.toMatchObject({ status: 404, detail: 'User not found' });
    }
  });
});

describe('spec 01 H16: balance by hand', () => {
  test('never falls below zero, and says what is there', async () => {
    const user = await aUser(app);
    expect(await changeUserBalance(app, admin, balance(user.id, 1_500), null)).toEqual({
      oldBalanceKopeks: 0,
      newBalanceKopeks: 1_500,
    });
    await expect(changeUserBalance(app, admin, balance(user.id, -1_501), null)).rejects.toMatchObject({
      status: 400,
      detail: 'Insufficient balance. Current: 1500, requested: 1501',
    });
    expect(await changeUserBalance(app, admin, balance(user.id, -1_500), null)).toEqual({
      oldBalanceKopeks: 1_500,
      newBalanceKopeks: 0,
    });
    const rows = await app.db.sql(
      'SELECT type, amount_kopeks, payment_method FROM transactions WHERE user_id = $1::int ORDER BY id',
      [user.id],
    );
    expect(rows).toEqual([
      { type: 'deposit', amountKopeks: 1_500, paymentMethod: 'manual' },
      { type: 'withdrawal', amountKopeks: -1_500, paymentMethod: 'manual' },
    ]);
  });

  test('a hidden movement is one row that no list shows and no event reports', async () => {
    const user = await aUser(app);
    await changeUserBalance(app, admin, balance(user.id, 700, false), null);
    expect(await listUserTransactions(app, user.id, { limit: 50, offset: 0 })).toEqual({
      transactions: [],
      total: 0,
      limit: 50,
      offset: 0,
    });
    const hidden = await app.db.sql('SELECT id FROM transactions WHERE user_id = $1::int AND is_internal', [user.id]);
    expect(hidden).toHaveLength(1);
    expect(await recordedEventsOf(app, user.id)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a shown one is recorded by one event to the feed and by one to its owner', async () => {
    const user = await aUser(app);
    await changeUserBalance(app, admin, balance(user.id, 700), null);
    await changeUserBalance(app, admin, balance(user.id, -200), null);
    expect(await recordedEventsOf(app, user.id)).toMatchObject([
      { audience: 'feed', type: 'payment.completed', payload: { amount_kopeks: 700 } },
      { audience: 'user', type: 'balance.change', payload: { amount_kopeks: 700 } },
      { audience: 'feed', type: 'transaction.created', payload: { amount_kopeks: 200 } },
      { audience: 'user', type: 'balance.change', payload: { amount_kopeks: -200 } },
    ]);
  });

  test('an idempotency key runs it once', async () => {
    const user = await aUser(app);
    const key = `k${unique()}`;
    const first = await changeUserBalance(app, admin, balance(user.id, 100), key);
    expect(await changeUserBalance(app, admin, balance(user.id, 100), key)).toEqual(first);
    await expect(changeUserBalance(app, admin, balance(user.id, 101), key)).rejects.toMatchObject({ status: 422 });
    expect(await rowOf(app, 'SELECT balance_kopeks FROM users WHERE id = $1::int', [user.id])).toEqual({ balanceKopeks: 100 });
  });
});

describe('spec 01 H18: full deletion', () => {
  test('deletes the personal data and keeps the money', async () => {
    const user = await aUser(app, { email: `gone${unique()}@example.com` });
    const friend = await aUser(app);
    await setUser(app, friend, { referred_by_id: user.id });
    await setUser(app, user, {
      google_id: `g${unique()}`,
      password_hash: 'secret',
      restriction_reason: 'mine',
      trojan_password: 't',
    });
    await changeUserBalance(app, admin, balance(user.id, 900), null);
    await aStoredSubscription(app, user.id);
    await storeRow(app, 'Payment', {
      method: 'yookassa',
      userId: user.id,
      orderId: `o${unique()}`,
      amountKopeks: 100,
      status: 'new',
    });
    await storeRow(app, 'SavedPaymentMethod', { userId: user.id, providerMethodId: `card${unique()}` });
    await storeRow(app, 'AdminAuditLog', { userId: user.id, action: 'users:edit', status: 'success' });
    const erased = await eraseUser(app, admin, user.id, { deletesFromPanel: true, reason: 'asked' });
    expect(erased).toEqual({ isErased: true, panel: { isDone: false, error: null }, isPanelPending: true });

    const row = await rowOf<Record<string, unknown>>(app, 'SELECT * FROM users WHERE id = $1::int', [user.id]);
    expect(row).toMatchObject({ status: 'deleted', balanceKopeks: 0, referralCode: `erased:${user.id}`, promoGroupId: null });
    const texts = Object.values(row).filter((value) => typeof value === 'string');
    expect(texts.sort()).toEqual(['deleted', `erased:${user.id}`, 'messenger', 'none', 'ru'].sort());
    const left = await rowOf(
      app,
      `SELECT (SELECT count(*)::int FROM transactions WHERE user_id = $1::int) AS transactions,
         (SELECT count(*)::int FROM payments WHERE user_id = $1::int) AS payments,
         (SELECT count(*)::int FROM ledger_accounts WHERE user_id = $1::int) AS wallets,
         (SELECT count(*)::int FROM admin_audit_log WHERE user_id = $1::int) AS deeds,
         (SELECT count(*)::int FROM subscriptions WHERE user_id = $1::int) AS subscriptions,
         (SELECT count(*)::int FROM saved_payment_methods WHERE user_id = $1::int) AS cards,
         (SELECT count(*)::int FROM user_promo_groups WHERE user_id = $1::int) AS memberships,
         (SELECT count(*)::int FROM users WHERE referred_by_id = $1::int) AS referrals`,
      [user.id],
    );
    expect(left).toEqual({
      transactions: 2,
      payments: 1,
      wallets: 1,
      deeds: 1,
      subscriptions: 0,
      cards: 0,
      memberships: 0,
      referrals: 0,
    });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('is all or nothing', async () => {
    const user = await aUser(app);
    await aStoredSubscription(app, user.id);
    await changeUserBalance(app, admin, balance(user.id, 900), null);
    // Its new code is taken, by whatever chance: the last statement fails.
    const other = await aUser(app);
    await setUser(app, other, { referral_code: `erased:${user.id}` });
    const before = await snapshot(user);
    expect(await eraseUser(app, admin, user.id, { deletesFromPanel: true, reason: null })).toMatchObject({ isErased: false });
    expect(await snapshot(user)).toEqual(before);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('every table that refers to users is covered: an erased user has no rows outside the financial history', async () => {
    const user = await aUser(app);
    await giveRole(app, user.id, 10);
    await eraseUser(app, admin, user.id, { deletesFromPanel: false, reason: null });
    const references = await app.db.sql<{ name: string; col: string; kind: string }>(
      `SELECT c.conrelid::regclass::text AS name, a.attname::text AS col, c.confdeltype::text AS kind FROM pg_constraint c
       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
       WHERE c.contype = 'f' AND c.confrelid = 'users'::regclass`,
    );
    expect(references.length).toBeGreaterThan(15);
    const restricting = references.filter((reference) => reference.kind === 'r' || reference.kind === 'a');
    expect(restricting.map((reference) => reference.name).sort()).toEqual([
      'approvals',
      'ledger_accounts',
      'referral_debts',
      'transactions',
      'withdrawal_requests',
    ]);
    for (const { name, col, kind } of references.filter((reference) => reference.kind === 'c')) {
      if (['user_stats', 'user_traffic', 'referrer_stats', 'referrer_days'].includes(name)) continue;
      const { rows } = await rowOf<{ rows: number }>(app, `SELECT count(*)::int AS rows FROM ${name} WHERE ${col} = $1::int`, [
        user.id,
      ]);
      expect(rows, `${name}.${col} ${kind}`).toBe(0);
    }
  });

  test('a hard deletion refuses where money moved, and deletes where none did', async () => {
    const payer = await aUser(app);
    await changeUserBalance(app, admin, balance(payer.id, 100), null);
    await expect(deleteUserRow(app, admin, payer.id, null)).rejects.toMatchObject({ status: 409 });
    // No key of the database holds this one back: a payment outlives its user.
    const buyer = await aUser(app);
    await storeRow(app, 'Payment', {
      method: 'yookassa',
      userId: buyer.id,
      orderId: `o${unique()}`,
      amountKopeks: 100,
      status: 'new',
    });
    await expect(deleteUserRow(app, admin, buyer.id, null)).rejects.toMatchObject({ status: 409 });
    const plain = await aUser(app);
    await aStoredSubscription(app, plain.id);
    await deleteUserRow(app, admin, plain.id, null);
    expect(await app.db.sql('SELECT id FROM users WHERE id = $1::int', [plain.id])).toEqual([]);
  });
});

describe('spec 01 H22 and H8: status', () => {
  test('a user who is no longer active loses every session, but not the balance', async () => {
    const user = await aUser(app);
    await changeUserBalance(app, admin, balance(user.id, 500), null);
    await storeRow(app, 'RefreshToken', {
      userId: user.id,
      tokenHash: `hash${unique()}`,
      familyId: randomUUID(),
      expiresAt: addDays(app.clock.now(), 1),
      createdAt: app.clock.now(),
    });
    await changeUserStatus(app, admin, user.id, 'deleted', 'gone');
    expect(
      await rowOf(
        app,
        `SELECT status, balance_kopeks, (SELECT bool_and(revoked_at IS NOT NULL) FROM cabinet_refresh_tokens WHERE user_id = u.id) AS ended
         FROM users u WHERE id = $1::int`,
        [user.id],
      ),
    ).toEqual({ status: 'deleted', balanceKopeks: 500, ended: true });
    expect(await changeUserStatus(app, admin, user.id, 'deleted', null)).toEqual({ oldStatus: 'deleted', newStatus: 'deleted' });
    expect(await changeUserStatus(app, admin, user.id, 'active', null)).toMatchObject({ newStatus: 'active' });
  });
});
