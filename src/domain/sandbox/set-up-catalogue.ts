import type { HistoryPlan, PlannedTariff } from '@subscription-service/sandbox/history/plan-history';
import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { createCampaign } from '../campaigns/campaigns.ts';
import { createTariff, toggleTrialTariff } from '../catalog/tariffs.ts';
import { changeWheel, createPrize } from '../engagement/wheel/wheel.ts';
import { createPromocode } from '../promo/codes/promocodes.ts';

/** Who set the service up. */
const FILLER: Actor = { kind: 'system', name: 'sandbox fill' };

const NO_BONUS = {
  subscriptionDurationDays: null,
  subscriptionTrafficGb: null,
  subscriptionDeviceLimit: null,
  subscriptionSquads: [],
  tariffId: null,
  tariffDurationDays: null,
  isActive: true,
  partnerUserId: null,
};

const NO_CODE = { promoBalanceBonusKopeks: 0, promoSubscriptionDays: 0, promoTrafficGb: 0 };

/** Value in days, kopeks or GB by type; kopeks of the value. */
const PRIZES = [
  { prizeType: 'subscription_days', prizeValue: 1, prizeValueKopeks: 900, displayName: '+1 день', emoji: '📅', color: '#3B82F6' },
  { prizeType: 'subscription_days', prizeValue: 3, prizeValueKopeks: 2_500, displayName: '+3 дня', emoji: '🗓️', color: '#8B5CF6' },
  { prizeType: 'balance_bonus', prizeValue: 1_000, prizeValueKopeks: 1_000, displayName: '10 ₽', emoji: '💰', color: '#16A34A' },
  { prizeType: 'traffic_gb', prizeValue: 5, prizeValueKopeks: 1_200, displayName: '+5 ГБ', emoji: '📶', color: '#F59E0B' },
  { prizeType: 'nothing', prizeValue: 0, prizeValueKopeks: 0, displayName: 'В другой раз', emoji: '🍀', color: '#6B7280' },
] as const;

/**
 * What the people of the plan find: tariffs, campaigns, promo codes, the wheel.
 * @returns ids of the tariffs in the order of the plan
 */
export async function setUpCatalogue(app: App, { tariffs, campaigns, promocodes }: HistoryPlan): Promise<number[]> {
  const ids: number[] = [];
  for (const tariff of tariffs) ids.push((await createTariff(app, FILLER, tariffOf(tariff))).id);
  await toggleTrialTariff(app, FILLER, ids[0]!);
  for (const { name, slug, bonusKopeks } of campaigns) {
    const bonusType = bonusKopeks > 0 ? 'balance' : 'none';
    const values = { ...NO_BONUS, name, startParameter: slug, bonusType, balanceBonusKopeks: bonusKopeks } as const;
    await createCampaign(app, { kind: 'token', tokenId: 0, name: 'sandbox fill' }, values);
  }
  for (const { code, bonusKopeks } of promocodes) {
    await createPromocode(app, FILLER, {
      code,
      type: 'balance',
      balanceBonusKopeks: bonusKopeks,
      subscriptionDays: 0,
      maxUses: 0,
      validFrom: null,
      validUntil: null,
      isActive: true,
      firstPurchaseOnly: false,
      promoGroupId: null,
      createdBy: null,
    });
  }
  await changeWheel(app, { isEnabled: true });
  for (const [sortOrder, prize] of PRIZES.entries()) await createPrize(app, { ...NO_CODE, ...prize, sortOrder, isActive: true });
  return ids;
}

function tariffOf({ trafficPackages, weight: _weight, ...tariff }: PlannedTariff) {
  return {
    ...tariff,
    periodPrices: { ...tariff.periodPrices },
    trafficTopupEnabled: Object.keys(trafficPackages).length > 0,
    trafficTopupPackages: { ...trafficPackages },
  };
}
