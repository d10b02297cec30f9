import type { components } from './generated/openapi.d.ts';

export type Conditions = components['schemas']['ButtonConditions'];

/** What the conditions of the menu are compared with. */
export interface MenuFacts {
  isSubscribed: boolean;
  isTrial: boolean;
  hasTrafficLimit: boolean;
  hasAutopay: boolean;
  hasHadPaid: boolean;
  daysLeft: number;
  balanceKopeks: number;
  registeredDays: number;
  referrals: number;
  promoGroupId: number | null;
  /** Features by the name of their condition. */
  features: ReadonlySet<string>;
}

/** Whether a row or button is shown: all conditions have to be met; null and false are none. */
export function isMet(conditions: Conditions | null | undefined, facts: MenuFacts): boolean {
  if (!conditions) return true;
  return Object.entries(conditions).every(([name, wanted]) => {
    if (wanted === null || wanted === undefined || wanted === false) return true;
    return wanted === true ? isTrue(name, facts) : isWithin(name, wanted, facts);
  });
}

function isTrue(name: string, facts: MenuFacts): boolean {
  switch (name) {
    case 'has_active_subscription':
    case 'subscription_is_active':
      return facts.isSubscribed;
    case 'has_traffic_limit':
      return facts.hasTrafficLimit;
    case 'show_trial':
      return !facts.hasHadPaid && !facts.isSubscribed;
    case 'show_buy':
      return !facts.isSubscribed || facts.isTrial;
    case 'has_referrals':
      return facts.referrals > 0;
    case 'is_trial_user':
      return facts.isTrial;
    case 'has_autopay':
      return facts.hasAutopay;
    default:
      // Features by their settings. Administration is not part of this bot, so that its conditions are never met.
      return facts.features.has(name);
  }
}

function isWithin(name: string, wanted: unknown, facts: MenuFacts): boolean {
  const group = String(facts.promoGroupId);
  if (Array.isArray(wanted)) {
    if (wanted.length === 0) return true;
    return name === 'exclude_promo_group_ids' ? !wanted.map(String).includes(group) : wanted.map(String).includes(group);
  }
  const values: Record<string, number> = {
    balance_kopeks: facts.balanceKopeks,
    registration_days: facts.registeredDays,
    referrals: facts.referrals,
    has_subscription_days_left: facts.daysLeft,
    subscription_days_left: facts.daysLeft,
  };
  const value = values[name.replace(/^(?:min|max)_/, '')];
  if (value === undefined) return false;
  return name.startsWith('max_') ? value <= Number(wanted) : value >= Number(wanted);
}
