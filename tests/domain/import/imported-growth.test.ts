/** Spec 07 section 4.4: what rows of growth and sales are here after an import, sound ones and repaired ones. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { rotateRounds } from '../../../src/domain/engagement/daily-contests/rounds.ts';
import { addGrowth } from '../../support/growth-imports.ts';
import { SOURCE_TIME } from '../../support/import-sources.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

describe.skipIf(!serverUrl)('an import of growth and sales (left out without a server: TEST_DATABASE_URL)', () => {
  let imported: Imported;
  beforeAll(async () => {
    imported = await importedFrom(['--version', 'v4'], addGrowth);
  });
  afterAll(() => imported.drop());

  test('keeps codes closed, and counts their uses on', async () => {
    expect(
      await imported.rows(
        'SELECT id, code, type, balance_bonus_kopeks, max_uses, current_uses, is_active FROM promocodes WHERE id > 9000 ORDER BY id',
      ),
    ).toEqual([
      { id: 9001, code: 'GOOD', type: 'discount', balanceBonusKopeks: 15, maxUses: 10, currentUses: 2, isActive: true },
      { id: 9003, code: 'HALF', type: 'discount', balanceBonusKopeks: 100, maxUses: 999999, currentUses: 0, isActive: true },
      { id: 9004, code: 'TWINS-9004', type: 'balance', balanceBonusKopeks: 100, maxUses: 5, currentUses: 1, isActive: false },
      { id: 9005, code: 'TWINS', type: 'balance', balanceBonusKopeks: 100, maxUses: 5, currentUses: 3, isActive: true },
      { id: 9006, code: 'LOST', type: 'balance', balanceBonusKopeks: 100, maxUses: 5, currentUses: 0, isActive: true },
      { id: 9007, code: 'STRANGE', type: 'balance', balanceBonusKopeks: 100, maxUses: 999999, currentUses: 2, isActive: false },
      { id: 9008, code: 'ENDED', type: 'balance', balanceBonusKopeks: 100, maxUses: 5, currentUses: 0, isActive: false },
    ]);
  });

  test('keeps no personal discount that ended before 2000', async () => {
    expect(await imported.rows('SELECT promo_offer_discount_percent FROM users WHERE id = 24')).toEqual([
      { promoOfferDiscountPercent: 0 },
    ]);
  });

  test('keeps the links of a campaign, and one registration a user', async () => {
    expect(
      await imported.rows(
        'SELECT start_parameter, bonus_type, tariff_id, tariff_duration_days, partner_user_id FROM advertising_campaigns WHERE id > 9000 ORDER BY id',
      ),
    ).toEqual([
      { startParameter: 'Flyer_Nov', bonusType: 'tariff', tariffId: 1, tariffDurationDays: 14, partnerUserId: 21 },
      { startParameter: 'odd', bonusType: 'none', tariffId: null, tariffDurationDays: null, partnerUserId: null },
    ]);
    expect(
      await imported.rows(
        'SELECT campaign_id, user_id, balance_bonus_kopeks FROM advertising_campaign_registrations WHERE id > 9000 ORDER BY id',
      ),
    ).toEqual([
      { campaignId: 9001, userId: 21, balanceBonusKopeks: 0 },
      { campaignId: 9003, userId: 23, balanceBonusKopeks: 0 },
    ]);
  });

  test('counts every kept earning, whatever its reason', async () => {
    expect(
      await imported.rows(
        'SELECT id, amount_kopeks, reason, referral_transaction_id, campaign_id FROM referral_earnings WHERE id > 9000 ORDER BY id',
      ),
    ).toEqual([
      { id: 9001, amountKopeks: 700, reason: 'referral_commission', referralTransactionId: 1, campaignId: 9001 },
      { id: 9002, amountKopeks: 700, reason: 'referral_commission', referralTransactionId: null, campaignId: null },
      { id: 9004, amountKopeks: 300, reason: 'referral_registration', referralTransactionId: null, campaignId: null },
      { id: 9005, amountKopeks: 900, reason: 'referral_first_topup', referralTransactionId: null, campaignId: null },
    ]);
    const [stats] = await imported.rows('SELECT earned_kopeks FROM referrer_stats WHERE user_id = 21');
    const [sum] = await imported.rows(
      'SELECT sum(amount_kopeks)::bigint AS earned_kopeks FROM referral_earnings WHERE user_id = 21',
    );
    expect(stats).toEqual(sum);
  });

  test('gives the places of a poll from 1, and finds the movement of a reward', async () => {
    expect(
      await imported.rows(
        'SELECT id, sort_order FROM poll_questions UNION ALL SELECT id, sort_order FROM poll_options ORDER BY id, sort_order',
      ),
    ).toEqual([
      { id: 9001, sortOrder: 1 },
      { id: 9001, sortOrder: 1 },
      { id: 9002, sortOrder: 2 },
      { id: 9002, sortOrder: 2 },
      { id: 9003, sortOrder: 1 },
    ]);
    expect(
      await imported.rows(
        'SELECT id, delivery_state, reward_given, reward_amount_kopeks, reward_transaction_id, completed_at FROM poll_responses ORDER BY id',
      ),
    ).toEqual([
      {
        id: 9001,
        deliveryState: 'sent',
        rewardGiven: true,
        rewardAmountKopeks: 500,
        rewardTransactionId: 900001,
        completedAt: new Date('2026-03-02T10:00:00Z'),
      },
      {
        id: 9005,
        deliveryState: 'sent',
        rewardGiven: true,
        rewardAmountKopeks: 0,
        rewardTransactionId: null,
        completedAt: new Date('2026-03-02T09:00:00Z'),
      },
    ]);
  });

  test('makes the wheel the only one, within its bounds', async () => {
    expect(await imported.rows('SELECT id, name, spin_cost_stars, promo_prefix FROM wheel_configs')).toEqual([
      { id: 1, name: 'Колесо', spinCostStars: 1000, promoPrefix: 'WHEEL' },
    ]);
    expect(
      await imported.rows(
        'SELECT id, config_id, prize_type, prize_value, color, manual_probability, is_active FROM wheel_prizes ORDER BY id',
      ),
    ).toEqual([
      {
        id: 9001,
        configId: 1,
        prizeType: 'balance_bonus',
        prizeValue: 1000,
        color: '#ffffff',
        manualProbability: 0.25,
        isActive: true,
      },
      { id: 9002, configId: 1, prizeType: 'nothing', prizeValue: 0, color: '#3B82F6', manualProbability: null, isActive: false },
    ]);
    expect(
      await imported.rows('SELECT id, payment_type, payment_amount, prize_id, external_charge_id FROM wheel_spins ORDER BY id'),
    ).toEqual([
      { id: 9001, paymentType: 'messenger_stars', paymentAmount: 10, prizeId: 9001, externalChargeId: 'charge-1' },
      { id: 9002, paymentType: 'messenger_stars', paymentAmount: 10, prizeId: null, externalChargeId: null },
      { id: 9003, paymentType: 'subscription_days', paymentAmount: 0, prizeId: 9001, externalChargeId: null },
    ]);
  });

  test('counts the scores of contests, and adds the games that the source lacks', async () => {
    expect(
      await imported.rows('SELECT id, closes_at, daily_summary_time, timezone, is_active FROM referral_contests ORDER BY id'),
    ).toEqual([
      {
        id: 9001,
        closesAt: new Date('2026-11-30T23:59:59.999Z'),
        dailySummaryTime: '18:30:00',
        timezone: 'Europe/Moscow',
        isActive: true,
      },
      { id: 9002, closesAt: new Date('2026-09-02T00:00:01Z'), dailySummaryTime: '12:00:00', timezone: 'UTC', isActive: false },
    ]);
    expect(await imported.rows('SELECT referrer_id, events, amount_kopeks FROM referral_contest_scores')).toEqual([
      { referrerId: 21, events: 2, amountKopeks: 24900 },
    ]);
    const templates = await imported.rows<{ id: number; slug: string; prizeValue: string }>(
      'SELECT id, slug, prize_value FROM contest_templates ORDER BY id',
    );
    expect(templates.slice(0, 2)).toEqual([
      { id: 9001, slug: 'anagram', prizeValue: '2' },
      { id: 9003, slug: 'odd', prizeValue: '1' },
    ]);
    expect(
      templates
        .slice(2)
        .map(({ slug }) => slug)
        .sort(),
    ).toEqual(['blitz_reaction', 'emoji_guess', 'letter_cipher', 'lock_hack', 'quest_buttons', 'server_lottery']);
  });

  test('keeps what was bought: by whom, with which invoice, and what is still to do', async () => {
    const purchases = await imported.rows(
      `SELECT g.id, g.code, g.status, g.contact_type, g.gift_recipient_type, g.is_gift, g.source, g.payment_method, p.external_id, g.paid_at, g.delivered_at, g.granted_at, g.next_attempt_at
       FROM guest_purchases g LEFT JOIN payments p ON p.id = g.payment_id WHERE g.id > 9000 ORDER BY g.id`,
    );
    const none = { giftRecipientType: null, isGift: false, source: 'landing', paymentMethod: null, externalId: null };
    const unpaid = { ...none, contactType: 'email', paidAt: null, deliveredAt: null, grantedAt: null, nextAttemptAt: null };
    const paidAt = new Date('2026-11-26T00:00:00Z');
    const deliveredAt = new Date('2026-11-27T00:00:00Z');
    const lateAt = new Date('2026-11-25T08:59:00Z');
    const gift = {
      contactType: 'messenger',
      giftRecipientType: 'email',
      isGift: true,
      source: 'cabinet',
      paymentMethod: 'messenger_stars',
    };
    const invoiced = { paymentMethod: 'wata', externalId: 'wata-by-number', paidAt, nextAttemptAt: SOURCE_TIME };
    expect(purchases).toEqual([
      { ...unpaid, id: 9001, code: 'AAAAAAAAAAAA', status: 'delivered', ...gift, paidAt, deliveredAt, grantedAt: deliveredAt },
      { ...unpaid, id: 9003, code: 'BBBBBBBBBBBB', status: 'paid', ...invoiced },
      { ...unpaid, id: 9006, code: 'DDDDDDDDDDDD', status: 'failed' },
      { ...unpaid, id: 9007, code: 'EEEEEEEEEEEE', status: 'pending' },
      {
        ...unpaid,
        id: 9008,
        code: 'FFFFFFFFFFFF',
        status: 'pending_activation',
        giftRecipientType: 'messenger',
        isGift: true,
        paidAt,
      },
      {
        ...unpaid,
        id: 9009,
        code: 'GGGGGGGGGGGG',
        status: 'delivered',
        paidAt: new Date('2026-11-20T00:00:00Z'),
        deliveredAt: lateAt,
        grantedAt: lateAt,
      },
    ]);
    const invoices = await imported.rows<{ isTheirs: boolean }>(
      `SELECT p.metadata ->> 'purchase_token' = g.token AS is_theirs FROM guest_purchases g JOIN payments p ON p.id = g.payment_id WHERE g.id < 9000`,
    );
    expect(invoices).toEqual([{ isTheirs: true }, { isTheirs: true }]);
  });

  test('keeps the password of a new account for three days, and no other secret of purchases', async () => {
    expect(
      await imported.rows(
        'SELECT id, cabinet_password, auto_login_token FROM guest_purchases WHERE cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL',
      ),
    ).toEqual([{ id: 9001, cabinetPassword: 'fresh-password', autoLoginToken: null }]);
    const [parked] = await imported.rows<{ text: string }>(
      `SELECT string_agg(row::text, ' ') || (SELECT string_agg(coalesce(detail::text, ''), ' ') FROM import_issues) AS text FROM import_parked`,
    );
    expect(parked!.text).toContain('CCCCCCCCCCCCzero');
    for (const secret of ['fresh-password', 'old-password', 'parked-password', 'a-login-token', 'shown-long-ago'])
      expect(parked!.text).not.toContain(secret);
  });

  test('offers methods as before, and reserves nothing for payouts', async () => {
    expect(
      await imported.rows(
        'SELECT method_id, min_amount_kopeks, max_amount_kopeks, user_type_filter, first_topup_filter FROM payment_method_configs ORDER BY sort_order',
      ),
    ).toEqual([
      { methodId: 'yookassa', minAmountKopeks: null, maxAmountKopeks: null, userTypeFilter: 'all', firstTopupFilter: 'any' },
      {
        methodId: 'messenger_stars',
        minAmountKopeks: 1000,
        maxAmountKopeks: null,
        userTypeFilter: 'messenger',
        firstTopupFilter: 'any',
      },
      { methodId: 'wata', minAmountKopeks: 500, maxAmountKopeks: null, userTypeFilter: 'messenger', firstTopupFilter: 'any' },
    ]);
    expect(await imported.rows('SELECT method_id, promo_group_id FROM payment_method_promo_groups ORDER BY method_id')).toEqual([
      { methodId: 'messenger_stars', promoGroupId: 3 },
      { methodId: 'wata', promoGroupId: 3 },
    ]);
    expect(
      await imported.rows('SELECT provider, provider_method_id, expiry_month, expiry_year FROM saved_payment_methods'),
    ).toEqual([{ provider: 'yookassa', providerMethodId: 'method-1', expiryMonth: '01', expiryYear: '2030' }]);
    expect(
      await imported.rows(
        'SELECT id, status, risk_score, processed_by, reserve_transaction_id, transaction_id FROM withdrawal_requests ORDER BY id',
      ),
    ).toEqual([
      { id: 9001, status: 'pending', riskScore: 10, processedBy: null, reserveTransactionId: null, transactionId: null },
      { id: 9002, status: 'completed', riskScore: 0, processedBy: 21, reserveTransactionId: null, transactionId: null },
      { id: 9005, status: 'pending', riskScore: 100, processedBy: null, reserveTransactionId: null, transactionId: null },
    ]);
  });
});

test.skipIf(!serverUrl)('I19: a daily game that had its round of today has no second one, whoever closed the first', async () => {
  const imported = await importedFrom(
    ['--users', '40'],
    (source) =>
      // Raw SQL: rows of the other product's database.
      source.query(`INSERT INTO contest_templates (id, name, slug, prize_type, prize_value, max_winners, attempts_per_user, times_per_day, schedule_times, cooldown_hours, is_enabled)
          VALUES (9001, 'Blitz', 'blitz_reaction', 'days', '1', 1, 1, 1, '08:00', 12, true);
        INSERT INTO contest_rounds (id, template_id, starts_at, ends_at, status, winners_count, max_winners, attempts_per_user)
          VALUES (9001, 9001, '2026-11-28T08:00:00Z', '2026-11-28T20:00:00Z', 'finished', 1, 1, 1),
            (9002, 9001, '2026-11-27T08:00:00Z', '2026-11-27T20:00:00Z', 'finished', 1, 1, 1),
            (9003, 9001, '2026-11-27T08:00:00Z', '2026-11-27T20:00:00Z', 'finished', 0, 1, 1),
            (9004, 9001, '2026-11-26T08:00:00.25Z', '2026-11-26T20:00:00Z', 'finished', 0, 1, 1)`),
    { CONTESTS_ENABLED: 'true', TIMEZONE: 'UTC' },
  );
  onTestFinished(() => imported.drop());
  await rotateRounds(imported.app);
  expect(await imported.rows('SELECT id, is_scheduled FROM contest_rounds ORDER BY id')).toEqual([
    { id: 9001, isScheduled: true },
    { id: 9002, isScheduled: true },
    { id: 9003, isScheduled: false },
    { id: 9004, isScheduled: false },
  ]);
});
