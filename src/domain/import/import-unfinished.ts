import type { SqlRunner } from '../../core/db/db.ts';
import { applyRule, columnsOf, type ImportContext, type ImportStep, sourceTable, sqlTime } from './import-step.ts';
import { SOURCE_SCHEMA } from './load-source.ts';

/** What goes on in the source, at a provider or at the panel without this service knowing it: listed for a person (spec 07 section 4.6). */
export const unfinishedStep: ImportStep = {
  name: 'what goes on elsewhere',
  async prepare(context) {
    await listGrace(context);
    await listAutopayPeriods(context);
    await listProviderSubscriptions(context);
    await listOpenPayments(context);
    await listUncreditedPayments(context);
    await listCoupons(context);
  },
};

async function hasTable(sql: SqlRunner, table: string): Promise<boolean> {
  const [found] = await sql<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "exists"', [sourceTable(table)]);
  return found!.exists;
}

/** A value of a table that is kept aside as it is: its columns are texts, and none of them need be there. */
const textOf = (column: string) => `(to_jsonb(o) ->> '${column}')`;

async function listGrace(context: ImportContext): Promise<void> {
  if (!(await hasTable(context.sql, 'grace_access_sessions'))) return;
  await applyRule(context, {
    ...{ code: 'grace_session_open', table: 'subscriptions', detail: `jsonb_build_object('grace_until', f.until)` },
    find: `SELECT ${textOf('subscription_id')} AS id, max(${textOf('grace_until')}) AS until FROM ${sourceTable('grace_access_sessions')} o
      WHERE lower(trim(${textOf('state')})) IN ('pending', 'active', 'restoring') GROUP BY 1`,
  });
}

async function listAutopayPeriods(context: ImportContext): Promise<void> {
  const columns = await columnsOf(context.sql, SOURCE_SCHEMA, 'subscriptions');
  if (!columns.some(({ name }) => name === 'autopay_period_days')) return;
  await applyRule(context, {
    ...{ code: 'autopay_period_ignored', table: 'subscriptions' },
    detail: `jsonb_build_object('user_id', f.user_id, 'autopay_period_days', f.autopay_period_days)`,
    find: `SELECT id, user_id, autopay_period_days FROM ${sourceTable('subscriptions')} WHERE autopay_enabled AND autopay_period_days IS NOT NULL`,
  });
}

async function listProviderSubscriptions(context: ImportContext): Promise<void> {
  for (const method of ['platega', 'lava']) {
    const table = `${method}_subscriptions`;
    if (!(await hasTable(context.sql, table))) continue;
    await applyRule(context, {
      ...{ code: 'provider_subscription_active', table, subject: `'${method} ' || f.id` },
      detail: 'f.facts',
      find: `SELECT ${textOf('id')} AS id, jsonb_build_object('user_id', ${textOf('user_id')}, 'subscription_id', ${textOf('subscription_id')},
          'kopeks', ${textOf('amount_kopeks')}, 'next_charge_at', ${textOf('next_charge_at')}) AS facts
        FROM ${sourceTable(table)} o WHERE upper(trim(${textOf('status')})) IN ('ACTIVE', 'PAST_DUE')`,
    });
  }
}

/** Methods that this service does not have (spec 07 section 1.3). */
const UNKNOWN_METHODS = [
  ...['paypear', 'rollypay', 'aurapay', 'overpay', 'etoplatezhi', 'antilopay', 'jupiter', 'donut', 'lava', 'cispay'],
];

async function listOpenPayments(context: ImportContext): Promise<void> {
  for (const method of UNKNOWN_METHODS) {
    const table = `${method}_payments`;
    if (!(await hasTable(context.sql, table))) continue;
    await applyRule(context, {
      ...{ code: 'provider_unknown_open', table, subject: `'${method} ' || f.id` },
      detail: 'f.facts',
      find: `SELECT ${textOf('id')} AS id, jsonb_build_object('method', '${method}', 'user_id', ${textOf('user_id')}, 'kopeks', ${textOf('amount_kopeks')}) AS facts
        FROM ${sourceTable(table)} o WHERE NOT coalesce(${SOURCE_SCHEMA}.read_boolean(${textOf('is_paid')}), false)
          AND lower(trim(${textOf('status')})) IN ('pending', 'processing', 'created', 'new', 'authorized')`,
    });
  }
}

const METADATA = `${SOURCE_SCHEMA}.read_json(${textOf('metadata_json')})::jsonb`;

/**
 * Top-ups that were paid at such a provider and never credited (spec 07 section 4.2): neither the movement that they name is there, nor one with
 * the provider's id, nor a deposit of that time, of which each is given to one payment. Nobody can ask the provider, so they are listed only.
 */
async function listUncreditedPayments(context: ImportContext): Promise<void> {
  const { sql } = context;
  const read = (kind: string, column: string) => `${SOURCE_SCHEMA}.read_${kind}(${textOf(column)})`;
  const transactions = sourceTable('transactions');
  for (const method of UNKNOWN_METHODS) {
    const table = `${method}_payments`;
    if (!(await hasTable(sql, table))) continue;
    const columns = await columnsOf(sql, SOURCE_SCHEMA, table);
    const ofProvider = columns.find(({ name }) => name.startsWith(`${method}_`) && name.endsWith('_id'));
    await sql('DROP TABLE IF EXISTS import_paid');
    await sql(
      `CREATE TEMP TABLE import_paid ON COMMIT DROP AS
       SELECT ${textOf('id')} AS id, ${read('integer', 'user_id')} AS user_id, ${read('integer', 'amount_kopeks')} AS kopeks,
         ${read('integer', 'transaction_id')} AS transaction_id, ${ofProvider ? textOf(ofProvider.name) : 'NULL'} AS external_id,
         coalesce(${read('time', 'paid_at')}, ${read('time', 'created_at')}) AS paid_at,
         NOT coalesce(m.data ->> 'purpose' IN ('guest_purchase', 'wheel') OR m.data ->> 'type' IN ('trial', 'wheel')
           OR m.data ->> 'payment_purpose' = 'simple_subscription_purchase', false) AS is_topup
       FROM ${sourceTable(table)} o CROSS JOIN LATERAL (SELECT CASE WHEN jsonb_typeof(${METADATA}) = 'object' THEN ${METADATA} ELSE '{}' END AS data) m
       WHERE ${read('boolean', 'is_paid')}`,
    );
    await sql('ANALYZE import_paid');
    // One condition for each way to know the movement: of both in one, the server makes a loop over all movements for each payment.
    const isUncredited = (p: string) => `NOT EXISTS (SELECT 1 FROM ${transactions} t WHERE t.id = ${p}.transaction_id)
      AND NOT EXISTS (SELECT 1 FROM ${transactions} t WHERE t.payment_method = '${method}' AND t.external_id = ${p}.external_id AND t.user_id = ${p}.user_id)`;
    const isFree = `NOT EXISTS (SELECT 1 FROM import_paid n WHERE n.transaction_id = t.id)
      AND NOT EXISTS (SELECT 1 FROM import_paid n WHERE n.external_id = t.external_id AND n.user_id = t.user_id)`;
    await applyRule(context, {
      ...{ code: 'payment_paid_uncredited', table, subject: `'${method} ' || f.id` },
      detail: `jsonb_build_object('method', '${method}', 'user_id', f.user_id, 'kopeks', f.kopeks)`,
      find: `SELECT p.id, p.user_id, p.kopeks FROM import_paid p WHERE p.is_topup AND ${isUncredited('p')} AND NOT EXISTS (
        SELECT 1 FROM (SELECT c.id, row_number() OVER (PARTITION BY c.id ORDER BY t.created_at, t.id) AS nth,
            row_number() OVER (PARTITION BY t.id ORDER BY c.id) AS turn
          FROM import_paid c JOIN ${transactions} t ON t.user_id = c.user_id AND t.payment_method = '${method}' AND t.type = 'deposit'
            AND t.amount_kopeks = c.kopeks AND t.created_at BETWEEN c.paid_at - interval '10 minutes' AND c.paid_at + interval '10 minutes'
          WHERE c.is_topup AND ${isUncredited('c')} AND ${isFree}) r WHERE nth = 1 AND turn = 1 AND r.id = p.id)`,
    });
  }
}

/** Coupons that somebody may hold and redeem until the old bot stops; their texts are secrets. */
async function listCoupons(context: ImportContext): Promise<void> {
  if (!(await hasTable(context.sql, 'coupons')) || !(await hasTable(context.sql, 'coupon_batches'))) return;
  const read = (kind: string, column: string) => `${SOURCE_SCHEMA}.read_${kind}(b.batch ->> '${column}')`;
  await applyRule(context, {
    ...{ code: 'coupon_active', table: 'coupons', detail: 'f.facts' },
    find: `SELECT ${textOf('id')} AS id, jsonb_build_object('batch_id', ${textOf('batch_id')}, 'batch', b.batch ->> 'name', 'tariff_id', b.batch ->> 'tariff_id',
        'days', b.batch ->> 'period_days') AS facts
      FROM ${sourceTable('coupons')} o LEFT JOIN (SELECT to_jsonb(c) AS batch FROM ${sourceTable('coupon_batches')} c) b ON b.batch ->> 'id' = ${textOf('batch_id')}
      WHERE lower(trim(${textOf('status')})) = 'active' AND NOT coalesce(${read('boolean', 'is_revoked')}, false)
        AND coalesce(${read('time', 'valid_until')} > ${sqlTime(context.snapshotAt)}, true)`,
  });
}
