/** The chat menu's layout as one document (spec 05 section 7.1). Documents are never changed in place. */
import type { Rows } from '../../../core/db/columns.ts';

export const BUTTON_TYPES = ['builtin', 'url', 'mini_app', 'callback'] as const;
export type ButtonType = (typeof BUTTON_TYPES)[number];

export const VISIBILITIES = ['all', 'admins', 'moderators', 'subscribers'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export const OPEN_MODES = ['callback', 'direct'] as const;
export type OpenMode = (typeof OPEN_MODES)[number];

/** Conditions that are switches: only `true` is a requirement. */
export const FLAG_CONDITIONS = [
  'has_active_subscription',
  'subscription_is_active',
  'has_traffic_limit',
  'is_admin',
  'is_moderator',
  'referral_enabled',
  'contests_visible',
  'support_enabled',
  'language_selection_enabled',
  'happ_enabled',
  'simple_subscription_enabled',
  'show_trial',
  'show_buy',
  'has_saved_cart',
  'has_referrals',
  'is_trial_user',
  'has_autopay',
] as const;
export type FlagCondition = (typeof FLAG_CONDITIONS)[number];

/** Conditions that are bounds, both included: kopeks, days, people. */
export const BOUND_CONDITIONS = [
  'min_balance_kopeks',
  'max_balance_kopeks',
  'min_registration_days',
  'max_registration_days',
  'min_referrals',
  'has_subscription_days_left',
  'max_subscription_days_left',
] as const;
export type BoundCondition = (typeof BOUND_CONDITIONS)[number];

/** Conditions that are lists of promo group ids, written as text. */
export const GROUP_CONDITIONS = ['promo_group_ids', 'exclude_promo_group_ids'] as const;
export type GroupCondition = (typeof GROUP_CONDITIONS)[number];

/** Requirements for showing a row or a button; an absent key is none. */
export type Conditions = Readonly<
  Partial<Record<FlagCondition, boolean>> &
    Partial<Record<BoundCondition, number>> &
    Partial<Record<GroupCondition, readonly string[]>>
>;

export interface MenuRow {
  readonly id: string;
  readonly buttons: readonly string[];
  readonly conditions: Conditions | null;
  readonly max_per_row: number;
}

export interface MenuButton {
  readonly type: ButtonType;
  readonly builtin_id: string | null;
  /** Text by language. */
  readonly text: Readonly<Record<string, string>>;
  readonly icon: string | null;
  /** Callback data, or an address. */
  readonly action: string;
  readonly enabled: boolean;
  readonly visibility: Visibility;
  readonly conditions: Conditions | null;
  readonly dynamic_text: boolean;
  readonly open_mode: OpenMode;
  readonly webapp_url: string | null;
  readonly description: string | null;
  readonly sort_order: number | null;
}

/** Its fields are named as they are stored and sent, because exported documents are imported again unchanged. */
export interface MenuDocument {
  readonly version: number;
  readonly rows: readonly MenuRow[];
  readonly buttons: Readonly<Record<string, MenuButton>>;
}

export interface StoredLayout {
  document: MenuDocument;
  /** Null while the default is unchanged. */
  updatedAt: Date | null;
}

export type LayoutAction = Rows['MenuLayoutHistory']['action'];

/** An edit, without the document it resulted in. */
export type HistoryEntry = Omit<Rows['MenuLayoutHistory'], 'layoutName' | 'document'>;

/** A finding of `validateLayout`. */
export interface LayoutProblem {
  field: string;
  message: string;
  severity: 'error' | 'warning';
}

/** The user that the menu is built for, and the features that are on (spec 05 section 7.2). */
export interface MenuContext {
  language: string;
  /** Named like the conditions that require them. */
  flags: Readonly<Record<FlagCondition, boolean>>;
  /** Traffic can be bought, also in this sales mode; the built-in `buy_traffic` requires it. */
  isTrafficTopupOffered: boolean;
  balanceKopeks: number;
  registrationDays: number;
  referralCount: number;
  /** Whole days; 0 without a subscription. */
  subscriptionDaysLeft: number;
  promoGroupId: number | null;
  /** Texts of `{placeholders}`. */
  placeholders: Readonly<Record<string, string>>;
}
