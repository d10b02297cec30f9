/**
 * The dictionary of field texts: meaning, unit, range, when null. A key is a field name, or narrower `Component.field`,
 * `METHOD /path.field` (of a body without a component) or `outer.field`; the narrowest key wins.
 */
import { ADMIN_STATISTICS_FIELDS } from './fields/admin-statistics.ts';
import { ADMINISTRATION_FIELDS } from './fields/administration.ts';
import { BACKUP_FIELDS } from './fields/backups.ts';
import { BAN_SYSTEM_FIELDS } from './fields/ban-system.ts';
import { BRANDING_FIELDS } from './fields/branding.ts';
import { BROADCAST_FIELDS } from './fields/broadcasts.ts';
import { CATALOG_FIELDS } from './fields/catalog.ts';
import { CONTENT_FIELDS } from './fields/content.ts';
import { CONTEST_FIELDS } from './fields/contests.ts';
import { ENGAGEMENT_FIELDS } from './fields/engagement.ts';
import { GENERAL_FIELDS } from './fields/general.ts';
import { GIFT_FIELDS } from './fields/gifts.ts';
import { IDENTITY_FIELDS } from './fields/identity.ts';
import { LOG_FIELDS } from './fields/logs.ts';
import { MINIAPP_FIELDS } from './fields/miniapp.ts';
import { MONEY_FIELDS } from './fields/money.ts';
import { PAGE_FIELDS } from './fields/pages.ts';
import { PANEL_FIELDS } from './fields/panel.ts';
import { PINNED_MESSAGE_FIELDS } from './fields/pinned-messages.ts';
import { PROMO_FIELDS } from './fields/promo.ts';
import { REFERRAL_FIELDS } from './fields/referrals.ts';
import { STATISTICS_FIELDS } from './fields/statistics.ts';
import { STOREFRONT_FIELDS } from './fields/storefront.ts';
import { SUBSCRIPTION_FIELDS } from './fields/subscriptions.ts';
import { SUPPORT_FIELDS } from './fields/support.ts';
import { mergeTexts } from './merge-texts.ts';

export const FIELD_DESCRIPTIONS = mergeTexts([
  GENERAL_FIELDS,
  LOG_FIELDS,
  IDENTITY_FIELDS,
  MONEY_FIELDS,
  SUBSCRIPTION_FIELDS,
  MINIAPP_FIELDS,
  CATALOG_FIELDS,
  PROMO_FIELDS,
  REFERRAL_FIELDS,
  ENGAGEMENT_FIELDS,
  CONTEST_FIELDS,
  STATISTICS_FIELDS,
  ADMIN_STATISTICS_FIELDS,
  STOREFRONT_FIELDS,
  GIFT_FIELDS,
  SUPPORT_FIELDS,
  BROADCAST_FIELDS,
  PINNED_MESSAGE_FIELDS,
  CONTENT_FIELDS,
  PAGE_FIELDS,
  BACKUP_FIELDS,
  BRANDING_FIELDS,
  PANEL_FIELDS,
  ADMINISTRATION_FIELDS,
  BAN_SYSTEM_FIELDS,
]);
