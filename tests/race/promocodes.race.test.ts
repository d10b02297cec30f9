import { beforeAll, describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { activatePromocode, deactivateMyDiscount } from '../../src/domain/promo/codes/activate-promocode.ts';
import { changePromocode } from '../../src/domain/promo/codes/promocodes.ts';
import { deleteUse, lockRedeemer } from '../../src/domain/promo/codes/repo.ts';
import { changePromoGroup, createPromoGroup } from '../../src/domain/promo-groups/promo-groups.ts';
import { unique } from '../support/builders.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { count, detailOf, times } from '../support/parallel.ts';
import { aDiscountCode, aPromocode, aRedeemer, redemptionCounts } from '../support/promocode-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

describe('promo codes at once (spec 04 section 7.5)', () => {
  test('spec 04 section 7.5, hazard 1: twenty users and one use: one gets it, nineteen are refused', async () => {
    const code = await aPromocode(t.app);
    const users = await times(20, () => aRedeemer(t.app));
    const outcomes = await Promise.all(users.map((user) => detailOf(activatePromocode(t.app, user, code.code, null))));
    expect(count(outcomes, 'done')).toBe(1);
    expect(count(outcomes, 'Promo code has been fully used')).toBe(19);
    const winner = users[outcomes.indexOf('done')]!;
    expect(await redemptionCounts(t.app, code.id, winner.userId)).toEqual({
      uses: 1,
      rows: 1,
      balance: 10_000,
      deposits: 1,
      log: 1,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('one user twenty times: once, nineteen times already used', async () => {
    const [code, user] = [await aPromocode(t.app, { maxUses: 100 }), await aRedeemer(t.app)];
    const outcomes = await times(20, () => detailOf(activatePromocode(t.app, user, code.code, null)));
    expect(count(outcomes, 'done')).toBe(1);
    expect(count(outcomes, 'You have already used this promo code')).toBe(19);
    expect(await redemptionCounts(t.app, code.id, user.userId)).toEqual({
      uses: 1,
      rows: 1,
      balance: 10_000,
      deposits: 1,
      log: 1,
    });
  });

  test('one idempotency key twenty times: twenty equal answers, one activation', async () => {
    const [code, user] = [await aPromocode(t.app, { maxUses: 100 }), await aRedeemer(t.app)];
    const answers = await times(20, () => activatePromocode(t.app, user, code.code, 'same'));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await redemptionCounts(t.app, code.id, user.userId)).balance).toBe(10_000);
  });

  test('spec 04 section 7.5, hazard 3: ten codes at once: five a day', async () => {
    const user = await aRedeemer(t.app);
    const codes = await times(10, () => aPromocode(t.app));
    const outcomes = await Promise.all(codes.map((code) => detailOf(activatePromocode(t.app, user, code.code, null))));
    expect(count(outcomes, 'done')).toBe(5);
    expect(count(outcomes, 'Too many promo code activations today')).toBe(5);
  });

  test('two discounts at once: one', async () => {
    const [one, two, user] = [await aDiscountCode(t.app), await aDiscountCode(t.app), await aRedeemer(t.app)];
    const outcomes = await Promise.all([one, two].map(({ code }) => detailOf(activatePromocode(t.app, user, code, null))));
    expect(count(outcomes, 'done')).toBe(1);
  });

  test('spec 04 section 7.5, hazard 4: fifty guesses at once: five looked up, the others blocked', async () => {
    const user = await aRedeemer(t.app);
    const outcomes = await times(50, (index) => detailOf(activatePromocode(t.app, user, `GUESS-${index}`, null)));
    expect(count(outcomes, 'Promo code not found')).toBe(5);
    expect(count(outcomes, 'Too many requests')).toBe(45);
  });

  test('a discount deactivated twenty times at once decrements the counter once', async () => {
    const [code, user, other] = [await aDiscountCode(t.app), await aRedeemer(t.app), await aRedeemer(t.app)];
    await activatePromocode(t.app, user, code.code, null);
    await activatePromocode(t.app, other, code.code, null);
    const outcomes = await times(20, () => detailOf(deactivateMyDiscount(t.app, user)));
    expect(count(outcomes, 'done')).toBe(1);
    expect(await redemptionCounts(t.app, code.id, user.userId)).toMatchObject({ uses: 1, rows: 1 });
  });

  test('a rename waits for a user who deactivates the discount before it locks the code: neither is run again', async () => {
    const [code, user] = [await aDiscountCode(t.app), await aRedeemer(t.app)];
    await activatePromocode(t.app, user, code.code, null);
    // A transaction draws a random number before it runs again after a deadlock.
    const drawn = vi.fn(t.app.random.int);
    const app = { ...t.app, random: { ...t.app.random, int: drawn } };
    const { promise: isLocked, resolve: reportLock } = Promise.withResolvers<void>();
    const givingBack = inTransaction(app, async (x) => {
      await lockRedeemer(x.db, user.userId);
      reportLock();
      await someoneWaitsForALock(app);
      return deleteUse(x.db, user.userId, code.code);
    });
    await isLocked;
    await changePromocode(app, { kind: 'system', name: 'test' }, code.id, { code: `${code.code}-NEW` });
    expect(await givingBack).toEqual({ promoGroupId: null });
    expect(drawn).not.toHaveBeenCalled();
  });

  test('a code that is renamed while it is activated and deactivated: every discount has its current name', async () => {
    const code = await aDiscountCode(t.app, { maxUses: 100 });
    const name = (round: number) => `${code.code}-${round}`;
    const rename = (round: number) => changePromocode(t.app, { kind: 'system', name: 'test' }, code.id, { code: name(round) });
    await rename(0);
    for (let round = 0; round < 5; round++) {
      const [early, late] = [await times(6, () => aRedeemer(t.app)), await times(6, () => aRedeemer(t.app))];
      for (const user of early) await activatePromocode(t.app, user, name(round), null);
      const [activated] = await Promise.all([
        // Activations after the rename are refused: there is no such code.
        Promise.all(late.map((user) => detailOf(activatePromocode(t.app, user, name(round), null)))),
        Promise.all(early.map((user) => deactivateMyDiscount(t.app, user))),
        rename(round + 1),
      ]);
      expect(activated.filter((outcome) => outcome !== 'done' && outcome !== 'Promo code not found')).toEqual([]);
      const holders = late.filter((_, index) => activated[index] === 'done');
      expect(await redemptionCounts(t.app, code.id, early[0]!.userId)).toMatchObject({
        uses: holders.length,
        rows: holders.length,
      });
      for (const user of holders) expect(await deactivateMyDiscount(t.app, user)).toEqual({ code: name(round + 1), percent: 20 });
      expect(await redemptionCounts(t.app, code.id, early[0]!.userId)).toMatchObject({ uses: 0, rows: 0 });
    }
  });
});

test('spec 04 section 8.5, hazard 1: parallel changes of the default group: exactly one remains', async () => {
  const values = {
    serverDiscountPercent: 0,
    trafficDiscountPercent: 0,
    deviceDiscountPercent: 0,
    periodDiscounts: {},
    autoAssignTotalSpentKopeks: null,
    applyDiscountsToAddons: true,
  };
  const actor = { kind: 'system', name: 'test' } as const;
  const [old] = await t.app.db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE is_default');
  const groups = await times(10, () => createPromoGroup(t.app, actor, { ...values, name: `Group ${unique()}`, isDefault: true }));
  expect(groups).toHaveLength(10);
  await times(20, (index) => changePromoGroup(t.app, actor, groups[index % 10]!.id, { isDefault: index % 2 === 0 }));
  const defaults = await t.app.db.sql('SELECT id FROM promo_groups WHERE is_default');
  expect(defaults).toHaveLength(1);
  await changePromoGroup(t.app, actor, old!.id, { isDefault: true });
});
