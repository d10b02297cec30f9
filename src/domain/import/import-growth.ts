import {
  assignIds,
  clearMissingLinks,
  isCutEnd,
  isIdOf,
  listMissingTimes,
  parkRepeated,
  wordList,
  wordOf,
} from './import-row-rules.ts';
import {
  applyRule,
  cutTime,
  type ImportContext,
  type ImportStep,
  nextTable,
  parkOrphans,
  sourceTable,
  sqlTime,
  transfer,
} from './import-step.ts';

const CODES = sourceTable('promocodes');
const USES = sourceTable('promocode_uses');
const KNOWN_TYPES = wordList(['balance', 'subscription_days', 'trial_subscription', 'promo_group', 'discount']);
/** Stands for "no limit" (spec 07 section 4.4). */
const UNLIMITED = 999_999;
/** Length of a code here. */
const CODE_LENGTH = 50;

/** Promo codes and their uses (spec 07 section 4.4): no code that was used up opens again (hazard I19). */
export const promocodeStep: ImportStep = {
  name: 'promo codes',
  async prepare(context) {
    await repairPromocodes(context);
    await settleCodes(context);
    await repairUses(context);
    await makePromocodes(context);
  },
};

async function repairPromocodes(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  const table = 'promocodes';
  await applyRule(context, {
    ...{ code: 'promocode_type_missing', table, isParked: true },
    find: `SELECT id FROM ${CODES} WHERE ${wordOf('type')} IS NULL`,
  });
  await clearMissingLinks(context, table, { promo_group_id: 'promo_groups', created_by: 'users' });
  // Rows of uses vanish with deactivations and deleted users: the stored number counts where it is higher.
  await sql(
    `UPDATE ${CODES} s SET type = ${wordOf('s.type')}, valid_from = coalesce(s.valid_from, s.created_at, ${sqlTime(firstSnapshotAt)}),
       max_uses = CASE WHEN s.max_uses > 0 THEN s.max_uses ELSE ${UNLIMITED} END, current_uses = greatest(s.current_uses, u.rows, 0)
     FROM ${CODES} c LEFT JOIN (SELECT promocode_id, count(*) AS rows FROM ${USES} GROUP BY 1) u ON u.promocode_id = c.id WHERE c.id = s.id`,
  );
  await applyRule(context, {
    ...{ code: 'promocode_over_limit', table, set: 'max_uses = s.current_uses' },
    detail: `jsonb_build_object('max_uses', f.max_uses, 'uses', f.current_uses)`,
    find: `SELECT id, max_uses, current_uses FROM ${CODES} WHERE current_uses > max_uses`,
  });
  await applyRule(context, {
    ...{ code: 'promocode_kind_unknown', table, detail: `jsonb_build_object('type', f.type)` },
    find: `SELECT id, type FROM ${CODES} WHERE type NOT IN ${KNOWN_TYPES} OR traffic_gb > 0 OR tariff_id IS NOT NULL`,
    set: `is_active = false, type = CASE WHEN s.type IN ${KNOWN_TYPES} THEN s.type ELSE 'balance' END`,
    parks: `jsonb_build_object('id', s.id, 'type', s.type, 'is_active', s.is_active, 'balance_bonus_kopeks', s.balance_bonus_kopeks,
      'subscription_days', s.subscription_days, 'traffic_gb', s.traffic_gb, 'tariff_id', s.tariff_id)`,
  });
  await applyRule(context, {
    ...{ code: 'promocode_expired', table, set: 'is_active = false' },
    find: `SELECT id FROM ${CODES} c WHERE coalesce(is_active, true) AND ${isCutEnd('c', table, 'valid_until')}`,
  });
  await applyRule(context, {
    ...{ code: 'promocode_bounds', table },
    find: `SELECT id FROM ${CODES} WHERE balance_bonus_kopeks < 0 OR subscription_days < 0 OR valid_until < valid_from
      OR (type = 'discount' AND coalesce(balance_bonus_kopeks, 0) NOT BETWEEN 1 AND 100)`,
    set: `subscription_days = greatest(s.subscription_days, 0),
      balance_bonus_kopeks = CASE s.type WHEN 'discount' THEN least(greatest(s.balance_bonus_kopeks, 1), 100) ELSE greatest(s.balance_bonus_kopeks, 0) END,
      valid_from = CASE WHEN s.valid_until < s.valid_from THEN least(s.created_at, s.valid_until) ELSE s.valid_from END`,
    parks: `jsonb_build_object('id', s.id, 'balance_bonus_kopeks', s.balance_bonus_kopeks, 'subscription_days', s.subscription_days, 'valid_from', s.valid_from)`,
  });
}

/** Codes are upper case; of those that are equal then the most used one keeps it. */
async function settleCodes(context: ImportContext): Promise<void> {
  const plain = 'upper(trim(code))';
  await applyRule(context, {
    ...{ code: 'promocode_case', table: 'promocodes', detail: `jsonb_build_object('code', f.code, 'new_code', f.new_code)` },
    find: `SELECT * FROM (SELECT id, code, place > 1 OR plain = '' AS is_over, CASE WHEN plain = '' THEN 'IMPORT-' || id
          WHEN place > 1 THEN left(plain, ${CODE_LENGTH} - length('-' || id)) || '-' || id ELSE plain END AS new_code
        FROM (SELECT id, code, ${plain} AS plain, row_number() OVER (PARTITION BY ${plain} ORDER BY current_uses DESC, id) AS place
          FROM (SELECT id, coalesce(code, '') AS code, current_uses FROM ${CODES}) c) r) n
      WHERE code <> new_code`,
    set: 'code = f.new_code, is_active = coalesce(s.is_active, true) AND NOT f.is_over',
  });
}

async function repairUses(context: ImportContext): Promise<void> {
  const table = 'promocode_uses';
  await parkOrphans(context, table, 'user_id', 'users', 'promocode_use_orphan');
  await parkOrphans(context, table, 'promocode_id', 'promocodes', 'promocode_use_orphan');
  await parkRepeated(context, { table, columns: 'user_id, promocode_id' });
  await listMissingTimes(context, table, 'used_at');
}

async function makePromocodes(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  await transfer(context, { table: 'promocodes', createdFrom: ['s.valid_from'] });
  const owners = `JOIN ${sourceTable('users')} u ON u.id = s.user_id`;
  const used = cutTime(`coalesce(s.used_at, u.created_at, ${sqlTime(firstSnapshotAt)})`);
  await transfer(context, { table: 'promocode_uses', rest: owners, columns: { used_at: used } });
  // Each use was an activation, so that the daily limit goes on.
  const activation = { target: 'promocode_activations', sourceName: "'promocode_uses'", sourceId: 's.id' };
  await assignIds(context, { ...activation, from: `${USES} s`, order: 's.id' });
  await sql(
    `INSERT INTO ${nextTable('promocode_activations')} (id, user_id, code, activated_at)
     SELECT k.target_id, s.user_id, c.code, ${used} FROM ${USES} s ${owners} JOIN ${CODES} c ON c.id = s.promocode_id JOIN ${nextTable('import_map')} k ON ${isIdOf(activation)}`,
  );
}

const OFFERS = sourceTable('discount_offers');
const TEMPLATES = sourceTable('promo_offer_templates');
const ACCESS = sourceTable('subscription_temporary_access');

/** Personal offers and what they opened (spec 07 section 4.4). */
export const offerStep: ImportStep = {
  name: 'offers',
  async prepare(context) {
    await repairOffers(context);
    await repairTemplates(context);
    await repairAccess(context);
    await clearMissingLinks(context, 'promo_offer_logs', { user_id: 'users', offer_id: 'discount_offers' });
    await listMissingTimes(context, 'promo_offer_logs');
    const now = sqlTime(context.firstSnapshotAt);
    const expires = cutTime(`coalesce(s.expires_at, s.created_at, ${now})`);
    await transfer(context, { table: 'discount_offers', columns: { expires_at: expires }, createdFrom: ['s.claimed_at'] });
    await transfer(context, { table: 'promo_offer_templates' });
    await transfer(context, { table: 'promo_offer_logs' });
    await transfer(context, { table: 'subscription_temporary_access', columns: { expires_at: expires } });
  },
};

async function repairOffers(context: ImportContext): Promise<void> {
  const table = 'discount_offers';
  await parkOrphans(context, table, 'user_id', 'users', 'discount_offer_orphan');
  await clearMissingLinks(context, table, { subscription_id: 'subscriptions' });
  await applyRule(context, {
    ...{ code: 'discount_offer_bounds', table },
    find: `SELECT id FROM ${OFFERS} WHERE discount_percent NOT BETWEEN 0 AND 100 OR bonus_amount_kopeks < 0 OR (claimed_at IS NOT NULL AND is_active IS NOT FALSE)`,
    set: `discount_percent = least(greatest(s.discount_percent, 0), 100), bonus_amount_kopeks = greatest(s.bonus_amount_kopeks, 0),
      is_active = coalesce(s.is_active, true) AND s.claimed_at IS NULL`,
    parks: `jsonb_build_object('id', s.id, 'discount_percent', s.discount_percent, 'bonus_amount_kopeks', s.bonus_amount_kopeks, 'is_active', s.is_active)`,
  });
  await applyRule(context, {
    ...{ code: 'discount_offer_second_open', table, set: 'is_active = false' },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY user_id, notification_type ORDER BY created_at DESC NULLS LAST, id DESC) AS place
      FROM ${OFFERS} WHERE is_active IS NOT FALSE AND claimed_at IS NULL) r WHERE place > 1`,
  });
}

async function repairTemplates(context: ImportContext): Promise<void> {
  const table = 'promo_offer_templates';
  await clearMissingLinks(context, table, { created_by: 'users' });
  await applyRule(context, {
    ...{ code: 'offer_template_bounds', table },
    find: `SELECT id FROM ${TEMPLATES} WHERE coalesce(valid_hours, 0) < 1 OR discount_percent NOT BETWEEN 0 AND 100 OR bonus_amount_kopeks < 0
      OR active_discount_hours < 1 OR test_duration_hours < 1`,
    set: `valid_hours = greatest(s.valid_hours, 1), discount_percent = least(greatest(s.discount_percent, 0), 100),
      bonus_amount_kopeks = greatest(s.bonus_amount_kopeks, 0),
      active_discount_hours = CASE WHEN s.active_discount_hours IS NOT NULL THEN greatest(s.active_discount_hours, 1) END,
      test_duration_hours = CASE WHEN s.test_duration_hours IS NOT NULL THEN greatest(s.test_duration_hours, 1) END`,
    parks: `jsonb_build_object('id', s.id, 'valid_hours', s.valid_hours, 'discount_percent', s.discount_percent,
      'bonus_amount_kopeks', s.bonus_amount_kopeks, 'active_discount_hours', s.active_discount_hours, 'test_duration_hours', s.test_duration_hours)`,
  });
}

async function repairAccess(context: ImportContext): Promise<void> {
  const table = 'subscription_temporary_access';
  await parkOrphans(context, table, 'subscription_id', 'subscriptions', 'temporary_access_orphan');
  await parkOrphans(context, table, 'offer_id', 'discount_offers', 'temporary_access_orphan');
  await applyRule(context, {
    ...{ code: 'temporary_access_ended', table, set: 'is_active = false' },
    find: `SELECT id FROM ${ACCESS} WHERE is_active IS NOT FALSE AND deactivated_at IS NOT NULL`,
  });
  const order = 'is_active IS NOT FALSE DESC, created_at DESC NULLS LAST, id DESC';
  await parkRepeated(context, { table, columns: 'offer_id, squad_uuid', order });
}

const CAMPAIGNS = sourceTable('advertising_campaigns');
const REGISTRATIONS = sourceTable('advertising_campaign_registrations');
const BONUS_TYPES = wordList(['balance', 'subscription', 'none', 'tariff']);
/** A kind of bonus that ours does not have is none. */
const bonusOf = (column: string) => `CASE WHEN ${wordOf(column)} IN ${BONUS_TYPES} THEN ${wordOf(column)} ELSE 'none' END`;

/** Campaigns and who came by them (spec 07 section 4.4); links in print stay as they are (hazard I12). */
export const campaignStep: ImportStep = {
  name: 'campaigns',
  async prepare(context) {
    await repairCampaigns(context);
    await repairRegistrations(context);
    await transfer(context, { table: 'advertising_campaigns', columns: { bonus_type: 'lower(trim(s.bonus_type))' } });
    await transfer(context, {
      table: 'advertising_campaign_registrations',
      rest: `JOIN ${sourceTable('users')} u ON u.id = s.user_id`,
      columns: { bonus_type: 'lower(trim(s.bonus_type))' },
      createdFrom: ['u.created_at'],
    });
  },
};

async function repairCampaigns(context: ImportContext): Promise<void> {
  const table = 'advertising_campaigns';
  await parkRepeated(context, { table, columns: 'start_parameter' });
  await clearMissingLinks(context, table, { tariff_id: 'tariffs', partner_user_id: 'users', created_by: 'users' });
  await applyRule(context, {
    ...{ code: 'campaign_bounds', table },
    find: `SELECT id FROM ${CAMPAIGNS} WHERE coalesce(start_parameter, '') = '' OR ${wordOf('bonus_type')} IN ${BONUS_TYPES} IS NOT TRUE OR balance_bonus_kopeks < 0
      OR subscription_duration_days < 0 OR subscription_traffic_gb < 0 OR subscription_device_limit < 0 OR tariff_duration_days < 1`,
    set: `start_parameter = coalesce(nullif(s.start_parameter, ''), 'import-' || s.id), is_active = coalesce(s.is_active, true) AND s.start_parameter <> '',
      bonus_type = ${bonusOf('s.bonus_type')}, balance_bonus_kopeks = greatest(s.balance_bonus_kopeks, 0),
      subscription_duration_days = CASE WHEN s.subscription_duration_days >= 0 THEN s.subscription_duration_days END,
      subscription_traffic_gb = CASE WHEN s.subscription_traffic_gb >= 0 THEN s.subscription_traffic_gb END,
      subscription_device_limit = CASE WHEN s.subscription_device_limit >= 0 THEN s.subscription_device_limit END,
      tariff_duration_days = CASE WHEN s.tariff_duration_days >= 1 THEN s.tariff_duration_days END`,
    parks: `jsonb_build_object('id', s.id, 'bonus_type', s.bonus_type, 'balance_bonus_kopeks', s.balance_bonus_kopeks,
      'subscription_duration_days', s.subscription_duration_days, 'subscription_traffic_gb', s.subscription_traffic_gb,
      'subscription_device_limit', s.subscription_device_limit, 'tariff_duration_days', s.tariff_duration_days)`,
  });
}

async function repairRegistrations(context: ImportContext): Promise<void> {
  const table = 'advertising_campaign_registrations';
  await parkOrphans(context, table, 'user_id', 'users', 'campaign_registration_orphan');
  await parkOrphans(context, table, 'campaign_id', 'advertising_campaigns', 'campaign_registration_orphan');
  await parkRepeated(context, { table, columns: 'user_id', order: 'created_at, id', code: 'campaign_registration_second' });
  await clearMissingLinks(context, table, { tariff_id: 'tariffs' });
  await listMissingTimes(context, table);
  await applyRule(context, {
    ...{ code: 'campaign_registration_bounds', table },
    find: `SELECT id FROM ${REGISTRATIONS} WHERE ${wordOf('bonus_type')} IN ${BONUS_TYPES} IS NOT TRUE OR balance_bonus_kopeks < 0`,
    set: `bonus_type = ${bonusOf('s.bonus_type')}, balance_bonus_kopeks = greatest(s.balance_bonus_kopeks, 0)`,
    parks: `jsonb_build_object('id', s.id, 'bonus_type', s.bonus_type, 'balance_bonus_kopeks', s.balance_bonus_kopeks)`,
  });
}

const EARNINGS = sourceTable('referral_earnings');
const PENDING = 'referral_registration_pending';
const KNOWN_REASONS = wordList([PENDING, 'referral_first_topup', 'referral_commission_topup', 'referral_commission']);

/** What referrers have earned (spec 07 section 4.4): every kept row counts in their sums, as it did there (hazard I28). */
export const earningStep: ImportStep = {
  name: 'earnings of referrers',
  async prepare(context) {
    const { sql } = context;
    const table = 'referral_earnings';
    await parkOrphans(context, table, 'user_id', 'users', 'earning_orphan');
    await parkOrphans(context, table, 'referral_id', 'users', 'earning_orphan');
    await applyRule(context, {
      ...{ code: 'earning_self', table, isParked: true },
      find: `SELECT id FROM ${EARNINGS} WHERE user_id = referral_id`,
    });
    await applyRule(context, {
      ...{ code: 'earning_negative', table, isParked: true },
      find: `SELECT id FROM ${EARNINGS} WHERE coalesce(amount_kopeks, -1) < 0`,
    });
    await sql(
      `UPDATE ${EARNINGS} SET reason = ${wordOf('reason')} WHERE ${wordOf('reason')} IN ${KNOWN_REASONS} AND reason <> ${wordOf('reason')}`,
    );
    // A pending row has no amount here; what was paid under this word stays in the sums under another.
    await applyRule(context, {
      ...{ code: 'earning_pending_paid', table, set: `reason = 'referral_registration'` },
      detail: `jsonb_build_object('kopeks', f.amount_kopeks)`,
      find: `SELECT id, amount_kopeks FROM ${EARNINGS} WHERE reason = '${PENDING}' AND amount_kopeks > 0`,
    });
    await applyRule(context, {
      ...{ code: 'earning_pending_duplicate', table, isParked: true },
      find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY user_id, referral_id ORDER BY created_at, id) AS place FROM ${EARNINGS}
        WHERE reason = '${PENDING}') r WHERE place > 1`,
    });
    await linkEarnings(context);
    await transfer(context, { table, columns: { reason: `coalesce(s.reason, '')` } });
  },
};

async function linkEarnings(context: ImportContext): Promise<void> {
  const table = 'referral_earnings';
  await listMissingTimes(context, table);
  await clearMissingLinks(context, table, { referral_transaction_id: 'transactions', campaign_id: 'advertising_campaigns' });
  await applyRule(context, {
    ...{ code: 'earning_source_repeated', table, set: 'referral_transaction_id = NULL' },
    detail: `jsonb_build_object('referral_transaction_id', f.referral_transaction_id)`,
    find: `SELECT id, referral_transaction_id FROM (SELECT id, referral_transaction_id, row_number() OVER (PARTITION BY user_id, referral_transaction_id, reason ORDER BY id) AS place
      FROM ${EARNINGS} WHERE referral_transaction_id IS NOT NULL) r WHERE place > 1`,
  });
  await applyRule(context, {
    ...{ code: 'earning_reason_unknown', table, detail: `jsonb_build_object('reason', f.reason)` },
    find: `SELECT id, reason FROM ${EARNINGS} WHERE reason IN ${KNOWN_REASONS} IS NOT TRUE`,
  });
  await applyRule(context, {
    ...{ code: 'earning_source_missing', table },
    find: `SELECT id FROM ${EARNINGS} WHERE referral_transaction_id IS NULL AND reason IS DISTINCT FROM '${PENDING}'`,
  });
}

const APPLICATIONS = sourceTable('partner_applications');

/** Requests to become a partner (spec 07 section 4.4). */
export const applicationStep: ImportStep = {
  name: 'applications of partners',
  async prepare(context) {
    const table = 'partner_applications';
    const evidence = `coalesce(s.updated_at, s.created_at, ${sqlTime(context.firstSnapshotAt)})`;
    await parkOrphans(context, table, 'user_id', 'users', 'application_orphan');
    await clearMissingLinks(context, table, { processed_by: 'users' });
    await applyRule(context, {
      ...{
        code: 'application_status_unknown',
        table,
        detail: `jsonb_build_object('status', f.status)`,
        set: `status = 'pending'`,
      },
      find: `SELECT id, status FROM ${APPLICATIONS} WHERE ${wordOf('status')} IN ('pending', 'approved', 'rejected') IS NOT TRUE`,
    });
    await context.sql(`UPDATE ${APPLICATIONS} SET status = ${wordOf('status')} WHERE status <> ${wordOf('status')}`);
    const isOutside = (column: string) => `${column} NOT BETWEEN 1 AND 100`;
    const within = (column: string) => `${column} = CASE WHEN s.${column} BETWEEN 1 AND 100 THEN s.${column} END`;
    await applyRule(context, {
      ...{ code: 'application_bounds', table },
      find: `SELECT id FROM ${APPLICATIONS} WHERE ${isOutside('desired_commission_percent')} OR ${isOutside('approved_commission_percent')}`,
      set: `${within('desired_commission_percent')}, ${within('approved_commission_percent')}`,
      parks: `jsonb_build_object('id', s.id, 'desired_commission_percent', s.desired_commission_percent, 'approved_commission_percent', s.approved_commission_percent)`,
    });
    await applyRule(context, {
      ...{ code: 'application_processed_null', table },
      find: `SELECT id FROM ${APPLICATIONS} WHERE (status = 'pending') = (processed_at IS NOT NULL)`,
      set: `processed_at = CASE WHEN s.status <> 'pending' THEN ${evidence} END`,
    });
    await applyRule(context, {
      ...{ code: 'application_second_pending', table },
      find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY created_at DESC NULLS LAST, id DESC) AS place FROM ${APPLICATIONS}
        WHERE status = 'pending') r WHERE place > 1`,
      set: `status = 'rejected', admin_comment = 'import: duplicate', processed_at = ${evidence}`,
      parks: `jsonb_build_object('id', s.id, 'status', s.status, 'admin_comment', s.admin_comment)`,
    });
    await transfer(context, { table, createdFrom: ['s.processed_at'] });
  },
};
