/** Spec 07 section 4.4, and the tables of sales of 4.1: what of an import is changed afterwards is found (hazard I34). */
import { expect, onTestFinished, test } from 'vitest';
import { addGrowth, GROWTH_TABLES } from '../../support/growth-imports.ts';
import { importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

/** One row of each table that has no deviation, and a change of it; by id of the source. */
const CHANGES: Readonly<Record<string, readonly [id: string, change: string]>> = {
  promocodes: ['9001', 'current_uses = 1'],
  promocode_uses: ['9001', 'user_id = 23'],
  discount_offers: ['9001', 'discount_percent = 11'],
  promo_offer_templates: ['9001', 'valid_hours = 25'],
  promo_offer_logs: ['9001', 'percent = 11'],
  subscription_temporary_access: ['9001', 'is_active = false'],
  advertising_campaigns: ['9001', `start_parameter = 'flyer_nov'`],
  advertising_campaign_registrations: ['9001', `created_at = '2026-02-02'`],
  referral_earnings: ['9001', 'amount_kopeks = 701'],
  partner_applications: ['9001', 'approved_commission_percent = 26'],
  polls: ['9001', 'reward_amount_kopeks = 501'],
  poll_questions: ['9001', `text = 'x'`],
  poll_options: ['9001', `text = 'x'`],
  poll_responses: ['9001', 'reward_given = false'],
  poll_answers: ['9001', 'option_id = 9002'],
  wheel_configs: ['7', 'daily_spin_limit = 6'],
  wheel_prizes: ['9001', 'prize_value = 1001'],
  wheel_spins: ['9001', 'is_applied = false'],
  referral_contests: ['9001', 'is_active = false'],
  referral_contest_events: ['9001', 'amount_kopeks = 1'],
  referral_contest_virtual_participants: ['9001', 'referral_count = 4'],
  contest_templates: ['9001', 'max_winners = 3'],
  contest_rounds: ['9001', 'winners_count = 0'],
  contest_attempts: ['9001', 'is_winner = false'],
  landing_pages: ['9001', 'discount_percent = 21'],
  guest_purchases: ['9001', 'amount_kopeks = 24901'],
  payment_method_configs: ['1', 'is_enabled = false'],
  payment_method_promo_groups: ['1:3', 'promo_group_id = 2'],
  saved_payment_methods: ['9001', `card_last4 = '1235'`],
  withdrawal_requests: ['9001', 'amount_kopeks = 50001'],
};

test.skipIf(!serverUrl)('a row of any table that was changed afterwards is found', async () => {
  const imported = await importedFrom(['--version', 'v4'], async (source) => {
    await addGrowth(source);
    await source.query("UPDATE wheel_configs SET spin_cost_stars = 10, promo_prefix = 'W'");
  });
  onTestFinished(() => imported.drop());
  const stars = "method_id = 'messenger_stars'";
  const others: Record<string, string> = {
    wheel_configs: 'id = 1',
    payment_method_configs: stars,
    payment_method_promo_groups: stars,
  };
  for (const [table, [id, change]] of Object.entries(CHANGES)) {
    const changed = await imported.rows(
      `UPDATE ${table} SET ${change} WHERE ${others[table] ?? `id = ${id}`} RETURNING 1 AS changed`,
    );
    expect([table, changed.length]).toEqual([table, 1]);
  }
  const { differences } = await imported.verify();
  const found = new Set(differences.map(({ table, id }) => `${table} ${id}`));
  const expected = Object.entries(CHANGES).map(([table, [id]]) => `${table} ${id}`);
  expect(expected.filter((row) => !found.has(row))).toEqual([]);
  expect(Object.keys(CHANGES).sort()).toEqual([...GROWTH_TABLES].sort());
});
