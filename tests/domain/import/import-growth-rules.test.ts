/** Spec 07 section 7: each rule of growth and sales has its code, and no row is lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGrowth, GROWTH_TABLES } from '../../support/growth-imports.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

/** Rows of broken-growth.sql that are kept aside whole, by code. */
const PARKED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  promocodes: { promocode_type_missing: '9002' },
  promocode_uses: { unique_duplicate: '9002', promocode_use_orphan: '9003' },
  discount_offers: { discount_offer_orphan: '9002' },
  subscription_temporary_access: { unique_duplicate: '9002', temporary_access_orphan: '9003 9004' },
  advertising_campaigns: { unique_duplicate: '9002' },
  advertising_campaign_registrations: { campaign_registration_orphan: '9002 9003', campaign_registration_second: '9004' },
  referral_earnings: { earning_negative: '9003' },
  partner_applications: { application_orphan: '9002' },
  poll_questions: { poll_question_orphan: '9003' },
  poll_options: { poll_option_orphan: '9004' },
  poll_responses: { unique_duplicate: '9002', poll_response_orphan: '9003 9004' },
  poll_answers: { unique_duplicate: '9002', poll_answer_mismatch: '9003', poll_answer_orphan: '9004 9005' },
  wheel_configs: { wheel_config_second: '8' },
  wheel_prizes: { wheel_prize_orphan: '9003' },
  wheel_spins: { wheel_payment_unknown: '9004', wheel_spin_orphan: '9005' },
  referral_contest_events: {
    unique_duplicate: '9002',
    contest_event_orphan: '9003 9004',
    contest_event_self: '9005',
    contest_event_unknown: '9006',
  },
  referral_contest_virtual_participants: { contest_participant_orphan: '9002' },
  contest_templates: { unique_duplicate: '9002' },
  contest_rounds: { contest_round_orphan: '9002' },
  contest_attempts: { unique_duplicate: '9002', contest_attempt_orphan: '9003 9004' },
  landing_pages: { slug_invalid: '9002', unique_duplicate: '9003' },
  guest_purchases: { gift_code_collision: '9002', guest_purchase_invalid: '9004 9005' },
  payment_method_configs: { payment_method_unknown: '9002' },
  payment_method_promo_groups: { payment_method_promo_group_orphan: '9001:99999 9002:3' },
  saved_payment_methods: { unique_duplicate: '9002', saved_payment_method_orphan: '9003', saved_payment_method_invalid: '9004' },
  withdrawal_requests: { withdrawal_amount_invalid: '9003', withdrawal_request_orphan: '9004' },
};

/** Rows that stay, by code. */
const REPAIRED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  promocode_uses: { created_at_null: '9004' },
  promocodes: {
    promocode_bounds: '9003',
    promocode_case: '9004',
    link_missing: '9006',
    promocode_kind_unknown: '9007',
    date_out_of_range: '9008',
    promocode_expired: '9008',
  },
  discount_offers: { link_missing: '9003', discount_offer_bounds: '9003' },
  promo_offer_templates: { offer_template_bounds: '9002' },
  promo_offer_logs: { link_missing: '9002 9002' },
  subscription_temporary_access: { temporary_access_ended: '9005' },
  advertising_campaigns: { link_missing: '9003 9003', campaign_bounds: '9003' },
  advertising_campaign_registrations: { campaign_registration_bounds: '9005' },
  referral_earnings: {
    link_missing: '9002 9005',
    earning_source_repeated: '9002',
    earning_pending_paid: '9004',
    earning_reason_unknown: '9004',
    earning_source_missing: '9002 9004 9005',
  },
  partner_applications: { application_status_unknown: '9003', application_bounds: '9003' },
  polls: { poll_reward_off: '9002 9003' },
  poll_responses: { poll_reward_off: '9005', poll_response_times: '9005' },
  wheel_configs: { wheel_bounds: '7' },
  wheel_prizes: { wheel_bounds: '9002' },
  wheel_spins: { unique_duplicate: '9002', link_missing: '9002 9002', wheel_bounds: '9003' },
  referral_contests: { column_unknown: '9001', contest_bounds: '9002' },
  referral_contest_events: { contest_bounds: '9007' },
  contest_templates: { contest_bounds: '9003' },
  contest_rounds: { column_unknown: '9001', contest_bounds: '9003' },
  landing_pages: { landing_discount_invalid: '9004', landing_content_invalid: '9005' },
  guest_purchases: {
    column_unknown: '9001',
    link_missing: '9003 9003',
    guest_purchase_status_unknown: '9006',
    guest_purchase_times: '9007',
    guest_purchase_recipient: '9007 9008',
    guest_purchase_bounds: '9008',
  },
  payment_method_configs: { payment_method_bounds: '9001' },
  withdrawal_requests: {
    column_unknown: '9005',
    withdrawal_status_unknown: '9005',
    withdrawal_bounds: '9005',
    link_missing: '9005',
  },
};

describe.skipIf(!serverUrl)('rows for each rule (left out without a server: TEST_DATABASE_URL)', () => {
  let imported: Imported;
  /** Keys of this part's rows by table and code. */
  let issues: Record<string, Record<string, string>>;
  beforeAll(async () => {
    imported = await importedFrom(['--version', 'v4'], addGrowth);
    issues = {};
    const listed = await imported.rows<{ sourceTable: string; code: string; keys: string }>(
      `SELECT source_table, code, string_agg(subject, ' ' ORDER BY subject) AS keys FROM import_issues
       WHERE (subject ~ '^9\\d{3}' OR source_table = 'wheel_configs') AND source_table IN ('${GROWTH_TABLES.join("', '")}') GROUP BY 1, 2`,
    );
    for (const { sourceTable, code, keys } of listed) issues[sourceTable] = { ...issues[sourceTable], [code]: keys };
  });

  afterAll(() => imported.drop());

  test.each(GROWTH_TABLES)('has each deviation of %s under its code', (table) => {
    const expected: Record<string, string> = {};
    for (const kind of [PARKED, REPAIRED])
      for (const [code, ids] of Object.entries(kind[table] ?? {}))
        expected[code] = [expected[code], ids].filter(Boolean).join(' ');
    expect(issues[table] ?? {}).toEqual(expected);
  });

  test.each(GROWTH_TABLES)('reads as many rows of %s as it keeps and parks', async (table) => {
    const { read, kept, parked, merged } = imported.result.source[table]!;
    const [counted] = await imported.rows<{ rows: number }>(
      `SELECT count(*) AS rows FROM import_parked WHERE source_table = '${table}' AND is_whole AND source_id ~ '^(9\\d{3}|8$)'`,
    );
    expect(counted!.rows).toBe(
      Object.values(PARKED[table] ?? {})
        .join(' ')
        .split(' ')
        .filter(Boolean).length,
    );
    expect([kept + parked + merged, merged]).toEqual([read, 0]);
    expect(imported.result.tables[table]).toBe(kept);
    // Games of ours that the source lacks are added.
    if (table !== 'contest_templates')
      expect(await imported.rows(`SELECT count(*) AS rows FROM ${table}`)).toEqual([{ rows: kept }]);
  });

  test('differs from the source nowhere without a deviation', async () => {
    const { differences, checks } = await imported.verify();
    expect(differences.filter(({ table }) => GROWTH_TABLES.includes(table))).toEqual([]);
    expect(checks[0]).toMatchObject({ name: 'ledger', isOk: true });
  });
});
