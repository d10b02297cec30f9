import type { App } from '../../../core/app.ts';
import { firstCharacters } from '../../../core/characters.ts';
import { addDays } from '../../../core/clock.ts';
import { formatPrice } from '../../../core/money.ts';
import { hexToken } from '../../../core/random.ts';
import type { Tariff } from '../../catalog/types.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { text } from '../../messaging/texts.ts';
import { issuePromocode } from '../../promo/codes/issue-promocode.ts';
import { normaliseCode } from '../../promo/codes/rules.ts';
import { applyManualChange } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { hasCodeValue, MAX_PRIZE_DAYS } from './rules.ts';
import type { WheelConfig, WheelPrize } from './types.ts';

/** The winner: locked user, and locked subscription after the payment. */
export interface Winner {
  userId: number;
  language: string;
  subscription: Subscription | null;
  /** Of the subscription. */
  tariff: Tariff | null;
}

export interface AppliedPrize {
  promocodeId: number | null;
  promocode: string | null;
  transactionId: number | null;
  message: string;
}

/** Larger prizes would exceed the column. */
const MAX_TRAFFIC_GB = 1_000_000;
const CODE_BYTES = 4;
/** Length of the column without the random part. */
const MAX_PREFIX_LENGTH = 50 - 2 * CODE_BYTES;
const CODE_TRIES = 5;

/** Gives the prize, in the transaction of the spin (spec 04 section 13.4). A prize that cannot be given is paid in money. */
export async function applyPrize(t: App, winner: Winner, prize: WheelPrize, config: WheelConfig): Promise<AppliedPrize> {
  switch (prize.prizeType) {
    case 'balance_bonus':
      return credit(t, winner, prize, prize.prizeValue);
    case 'subscription_days':
      return giveDays(t, winner, prize);
    case 'traffic_gb':
      return giveTraffic(t, winner, prize);
    case 'promocode':
      return givePromocode(t, winner, prize, config);
    default:
      return applied(text(winner.language, 'games.wheel_won_nothing'));
  }
}

const applied = (message: string, more: Partial<AppliedPrize> = {}): AppliedPrize => ({
  promocodeId: null,
  promocode: null,
  transactionId: null,
  message,
  ...more,
});

/** A pending subscription has no days and no traffic to extend. */
const usable = ({ subscription }: Winner) => (subscription?.status === 'pending' ? null : subscription);

/** A deposit without payment method is a bonus (spec 04 section 0.2). */
async function credit(t: App, winner: Winner, prize: WheelPrize, kopeks: number): Promise<AppliedPrize> {
  const { language } = winner;
  if (kopeks <= 0) return applied(text(language, 'games.wheel_won_nothing'));
  const posting = await postMovement(t, {
    userId: winner.userId,
    type: 'deposit',
    amountKopeks: kopeks,
    contra: { kind: 'bonus_expense', bonus: 'wheel' },
    paymentMethod: null,
    description: text(language, 'games.transaction_wheel_prize', { prize: prize.displayName }),
  });
  if (posting.outcome !== 'posted') throw new Error(`a wheel prize was ${posting.outcome}`);
  const message = text(language, 'games.wheel_won_money', { amount: formatPrice(kopeks, false) });
  return applied(message, { transactionId: posting.transactionId });
}

async function giveDays(t: App, winner: Winner, prize: WheelPrize): Promise<AppliedPrize> {
  const subscription = usable(winner);
  if (!subscription) return credit(t, winner, prize, prize.prizeValueKopeks);
  const { tariff } = winner;
  if (tariff?.isDaily) {
    const kopeks = tariff.dailyPriceKopeks > 0 ? prize.prizeValue * tariff.dailyPriceKopeks : prize.prizeValueKopeks;
    return credit(t, winner, prize, kopeks);
  }
  const days = Math.min(prize.prizeValue, MAX_PRIZE_DAYS);
  const now = t.clock.now();
  const from = subscription.endDate.getTime() > now.getTime() ? subscription.endDate : now;
  const isRevived = subscription.status === 'expired' && days > 0;
  const changes = { endDate: addDays(from, days), ...(isRevived ? { status: 'active' as const } : {}) };
  await applyManualChange(t, subscription.id, { changes, forgetsNotices: true });
  return applied(text(winner.language, 'games.wheel_won_days', { days }));
}

async function giveTraffic(t: App, winner: Winner, prize: WheelPrize): Promise<AppliedPrize> {
  const subscription = usable(winner);
  if (!subscription || subscription.trafficLimitGb <= 0) return credit(t, winner, prize, prize.prizeValueKopeks);
  const gb = Math.min(prize.prizeValue, MAX_TRAFFIC_GB);
  const trafficLimitGb = subscription.trafficLimitGb + gb;
  const isBelowLimit = subscription.status === 'limited' && trafficLimitGb > subscription.trafficUsedGb;
  const isRevived = isBelowLimit && subscription.endDate.getTime() > t.clock.now().getTime();
  await applyManualChange(t, subscription.id, {
    changes: { trafficLimitGb, ...(isRevived ? { status: 'active' as const } : {}) },
  });
  return applied(text(winner.language, 'games.wheel_won_traffic', { gb }));
}

/** A prize stored before its values were checked may be a code that gives nothing: it is paid in money. */
async function givePromocode(t: App, winner: Winner, prize: WheelPrize, config: WheelConfig): Promise<AppliedPrize> {
  if (!hasCodeValue(prize)) return credit(t, winner, prize, prize.prizeValueKopeks);
  const days = Math.min(prize.promoSubscriptionDays, MAX_PRIZE_DAYS);
  const prefix = codePrefix(config.promoPrefix);
  for (let attempt = 0; attempt < CODE_TRIES; attempt++) {
    const code = normaliseCode(`${prefix}${hexToken(t.random, CODE_BYTES)}`);
    const promocodeId = await issuePromocode(t, {
      code,
      balanceBonusKopeks: prize.promoBalanceBonusKopeks,
      subscriptionDays: days,
      validUntil: addDays(t.clock.now(), config.promoValidityDays),
      createdBy: winner.userId,
    });
    const message = text(winner.language, 'games.wheel_won_promocode', { code });
    if (promocodeId !== null) return applied(message, { promocodeId, promocode: code });
  }
  throw new Error('no free promo code was found');
}

/**
 * The prefix in the form of codes. Codes are looked up trimmed and in upper case: a leading blank would make a code that cannot be
 * activated, and upper case can be three times as long.
 */
function codePrefix(prefix: string): string {
  return firstCharacters(normaliseCode(prefix), MAX_PREFIX_LENGTH);
}
