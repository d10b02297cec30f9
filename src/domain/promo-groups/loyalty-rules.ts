import type { PromoGroup } from './types.ts';

/** A promo group that users get by their total spending. */
export interface LoyaltyTier {
  group: PromoGroup;
  /** Kopeks. */
  thresholdKopeks: number;
}

export interface LoyaltyStatus {
  tiers: (LoyaltyTier & { isAchieved: boolean; isCurrent: boolean })[];
  /** Kopeks. */
  spentKopeks: number;
  current: LoyaltyTier | null;
  next: LoyaltyTier | null;
  /** 0 to 100, two decimals. */
  progressPercent: number;
}

/**
 * Progress of a user, by spending and not by membership (spec 04 section 9.5): current = the highest tier reached, next = the first
 * one that is not.
 * @param tiers by threshold, lowest first
 */
export function loyaltyStatus(tiers: readonly LoyaltyTier[], spentKopeks: number): LoyaltyStatus {
  const reached = tiers.filter((tier) => spentKopeks >= tier.thresholdKopeks);
  const current = reached.at(-1) ?? null;
  const next = tiers.find((tier) => spentKopeks < tier.thresholdKopeks) ?? null;
  return {
    tiers: tiers.map((tier) => ({ ...tier, isAchieved: reached.includes(tier), isCurrent: tier === current })),
    spentKopeks,
    current,
    next,
    progressPercent: progressOf(tiers, next, spentKopeks),
  };
}

function progressOf(tiers: readonly LoyaltyTier[], next: LoyaltyTier | null, spentKopeks: number): number {
  if (tiers.length === 0) return 0;
  if (next === null) return 100;
  return Math.min(100, Math.floor((spentKopeks * 10_000) / next.thresholdKopeks) / 100);
}
