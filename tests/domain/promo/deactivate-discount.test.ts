import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import {
  activatePromocode,
  deactivateDiscountOf,
  deactivateMyDiscount,
} from '../../../src/domain/promo/codes/activate-promocode.ts';
import { changePromocode } from '../../../src/domain/promo/codes/promocodes.ts';
import {
  aDiscountCode,
  aGroup,
  anEndlessDiscountCode,
  aPromocode,
  aRedeemer,
  discountOf,
  groupsOf,
  redemptionCounts,
} from '../../support/promocode-samples.ts';
import { anOffer } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));

const admin = { kind: 'admin', userId: 1, level: 100, isConfigAdmin: false } as const;
const nothing = { percent: 0, source: null, expiresAt: null };

describe('deactivating a discount (spec 04 section 7.3)', () => {
  test('clears the fields, the use row and the group, and the counter follows', async () => {
    const group = await aGroup(t.app);
    const [user, code] = [await aRedeemer(t.app), await aDiscountCode(t.app, { promoGroupId: group })];
    const before = await groupsOf(t.app, user.userId);
    await activatePromocode(t.app, user, code.code, null);
    expect((await groupsOf(t.app, user.userId)).primary).toBe(group);
    expect(await deactivateMyDiscount(t.app, user)).toEqual({ code: code.code, percent: 20 });
    expect(await discountOf(t.app, user.userId)).toEqual(nothing);
    expect(await redemptionCounts(t.app, code.id, user.userId)).toMatchObject({ uses: 0, rows: 0, log: 1 });
    expect(await groupsOf(t.app, user.userId)).toEqual(before);
    await activatePromocode(t.app, user, code.code, null);
    expect(await redemptionCounts(t.app, code.id, user.userId)).toMatchObject({ uses: 1, rows: 1 });
  });

  test('deactivation finds the use and the group of a renamed code', async () => {
    const group = await aGroup(t.app);
    const [user, other, code] = [
      await aRedeemer(t.app),
      await aRedeemer(t.app),
      await aDiscountCode(t.app, { promoGroupId: group }),
    ];
    const before = await groupsOf(t.app, user.userId);
    for (const holder of [user, other]) await activatePromocode(t.app, holder, code.code, null);
    const renamed = `${code.code}-NEW`;
    await changePromocode(t.app, admin, code.id, { code: ` ${renamed.toLowerCase()} ` });
    expect(await discountOf(t.app, user.userId)).toMatchObject({ percent: 20, source: `promocode:${renamed}` });
    // Somebody else's code by the old name is not theirs.
    const namesake = await aDiscountCode(t.app, { code: code.code });
    await activatePromocode(t.app, await aRedeemer(t.app), namesake.code, null);
    expect(await deactivateMyDiscount(t.app, user)).toEqual({ code: renamed, percent: 20 });
    expect(await groupsOf(t.app, user.userId)).toEqual(before);
    await deactivateDiscountOf(t.app, admin, other.userId);
    expect(await redemptionCounts(t.app, code.id, user.userId)).toMatchObject({ uses: 0, rows: 0 });
    expect(await redemptionCounts(t.app, namesake.id, user.userId)).toMatchObject({ uses: 1, rows: 1 });
  });

  test('renaming a code does not change discounts of other sources', async () => {
    const [user, code, other] = [await aRedeemer(t.app), await aDiscountCode(t.app), await aDiscountCode(t.app)];
    await activatePromocode(t.app, user, code.code, null);
    await anOffer(t.app, user.userId, 0);
    await activatePromocode(t.app, user, other.code, null);
    await changePromocode(t.app, admin, code.id, { code: `${code.code}-NEW` });
    expect((await discountOf(t.app, user.userId)).source).toBe(`promocode:${other.code}`);
  });

  test('a code whose discount more than ten thousand users have cannot be renamed, but its other fields can be changed', async () => {
    const [user, code] = [await aRedeemer(t.app), await aDiscountCode(t.app, { maxUses: 0 })];
    await activatePromocode(t.app, user, code.code, null);
    const rename = () => changePromocode(t.app, admin, code.id, { code: `${code.code}-NEW` });
    // Raw SQL: 10,000 users, in batches, so that no statement comes near its time limit on a slow machine.
    for (let first = 1; first <= 10_000; first += 1_000) {
      await t.app.db.sql(
        `WITH made AS (INSERT INTO users (first_name, referral_code, promo_group_id, promo_offer_discount_percent, promo_offer_discount_source)
           SELECT 'Holder', 'holder' || n, (SELECT id FROM promo_groups WHERE is_default), 20, $2
           FROM generate_series($3::int, $3::int + 999) n RETURNING id)
         INSERT INTO promocode_uses (promocode_id, user_id) SELECT $1::int, id FROM made`,
        [code.id, `promocode:${code.code}`, first],
      );
    }
    await expect(rename()).rejects.toMatchObject({ status: 400, code: 'promocode_held' });
    expect(await changePromocode(t.app, admin, code.id, { isActive: false, code: code.code })).toMatchObject({ isActive: false });
    expect((await discountOf(t.app, user.userId)).source).toBe(`promocode:${code.code}`);
    await deactivateMyDiscount(t.app, user);
    expect(await rename()).toMatchObject({ code: `${code.code}-NEW` });
    const left = await t.app.db.sql('SELECT id FROM users WHERE promo_offer_discount_source = $1', [`promocode:${code.code}`]);
    expect(left).toEqual([]);
  });

  test('spec 04 section 7.5, hazard 5: a group that an administrator assigned stays', async () => {
    const group = await aGroup(t.app);
    const [user, code] = [await aRedeemer(t.app), await aDiscountCode(t.app, { promoGroupId: group })];
    await storeRow(t.app, 'UserPromoGroup', { userId: user.userId, promoGroupId: group, assignedBy: 'admin' });
    await activatePromocode(t.app, user, code.code, null);
    await deactivateMyDiscount(t.app, user);
    expect((await groupsOf(t.app, user.userId)).members).toEqual([{ id: group, by: 'admin' }]);
  });

  test('refuses no discount and one of another source', async () => {
    const user = await aRedeemer(t.app);
    const none = { status: 400, detail: 'No active discount promo code found' };
    await expect(deactivateMyDiscount(t.app, user)).rejects.toMatchObject(none);
    await anOffer(t.app, user.userId, 15);
    await expect(deactivateMyDiscount(t.app, user)).rejects.toMatchObject(none);
    expect((await discountOf(t.app, user.userId)).percent).toBe(15);
  });

  test('refuses an expired discount and clears it', async () => {
    const [late, code] = [await aRedeemer(t.app), await aDiscountCode(t.app)];
    await activatePromocode(t.app, late, code.code, null);
    t.clock.advance(DAY_MS);
    const over = { status: 400, detail: 'Discount has already expired' };
    await expect(deactivateMyDiscount(t.app, late)).rejects.toMatchObject(over);
    expect(await discountOf(t.app, late.userId)).toEqual(nothing);
    expect(await redemptionCounts(t.app, code.id, late.userId)).toMatchObject({ uses: 1, rows: 1 });
  });

  test('administrators deactivate discounts of every source', async () => {
    const user = await aRedeemer(t.app);
    const ending = deactivateDiscountOf(t.app, admin, user.userId);
    await expect(ending).rejects.toMatchObject({ status: 400, detail: 'User has no active discount' });
    await anOffer(t.app, user.userId, 15);
    expect(await deactivateDiscountOf(t.app, admin, user.userId)).toEqual({ code: null, percent: 15 });
    const code = await aDiscountCode(t.app);
    await activatePromocode(t.app, user, code.code, null);
    expect(await deactivateDiscountOf(t.app, admin, user.userId)).toEqual({ code: code.code, percent: 20 });
    expect(await redemptionCounts(t.app, code.id, user.userId)).toMatchObject({ uses: 0, rows: 0 });
    await activatePromocode(t.app, user, (await aDiscountCode(t.app)).code, null);
    t.clock.advance(DAY_MS);
    const late = deactivateDiscountOf(t.app, admin, user.userId);
    await expect(late).rejects.toMatchObject({ status: 400, detail: 'Discount has already expired (cleaned up)' });
    const unknown = deactivateDiscountOf(t.app, admin, 2_000_000_000);
    await expect(unknown).rejects.toMatchObject({ status: 404, detail: 'User not found' });
  });
});

test('any sequence of activations and deactivations keeps the counter equal to the rows, within the limit', async () => {
  const users = [await aRedeemer(t.app), await aRedeemer(t.app), await aRedeemer(t.app)];
  const step = fc.record({
    user: fc.nat(2),
    code: fc.nat(2),
    action: fc.constantFrom('activate', 'activate', 'give back', 'wait'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      for (const { userId } of users) await anOffer(t.app, userId, 0);
      await t.app.db.sql('DELETE FROM promocode_activations');
      const codes = [
        await aDiscountCode(t.app, { maxUses: 2 }),
        await anEndlessDiscountCode(t.app, { maxUses: 1 }),
        await aPromocode(t.app, { maxUses: 2, balanceBonusKopeks: 1 }),
      ];
      for (const { user, code, action } of steps) {
        const actor = users[user]!;
        if (action === 'wait') t.clock.advance(DAY_MS / 2);
        else if (action === 'give back') await deactivateMyDiscount(t.app, actor).catch(refusalOnly);
        else await activatePromocode(t.app, actor, codes[code]!.code, null).catch(refusalOnly);
      }
      for (const { id, maxUses } of codes) {
        const { uses, rows } = await redemptionCounts(t.app, id, users[0]!.userId);
        expect(uses).toBe(rows);
        expect(uses).toBeLessThanOrEqual(maxUses);
      }
    }),
    { numRuns: 25 },
  );
});

function refusalOnly(error: { status?: number }): void {
  if (error.status !== 400) throw error;
}
