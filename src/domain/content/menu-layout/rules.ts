import {
  BOUND_CONDITIONS,
  type BoundCondition,
  type Conditions,
  FLAG_CONDITIONS,
  type MenuContext,
  type MenuDocument,
  type Visibility,
} from './types.ts';

/** `{name}` of every placeholder that texts may contain. */
const PLACEHOLDER_NAMES = [
  'balance',
  'username',
  'subscription_days',
  'traffic_used',
  'traffic_left',
  'referral_count',
  'referral_earnings',
] as const;

const PLACEHOLDER = new RegExp(`\\{(?:${PLACEHOLDER_NAMES.join('|')})\\}`);

/** Whether a text in any language contains a placeholder. */
export function containsPlaceholder(text: Readonly<Record<string, string>>): boolean {
  return Object.values(text).some((value) => PLACEHOLDER.test(value));
}

const BOUNDS: Readonly<Record<BoundCondition, (bound: number, context: MenuContext) => boolean>> = {
  min_balance_kopeks: (bound, context) => context.balanceKopeks >= bound,
  max_balance_kopeks: (bound, context) => context.balanceKopeks <= bound,
  min_registration_days: (bound, context) => context.registrationDays >= bound,
  max_registration_days: (bound, context) => context.registrationDays <= bound,
  min_referrals: (bound, context) => context.referralCount >= bound,
  has_subscription_days_left: (bound, context) => context.subscriptionDaysLeft >= bound,
  max_subscription_days_left: (bound, context) => context.subscriptionDaysLeft <= bound,
};

/** Whether all are met; a false switch and an empty list are no requirement. */
export function areConditionsMet(conditions: Conditions | null, context: MenuContext): boolean {
  if (conditions === null) return true;
  const group = context.promoGroupId === null ? null : String(context.promoGroupId);
  const { promo_group_ids: only = [], exclude_promo_group_ids: without = [] } = conditions;
  return (
    FLAG_CONDITIONS.every((name) => conditions[name] !== true || context.flags[name]) &&
    BOUND_CONDITIONS.every((name) => {
      const bound = conditions[name];
      return bound === undefined || BOUNDS[name](bound, context);
    }) &&
    (only.length === 0 || (group !== null && only.includes(group))) &&
    (group === null || !without.includes(group))
  );
}

export function isVisibleTo(visibility: Visibility, context: MenuContext): boolean {
  const { flags } = context;
  switch (visibility) {
    case 'admins':
      return flags.is_admin;
    case 'moderators':
      return flags.is_moderator;
    case 'subscribers':
      return flags.has_active_subscription && flags.subscription_is_active;
    case 'all':
      return true;
  }
}

/** A button by its id; an inherited property such as `constructor` is none. */
export function buttonOf(document: Pick<MenuDocument, 'buttons'>, id: string) {
  return Object.hasOwn(document.buttons, id) ? document.buttons[id] : undefined;
}
