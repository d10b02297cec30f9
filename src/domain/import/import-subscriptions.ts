import { SEVERAL_SUBSCRIPTIONS_SINCE } from './check-source.ts';
import { isNoTextArray } from './import-catalogue.ts';
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
import { methodOf } from './import-transactions.ts';

const ROWS = sourceTable('subscriptions');
const USERS = sourceTable('users');
const TARIFFS = sourceTable('tariffs');

/** Tables whose rows belong to one subscription and follow it. */
const CHILDREN = ['subscription_servers', 'traffic_purchases', 'sent_notifications'];
const DAY_MS = 86_400_000;

/** Whether the row of a subscription is live at the snapshot. */
export const isLiveRow = (alias: string, { snapshotAt }: Pick<ImportContext, 'snapshotAt'>): string =>
  `(lower(trim(coalesce(${alias}.status, 'trial'))) IN ('active', 'trial', 'limited')
    AND coalesce(${cutTime(`${alias}.end_date`)} > ${sqlTime(snapshotAt)}, false))`;

/** One subscription a user, with states and limits of ours, and what belongs to it (spec 07 sections 1.4, 4.3 and 7). */
export const subscriptionRulesStep: ImportStep = {
  name: 'rules of subscriptions',
  async prepare(context) {
    await parkOrphans(context, 'subscriptions', 'user_id', 'users', 'subscription_orphan');
    await parkSecond(context);
    await parkBelow(context);
    await repairTimes(context);
    await repairStates(context);
    await repairValues(context);
    await repairChildren(context);
    await repairHistory(context);
  },
};

/** The subscriptions of a user in the order in which they stay: `place` 1 is the one that is kept. */
const ranked = (context: ImportContext): string =>
  `SELECT o.*, ${isLiveRow('o', context)} AS is_live, row_number() OVER (PARTITION BY o.user_id
     ORDER BY ${isLiveRow('o', context)} DESC, ${cutTime('o.end_date')} DESC NULLS LAST, o.id DESC) AS place FROM ${ROWS} o`;

async function parkSecond(context: ImportContext): Promise<void> {
  const { revision, snapshotAt } = context;
  const now = sqlTime(snapshotAt);
  const leftMs = `(extract(epoch FROM (${cutTime('r.end_date')} - ${now}))::numeric * 1000)`;
  if (revision >= SEVERAL_SUBSCRIPTIONS_SINCE)
    await applyRule(context, {
      ...{ code: 'subscription_parked', table: 'subscriptions', isParked: true },
      find: `SELECT r.id, r.user_id, r.tariff_id, t.name, r.end_date, r.autopay_enabled, coalesce(g.traffic_gb, 0) AS traffic_gb,
          coalesce(r.remnawave_id::text, r.remnawave_uuid) AS panel_user, div(${leftMs}, ${DAY_MS}) AS days,
          CASE WHEN r.is_trial IS NOT FALSE THEN 0 ELSE div(${leftMs} * t.kopeks, t.days * ${DAY_MS}) END AS kopeks
        FROM (${ranked(context)}) r LEFT JOIN (${TARIFF_RATES}) t ON t.id = r.tariff_id
        LEFT JOIN (SELECT subscription_id, sum(traffic_gb) AS traffic_gb FROM ${sourceTable('traffic_purchases')}
          WHERE traffic_gb > 0 AND expires_at > ${now} GROUP BY 1) g ON g.subscription_id = r.id
        WHERE r.place > 1 AND r.is_live`,
      detail: `jsonb_build_object('user_id', f.user_id, 'tariff_id', f.tariff_id, 'tariff', f.name, 'end_date', f.end_date, 'days', f.days,
        'kopeks', f.kopeks, 'traffic_gb', f.traffic_gb, 'panel_user', f.panel_user, 'autopay', coalesce(f.autopay_enabled, false))`,
    });
  await applyRule(context, {
    ...{ code: 'subscription_second', table: 'subscriptions', isParked: true },
    find: `SELECT r.id, r.user_id, CASE WHEN r.is_live THEN div(${leftMs}, ${DAY_MS}) END AS days FROM (${ranked(context)}) r WHERE r.place > 1`,
    detail: `jsonb_strip_nulls(jsonb_build_object('user_id', f.user_id, 'days', f.days))`,
  });
}

/** What a time in each tariff costs: `kopeks` for `days`; null where nothing says a price. */
const TARIFF_RATES = `SELECT t.id, t.name, CASE WHEN t.is_daily THEN 1 ELSE p.days END AS days,
    CASE WHEN t.is_daily THEN CASE WHEN t.daily_price_kopeks > 0 THEN t.daily_price_kopeks END ELSE p.kopeks END AS kopeks
  FROM ${TARIFFS} t LEFT JOIN LATERAL (SELECT key::bigint AS days, value::bigint AS kopeks
    FROM jsonb_each_text(coalesce(t.period_prices::jsonb, '{}')) WHERE value::bigint > 0 ORDER BY 1 LIMIT 1) p ON true`;

/** Rows below a subscription that is kept aside follow it, without an issue of each. */
async function parkBelow({ sql }: ImportContext): Promise<void> {
  for (const table of CHILDREN)
    await sql(
      `WITH parents AS MATERIALIZED (SELECT source_id::bigint AS id, reason FROM ${nextTable('import_parked')} WHERE source_table = 'subscriptions' AND is_whole),
         gone AS (DELETE FROM ${sourceTable(table)} c USING parents WHERE parents.id = c.subscription_id RETURNING c.id, to_jsonb(c) AS row, parents.reason)
       INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
       SELECT 0, '${table}', id::text, reason, true, row FROM gone`,
    );
}

async function repairTimes(context: ImportContext): Promise<void> {
  const now = sqlTime(context.firstSnapshotAt);
  await applyRule(context, {
    ...{ code: 'created_at_null', table: 'subscriptions', set: 'created_at = f.created' },
    find: `SELECT o.id, coalesce(least(o.start_date, o.updated_at), u.created_at, ${now}) AS created FROM ${ROWS} o LEFT JOIN ${USERS} u ON u.id = o.user_id
      WHERE o.created_at IS NULL`,
  });
  const evidence: Readonly<Record<string, string>> = {
    traffic_purchases: 'least(s.expires_at, s_now)',
    sent_notifications: 's_now',
    subscription_events: 'coalesce(s.occurred_at, s_now)',
  };
  for (const [table, expression] of Object.entries(evidence))
    await applyRule(context, {
      ...{ code: 'created_at_null', table, set: `created_at = ${expression.replaceAll('s_now', now)}` },
      find: `SELECT id FROM ${sourceTable(table)} WHERE created_at IS NULL`,
    });
  await fillTime(context, 'subscriptions', 'end_date', 'coalesce(s.start_date, s.created_at)');
  await fillTime(context, 'traffic_purchases', 'expires_at', 's.created_at');
  await fillTime(context, 'subscription_events', 'occurred_at', 's.created_at');
  await fillTime(context, 'subscription_conversions', 'converted_at', `coalesce(s.created_at, ${now})`);
}

/** A time without which no row can be; one that lay out of range is listed already. */
async function fillTime(context: ImportContext, table: string, column: string, value: string): Promise<void> {
  await applyRule(context, {
    ...{ code: 'date_out_of_range', table, detail: `jsonb_build_object('column', '${column}')` },
    find: `SELECT id FROM ${sourceTable(table)} WHERE ${column} IS NULL AND id NOT IN (SELECT subject::bigint FROM ${nextTable('import_issues')}
      WHERE source_table = '${table}' AND code = 'date_out_of_range' AND detail ->> 'column' = '${column}')`,
  });
  await context.sql(`UPDATE ${sourceTable(table)} s SET ${column} = ${value} WHERE ${column} IS NULL`);
}

async function repairStates(context: ImportContext): Promise<void> {
  const { sql, snapshotAt } = context;
  const now = sqlTime(snapshotAt);
  const ofUser = `jsonb_build_object('user_id', f.user_id)`;
  const rule = { table: 'subscriptions', detail: ofUser };
  await sql(
    `UPDATE ${ROWS} SET status = lower(trim(coalesce(status, 'trial'))) WHERE status IS DISTINCT FROM lower(trim(status)) OR status IS NULL`,
  );
  await applyRule(context, {
    ...{ ...rule, code: 'subscription_status_unknown', set: `status = 'disabled'` },
    find: `SELECT id, user_id, status FROM ${ROWS} WHERE status NOT IN ('trial', 'active', 'expired', 'disabled', 'limited', 'pending')`,
    detail: `jsonb_build_object('user_id', f.user_id, 'status', f.status)`,
  });
  await applyRule(context, {
    ...{ ...rule, code: 'subscription_trial_flag', set: `status = 'active'` },
    find: `SELECT id, user_id FROM ${ROWS} WHERE status = 'trial' AND NOT is_trial`,
  });
  // Those that ended later are left to the job that ends subscriptions, which tells their owners.
  await applyRule(context, {
    ...{ ...rule, code: 'subscription_stale_active', set: `status = 'expired'` },
    find: `SELECT id, user_id FROM ${ROWS} WHERE status IN ('active', 'trial') AND end_date < ${now} - interval '24 hours'`,
  });
  await applyRule(context, {
    ...{ ...rule, code: 'subscription_expired_early' },
    find: `SELECT id, user_id, ${cutTime('end_date')} AS end_date FROM ${ROWS} WHERE status = 'expired' AND end_date > ${now}`,
    // No job starts it again as long as it has this end (STAYS_EXPIRED of src/domain/subscriptions/repo.ts).
    detail: `jsonb_build_object('user_id', f.user_id, 'end_date', f.end_date)`,
  });
}

async function repairValues(context: ImportContext): Promise<void> {
  await applyRule(context, {
    ...{ code: 'subscription_tariff_missing', table: 'subscriptions', set: 'tariff_id = NULL' },
    detail: `jsonb_build_object('user_id', f.user_id, 'tariff_id', f.tariff_id)`,
    find: `SELECT id, user_id, tariff_id FROM ${ROWS} o WHERE tariff_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${TARIFFS} t WHERE t.id = o.tariff_id)`,
  });
  await applyRule(context, {
    ...{ code: 'subscription_limit_invalid', table: 'subscriptions' },
    find: `SELECT o.id, o.user_id, o.traffic_limit_gb, o.device_limit, o.purchased_traffic_gb, t.traffic_limit_gb AS of_tariff
      FROM ${ROWS} o LEFT JOIN ${TARIFFS} t ON t.id = o.tariff_id
      WHERE coalesce(o.traffic_limit_gb, -1) < 0 OR coalesce(o.device_limit, -1) < 0 OR coalesce(o.purchased_traffic_gb, -1) < 0`,
    set: `traffic_limit_gb = CASE WHEN s.traffic_limit_gb < 0 THEN coalesce(f.of_tariff, 0) ELSE coalesce(s.traffic_limit_gb, 0) END,
      device_limit = CASE WHEN s.device_limit >= 0 THEN s.device_limit ELSE 1 END, purchased_traffic_gb = greatest(s.purchased_traffic_gb, 0)`,
    detail: `jsonb_build_object('user_id', f.user_id, 'traffic_limit_gb', f.traffic_limit_gb, 'device_limit', f.device_limit, 'purchased_traffic_gb', f.purchased_traffic_gb)`,
  });
  await applyRule(context, {
    ...{ code: 'squads_invalid', table: 'subscriptions', set: `connected_squads = '[]'` },
    parks: `jsonb_build_object('connected_squads', s.connected_squads)`,
    detail: `jsonb_build_object('user_id', f.user_id)`,
    find: `SELECT id, user_id FROM ${ROWS} WHERE ${isNoTextArray('connected_squads')}`,
  });
}

/** One row a server and a reminder; rows of which the others are repeats stand for them. */
async function repairChildren(context: ImportContext): Promise<void> {
  const { sql } = context;
  const servers = sourceTable('subscription_servers');
  const reminders = sourceTable('sent_notifications');
  await parkOrphans(context, 'subscription_servers', 'subscription_id', 'subscriptions', 'subscription_server_orphan');
  await parkOrphans(context, 'subscription_servers', 'server_squad_id', 'server_squads', 'subscription_server_orphan');
  await parkOrphans(context, 'traffic_purchases', 'subscription_id', 'subscriptions', 'traffic_purchase_orphan');
  await parkOrphans(context, 'sent_notifications', 'subscription_id', 'subscriptions', 'sent_notification_orphan');
  await applyRule(context, {
    ...{ code: 'traffic_purchase_invalid', table: 'traffic_purchases', isParked: true },
    find: `SELECT id FROM ${sourceTable('traffic_purchases')} WHERE coalesce(traffic_gb, 0) <= 0`,
  });
  await sql(
    `UPDATE ${servers} s SET paid_price_kopeks = d.kopeks, connected_at = d.connected_at
     FROM (SELECT min(id) AS id, sum(paid_price_kopeks)::bigint AS kopeks, min(connected_at) AS connected_at FROM ${servers}
       GROUP BY subscription_id, server_squad_id HAVING count(*) > 1) d WHERE d.id = s.id`,
  );
  await applyRule(context, {
    ...{ code: 'subscription_server_repeated', table: 'subscription_servers', isMerged: true },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY subscription_id, server_squad_id ORDER BY id) AS place FROM ${servers}) r WHERE place > 1`,
  });
  await applyRule(context, {
    ...{ code: 'sent_notification_repeated', table: 'sent_notifications', isMerged: true },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY subscription_id, notification_type, days_before ORDER BY created_at, id) AS place
      FROM ${reminders}) r WHERE place > 1`,
  });
}

/** What belongs to the person stays when the subscription or the movement does not. */
async function repairHistory(context: ImportContext): Promise<void> {
  await parkOrphans(context, 'subscription_events', 'user_id', 'users', 'subscription_event_orphan');
  await parkOrphans(context, 'subscription_conversions', 'user_id', 'users', 'subscription_conversion_orphan');
  for (const [column, parent] of [
    ['subscription_id', 'subscriptions'],
    ['transaction_id', 'transactions'],
  ] as const)
    await applyRule(context, {
      ...{ code: 'subscription_event_link_missing', table: 'subscription_events', set: `${column} = NULL` },
      detail: `jsonb_build_object('${column}', f.link)`,
      find: `SELECT id, ${column} AS link FROM ${sourceTable('subscription_events')} e WHERE ${column} IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ${sourceTable(parent)} p WHERE p.id = e.${column})`,
    });
}

/** What the reconciler finds at a subscription that it has to push after the switch-over, by the code of its issue. */
const PUSH_REASONS: Readonly<Record<string, string>> = {
  grace_session_open: 'grace access was open',
  subscription_unprovisioned: 'imported without a panel user',
};

/** Subscriptions and what belongs to them as they will be here; after their rules and those of links to the panel. */
export const subscriptionRowsStep: ImportStep = {
  name: 'subscriptions',
  async prepare(context) {
    const codes = Object.keys(PUSH_REASONS).map((code) => `'${code}'`);
    const reasons = Object.entries(PUSH_REASONS).map(([code, text]) => `WHEN '${code}' THEN '${text}'`);
    // Of several reasons the last by name counts: without a panel user there is nothing else to correct.
    await transfer(context, {
      table: 'subscriptions',
      rest: `LEFT JOIN ${USERS} u ON u.id = s.user_id LEFT JOIN (SELECT subject::bigint AS id, max(code) AS code FROM ${nextTable('import_issues')}
        WHERE source_table = 'subscriptions' AND code IN (${codes.join(', ')}) GROUP BY 1) due ON due.id = s.id`,
      columns: {
        start_date: cutTime('coalesce(s.start_date, s.created_at)'),
        provision_state: `CASE WHEN due.id IS NULL THEN 'synced' ELSE 'failed' END`,
        provision_version: '0',
        provision_synced_version: 'CASE WHEN due.id IS NULL THEN 0 ELSE -1 END',
        provision_error: `CASE due.code ${reasons.join(' ')} END`,
        // Without it the reconciler would never take a failed row up.
        provision_requested_at: `CASE WHEN due.id IS NOT NULL THEN ${sqlTime(context.firstSnapshotAt)} END`,
        provisioned_at: cutTime('u.last_remnawave_sync'),
      },
    });
    const ofSubscription = `JOIN ${ROWS} o ON o.id = s.subscription_id`;
    await transfer(context, {
      table: 'subscription_servers',
      rest: ofSubscription,
      columns: { connected_at: cutTime('coalesce(s.connected_at, o.created_at)') },
    });
    await transfer(context, { table: 'traffic_purchases' });
    await transfer(context, {
      table: 'sent_notifications',
      rest: ofSubscription,
      columns: { user_id: 'coalesce(s.user_id, o.user_id)', discriminator: `coalesce(s.days_before::text, '')` },
    });
    await transfer(context, { table: 'subscription_events' });
    await transfer(context, {
      table: 'subscription_conversions',
      columns: { payment_method: `left(${methodOf('s.payment_method')}, 40)` },
    });
  },
};
