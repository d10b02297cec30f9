/**
 * The dictionary of field texts: meaning, unit, range, when null. A key is a field name, or narrower `Component.field`,
 * `METHOD /path.field` (of a body without a component) or `outer.field`; the narrowest key wins.
 */
import { ADMINISTRATION_FIELDS } from './fields/administration.ts';
import { BACKUP_FIELDS } from './fields/backups.ts';
import { BRANDING_FIELDS } from './fields/branding.ts';
import { BROADCAST_FIELDS } from './fields/broadcasts.ts';
import { CATALOG_FIELDS } from './fields/catalog.ts';
import { CONTENT_FIELDS } from './fields/content.ts';
import { ENGAGEMENT_FIELDS } from './fields/engagement.ts';
import { GENERAL_FIELDS } from './fields/general.ts';
import { GIFT_FIELDS } from './fields/gifts.ts';
import { IDENTITY_FIELDS } from './fields/identity.ts';
import { MINIAPP_FIELDS } from './fields/miniapp.ts';
import { MONEY_FIELDS } from './fields/money.ts';
import { PAGE_FIELDS } from './fields/pages.ts';
import { PANEL_FIELDS } from './fields/panel.ts';
import { PROMO_FIELDS } from './fields/promo.ts';
import { REFERRAL_FIELDS } from './fields/referrals.ts';
import { STATISTICS_FIELDS } from './fields/statistics.ts';
import { STOREFRONT_FIELDS } from './fields/storefront.ts';
import { SUBSCRIPTION_FIELDS } from './fields/subscriptions.ts';
import { SUPPORT_FIELDS } from './fields/support.ts';
import { mergeTexts } from './merge-texts.ts';

export const FIELD_DESCRIPTIONS = mergeTexts([
  GENERAL_FIELDS,
  IDENTITY_FIELDS,
  MONEY_FIELDS,
  SUBSCRIPTION_FIELDS,
  MINIAPP_FIELDS,
  CATALOG_FIELDS,
  PROMO_FIELDS,
  REFERRAL_FIELDS,
  ENGAGEMENT_FIELDS,
  STATISTICS_FIELDS,
  STOREFRONT_FIELDS,
  GIFT_FIELDS,
  SUPPORT_FIELDS,
  BROADCAST_FIELDS,
  CONTENT_FIELDS,
  PAGE_FIELDS,
  BACKUP_FIELDS,
  BRANDING_FIELDS,
  PANEL_FIELDS,
  ADMINISTRATION_FIELDS,
]);
