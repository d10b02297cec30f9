import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { peekMergeToken, recordFailedMerge } from '../../../src/domain/identity/merge-tokens.ts';
import { openSession, refreshSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { listMyTransactions } from '../../../src/domain/ledger/transactions.ts';
import { mergeAccounts } from '../../../src/domain/merge/merge-accounts.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aPair, merge, setUser, tokenFor, userRow } from '../../support/merge-samples.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aMembership, aStoredSubscription, rowOf, topUp } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const count = async (sql: string, values: unknown[]) => (await rowOf<{ n: number }>(t.app, sql, values)).n;
const messengerOf = async (id: number) => (await userRow(t.app, id)).messengerId!;

test('04 10.6: of a round that both have played the winning attempt stays', async () => {
  const pair = await aPair(t.app);
  const attempts: Record<string, boolean> = {};
  const rounds: number[] = [];
  for (const [primaryWins, secondaryWins] of [
    [false, true],
    [true, false],
    [true, true],
    [false, false],
  ] as const) {
    const prize = { prizeType: 'custom', prizeValue: 'a car' } as const;
    const template = await storeRow(t.app, 'ContestTemplate', { slug: `merge-${unique()}`, name: 'x', ...prize });
    const { id } = await storeRow(t.app, 'ContestRound', {
      templateId: template.id,
      startsAt: new Date(),
      endsAt: addDays(new Date(), 1),
      maxWinners: 2,
      winnersCount: 2,
    });
    rounds.push(id);
    for (const [userId, isWinner] of [
      [pair.primaryId, primaryWins],
      [pair.secondaryId, secondaryWins],
    ] as const) {
      await storeRow(t.app, 'ContestAttempt', { roundId: id, userId, answer: 'x', isWinner });
    }
    attempts[id] = primaryWins || secondaryWins;
  }
  await merge(t.app, pair);
  const kept = await t.app.db.sql<{ roundId: number; userId: number; isWinner: boolean }>(
    'SELECT round_id, user_id, is_winner FROM contest_attempts WHERE round_id = ANY($1::int[]) ORDER BY round_id',
    [rounds],
  );
  expect(kept).toEqual(rounds.map((roundId) => ({ roundId, userId: pair.primaryId, isWinner: attempts[roundId] })));
});

describe('money and history', () => {
  test('the balance moves by new entries, the history with it, and the ledger stays clean', async () => {
    const pair = await aPair(t.app);
    await topUp(t.app, pair.primaryId, 10_000);
    await topUp(t.app, pair.secondaryId, 25_050);
    await topUp(t.app, pair.secondaryId, 4_950);
    const entriesBefore = await t.app.db.sql<object>(
      'SELECT id, transaction_id, account_id, kopeks FROM ledger_entries ORDER BY id',
    );
    await merge(t.app, pair);
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ balanceKopeks: 40_000, status: 'active' });
    expect(await userRow(t.app, pair.secondaryId)).toMatchObject({ balanceKopeks: 0, status: 'deleted' });
    const entries = await t.app.db.sql<object>('SELECT id, transaction_id, account_id, kopeks FROM ledger_entries ORDER BY id');
    expect(entries.slice(0, entriesBefore.length)).toEqual(entriesBefore);
    expect(entries).toHaveLength(entriesBefore.length + 4);
    expect(await checkLedger(t.app)).toEqual([]);
    const visible = await listMyTransactions(t.app, pair.primaryId, { page: 1, perPage: 50, type: null });
    expect(visible.items.map((item) => item.amountKopeks).sort()).toEqual([10_000, 25_050, 4_950]);
    const sums = await rowOf<{ total: number; theirs: number; between: number }>(
      t.app,
      `SELECT (SELECT sum(amount_kopeks)::bigint FROM transactions WHERE user_id = $1::int) AS total,
         (SELECT count(*)::int FROM transactions WHERE user_id = $2::int) AS theirs,
         (SELECT sum(e.kopeks)::bigint FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id WHERE a.kind = 'account_merge') AS between`,
      [pair.primaryId, pair.secondaryId],
    );
    expect(sums).toEqual({ total: 40_000, theirs: 0, between: 0 });
  });

  test('transactions change their owner in no other way, nor while there is money on the balance', async () => {
    const pair = await aPair(t.app);
    await topUp(t.app, pair.secondaryId, 100);
    const move = t.app.db.sql('UPDATE transactions SET user_id = $2::int WHERE user_id = $1::int RETURNING id', [
      pair.secondaryId,
      pair.primaryId,
    ]);
    await expect(move).rejects.toThrow('only through move_transactions()');
    const early = t.app.db.sql('SELECT move_transactions($1::int, $2::int) AS moved', [pair.secondaryId, pair.primaryId]);
    await expect(early).rejects.toThrow('cannot move while there is money on the balance');
    const amount = t.app.db.sql('UPDATE transactions SET amount_kopeks = 1 WHERE user_id = $1::int RETURNING id', [
      pair.secondaryId,
    ]);
    await expect(amount).rejects.toThrow('append-only');
  });
});

describe('identities and flags', () => {
  test('go into empty fields only, and the e-mail comes whole or not at all', async () => {
    const email = `merge${unique()}@example.com`;
    const google = `g${unique()}`;
    const pair = await aPair(t.app, {
      primary: { messenger_id: null, google_id: google, used_promocodes: 2, partner_status: 'rejected' },
      secondary: {
        google_id: `g${unique()}`,
        yandex_id: `y${unique()}`,
        vk_id: 700_000 + unique(),
        email,
        email_verified: true,
        email_verified_at: t.clock.now(),
        password_hash: 'stored-hash',
        used_promocodes: 3,
        partner_status: 'pending',
        referral_commission_percent: 40,
        has_had_paid_subscription: true,
        restriction_topup: true,
        restriction_reason: 'why',
      },
    });
    const before = await userRow(t.app, pair.secondaryId);
    await merge(t.app, pair);
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({
      messengerId: before.messengerId,
      googleId: google,
      yandexId: before.yandexId,
      vkId: before.vkId,
      email,
      emailVerified: true,
      emailVerifiedAt: before.emailVerifiedAt,
      passwordHash: 'stored-hash',
      usedPromocodes: 5,
      partnerStatus: 'pending',
      referralCommissionPercent: '40.00',
      hasHadPaidSubscription: true,
      restrictionTopup: true,
      restrictionSubscription: false,
      restrictionReason: 'why',
    });
    expect(await userRow(t.app, pair.secondaryId)).toMatchObject({
      status: 'deleted',
      messengerId: null,
      googleId: null,
      yandexId: null,
      vkId: null,
      email: null,
      emailVerified: false,
      passwordHash: null,
      vpnpanelUuid: null,
      referredById: null,
      referralCode: `merged_${pair.secondaryId}`,
    });
  });

  test('a primary with an e-mail keeps its own, and the other one is free again', async () => {
    const [mine, theirs] = [`mine${unique()}@example.com`, `theirs${unique()}@example.com`];
    const pair = await aPair(t.app, {
      primary: { email: mine, email_verified: false },
      secondary: { email: theirs, email_verified: true, password_hash: 'secret' },
    });
    const messengerOfPrimary = await messengerOf(pair.primaryId);
    await merge(t.app, pair);
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({
      email: mine,
      emailVerified: false,
      passwordHash: null,
      messengerId: messengerOfPrimary,
    });
    expect(await count('SELECT count(*)::int AS n FROM users WHERE email = $1', [theirs])).toBe(0);
  });
});

describe('everything else that is owned', () => {
  test('memberships without duplicates, the primary group recomputed, no roles, authors set to null', async () => {
    const pair = await aPair(t.app);
    const shared = await aMembership(t.app, pair.primaryId, { priority: 5 });
    await storeRow(t.app, 'UserPromoGroup', { userId: pair.secondaryId, promoGroupId: shared });
    const better = await aMembership(t.app, pair.secondaryId, { priority: 50 });
    const role = await storeRow(t.app, 'AdminRole', { name: `role ${unique()}`, createdBy: pair.secondaryId });
    await storeRow(t.app, 'UserRole', { userId: pair.secondaryId, roleId: role.id });
    await merge(t.app, pair);
    const groups = await t.app.db.sql<{ id: number }>(
      'SELECT promo_group_id AS id FROM user_promo_groups WHERE user_id = $1::int ORDER BY 1',
      [pair.primaryId],
    );
    expect(groups.map((group) => group.id)).toEqual([shared, better].sort((a, b) => a - b));
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ promoGroupId: better });
    expect(await count('SELECT count(*)::int AS n FROM user_roles WHERE role_id = $1::int', [role.id])).toBe(0);
    expect(await rowOf(t.app, 'SELECT created_by FROM admin_roles WHERE id = $1::int', [role.id])).toEqual({ createdBy: null });
  });

  test('pending offers, applications and promo code uses: one of a kind', async () => {
    const pair = await aPair(t.app);
    const code = await storeRow(t.app, 'Promocode', { code: `CODE${unique()}`, type: 'balance', balanceBonusKopeks: 100 });
    for (const id of [pair.primaryId, pair.secondaryId]) {
      await storeRow(t.app, 'PromocodeUse', { promocodeId: code.id, userId: id });
      await storeRow(t.app, 'PartnerApplication', { userId: id });
      await storeRow(t.app, 'DiscountOffer', {
        userId: id,
        notificationType: 'same',
        expiresAt: new Date(Date.now() + 86_400_000),
      });
      await storeRow(t.app, 'Ticket', { userId: id, title: 'help' });
    }
    await merge(t.app, pair);
    const found = await rowOf(
      t.app,
      `SELECT (SELECT count(*)::int FROM promocode_uses WHERE user_id = $1::int) AS uses,
         (SELECT count(*)::int FROM partner_applications WHERE user_id = $1::int) AS applications,
         (SELECT count(*)::int FROM discount_offers WHERE user_id = $1::int) AS offers,
         (SELECT count(*)::int FROM discount_offers WHERE user_id = $1::int AND is_active) AS open_offers,
         (SELECT count(*)::int FROM tickets WHERE user_id = $1::int) AS tickets`,
      [pair.primaryId],
    );
    expect(found).toEqual({ uses: 1, applications: 1, offers: 2, openOffers: 1, tickets: 2 });
  });

  test('referrals move without a cycle of referrers, and earnings of the two from each other are deleted', async () => {
    const pair = await aPair(t.app);
    const guest = await aUser(t.app);
    // primary was invited by "between", who was invited by the secondary.
    const between = await aUser(t.app);
    const above = await aUser(t.app);
    await setUser(t.app, pair.secondaryId, { referred_by_id: above.id });
    await setUser(t.app, guest.id, { referred_by_id: pair.secondaryId });
    await setUser(t.app, between.id, { referred_by_id: pair.secondaryId });
    await setUser(t.app, pair.primaryId, { referred_by_id: between.id });
    const earn = (earner: number, referral: number) =>
      storeRow(t.app, 'ReferralEarning', {
        userId: earner,
        referralId: referral,
        amountKopeks: 0,
        reason: 'referral_registration_pending',
      });
    await earn(pair.secondaryId, pair.primaryId);
    await earn(pair.secondaryId, guest.id);
    await earn(above.id, pair.secondaryId);
    await earn(above.id, pair.primaryId);
    await merge(t.app, pair);
    expect(await userRow(t.app, guest.id)).toMatchObject({ referredById: pair.primaryId });
    expect(await userRow(t.app, between.id)).toMatchObject({ referredById: pair.primaryId });
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ referredById: above.id });
    const earnings = await t.app.db.sql<{ userId: number; referralId: number }>(
      'SELECT user_id, referral_id FROM referral_earnings WHERE $1::int IN (user_id, referral_id) OR $2::int IN (user_id, referral_id) ORDER BY id',
      [pair.primaryId, pair.secondaryId],
    );
    expect(earnings).toEqual([
      { userId: pair.primaryId, referralId: guest.id },
      { userId: above.id, referralId: pair.primaryId },
    ]);
  });

  test('a secondary that invited the primary stops being its referrer', async () => {
    const pair = await aPair(t.app);
    await setUser(t.app, pair.primaryId, { referred_by_id: pair.secondaryId });
    await merge(t.app, pair);
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ referredById: null });
  });
});

describe('the token and failures (spec 01 H17)', () => {
  test('works once, ends the sessions of both and gives the primary a new one', async () => {
    const pair = await aPair(t.app);
    const [mine, theirs] = [await openSession(t.app, pair.primaryId), await openSession(t.app, pair.secondaryId)];
    const token = await tokenFor(t.app, pair);
    const request = { token, keepSubscriptionFrom: pair.primaryId };
    const session = await mergeAccounts(t.app, request);
    expect(session.user.id).toBe(pair.primaryId);
    for (const old of [mine, theirs]) {
      await expect(refreshSession(t.app, old.refreshToken)).rejects.toMatchObject({ status: 401 });
    }
    await refreshSession(t.app, session.refreshToken);
    const [row] = await t.app.db.sql<{ deviceInfo: string }>(
      'SELECT device_info FROM cabinet_refresh_tokens WHERE user_id = $1::int AND revoked_at IS NULL ORDER BY id LIMIT 1',
      [pair.primaryId],
    );
    expect(row).toEqual({ deviceInfo: 'merge' });
    await expect(mergeAccounts(t.app, request)).rejects.toMatchObject({
      status: 404,
      detail: 'Merge token is invalid, expired, or already consumed',
    });
  });

  test.each(['blocked', 'deleted'])('a %s account is not merged, and the token stays', async (status) => {
    const pair = await aPair(t.app, { secondary: { status } });
    const token = await tokenFor(t.app, pair);
    await expect(mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId })).rejects.toMatchObject({
      status: 400,
      detail: 'Account merge cannot be completed. The accounts may have already been merged or deleted.',
    });
    await setUser(t.app, pair.secondaryId, { status: 'active' });
    expect((await mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId })).user.id).toBe(pair.primaryId);
  });

  test('a foreign id to keep is refused, and the fourth failure ends the token', async () => {
    const pair = await aPair(t.app);
    const token = await tokenFor(t.app, pair);
    const attempt = () => mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId + 1_000_000 });
    for (let failure = 1; failure <= 4; failure++) {
      await expect(attempt()).rejects.toMatchObject({
        status: 400,
        detail: 'keep_subscription_from must be one of the two user IDs being merged',
      });
    }
    await expect(attempt()).rejects.toMatchObject({ status: 404 });
  });

  test('a restored token keeps the time it has left', async () => {
    const pair = await aPair(t.app);
    const token = await tokenFor(t.app, pair);
    const expiry = () =>
      rowOf<{ at: Date }>(t.app, 'SELECT expires_at AS at FROM short_lived_entries WHERE key = $1', [`account_merge:${token}`]);
    const before = await expiry();
    t.clock.advance(60_000);
    await recordFailedMerge(t.app, token);
    expect(await expiry()).toEqual(before);
    t.clock.advance(29 * 60_000 + 1_000);
    expect(await peekMergeToken(t.app, token)).toBeNull();
  });

  test('a step that fails rolls everything back, and the same token works then', async () => {
    const pair = await aPair(t.app);
    await topUp(t.app, pair.secondaryId, 5_000);
    await aStoredSubscription(t.app, pair.secondaryId);
    await setUser(t.app, pair.secondaryId, { vpnpanel_uuid: randomUUID() });
    const token = await tokenFor(t.app, pair);
    const before = [await userRow(t.app, pair.primaryId), await userRow(t.app, pair.secondaryId)];
    // The last step of all cannot be taken.
    await whileRefused(t.app, 'account_merges', () =>
      expect(mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId })).rejects.toMatchObject({
        status: 500,
        detail: 'Account merge failed due to an internal error',
      }),
    );
    expect([await userRow(t.app, pair.primaryId), await userRow(t.app, pair.secondaryId)]).toEqual(before);
    expect(await checkLedger(t.app)).toEqual([]);
    await mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId });
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ balanceKopeks: 5_000 });
    expect(await checkLedger(t.app)).toEqual([]);
  });
});
