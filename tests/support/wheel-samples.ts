import type { App } from '../../src/core/app.ts';
import type { PrizeFields, WheelConfigChanges, WheelPrize } from '../../src/domain/engagement/wheel/types.ts';
import { changeWheel, createPrize } from '../../src/domain/engagement/wheel/wheel.ts';

/** A wheel that is on, with these prizes only; 10 stars are 1300 kopeks. */
export async function aWheel(
  app: App,
  prizes: readonly Partial<PrizeFields>[],
  changes: WheelConfigChanges = {},
): Promise<WheelPrize[]> {
  await app.db.sql('DELETE FROM wheel_prizes');
  await changeWheel(app, {
    isEnabled: true,
    spinCostStars: 10,
    spinCostDays: 1,
    spinCostStarsEnabled: true,
    spinCostDaysEnabled: true,
    rtpPercent: 80,
    dailySpinLimit: 5,
    minSubscriptionDaysForDayPayment: 3,
    promoPrefix: 'Wheel',
    promoValidityDays: 7,
    ...changes,
  });
  const made = [];
  for (const [sortOrder, fields] of prizes.entries()) made.push(await createPrize(app, { ...PRIZE, sortOrder, ...fields }));
  return made;
}

const PRIZE: PrizeFields = {
  prizeType: 'nothing',
  prizeValue: 0,
  displayName: 'Prize',
  emoji: '🎁',
  color: '#3B82F6',
  prizeValueKopeks: 0,
  sortOrder: 0,
  manualProbability: null,
  isActive: true,
  promoBalanceBonusKopeks: 0,
  promoSubscriptionDays: 0,
  promoTrafficGb: 0,
};

/** What the database holds of a user's spins, money and subscription. */
export async function wheelFacts(app: App, userId: number) {
  const [row] = await app.db.sql<{ balance: number; spins: number; debits: number; credits: number; endDate: Date | null }>(
    `SELECT u.balance_kopeks AS balance, (SELECT count(*)::int FROM wheel_spins w WHERE w.user_id = u.id) AS spins,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'withdrawal') AS debits,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'deposit' AND x.payment_method IS NULL) AS credits,
       (SELECT s.end_date FROM subscriptions s WHERE s.user_id = u.id) AS end_date
     FROM users u WHERE u.id = $1::int`,
    [userId],
  );
  return row!;
}
