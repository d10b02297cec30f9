/** Rows of growth and sales in databases of the existing product. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';

/** Tables of growth and sales. */
export const GROWTH_TABLES = `
  promocodes promocode_uses discount_offers promo_offer_templates promo_offer_logs subscription_temporary_access
  advertising_campaigns advertising_campaign_registrations referral_earnings partner_applications polls
  poll_questions poll_options poll_responses poll_answers wheel_configs wheel_prizes wheel_spins referral_contests
  referral_contest_events referral_contest_virtual_participants contest_templates contest_rounds contest_attempts
  landing_pages guest_purchases payment_method_configs payment_method_promo_groups saved_payment_methods
  withdrawal_requests
`
  .trim()
  .split(/\s+/);

const rows = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'import-source', 'broken-growth.sql'), 'utf8');

/** Adds rows of tables that the generator leaves empty, sound ones and one for almost every rule. */
export const addGrowth = (source: pg.Client) => source.query(rows);
