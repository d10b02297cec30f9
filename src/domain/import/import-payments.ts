import { assignIds, isIdOf, wordList } from './import-row-rules.ts';
import { applyRule, cutTime, type ImportContext, type ImportStep, nextTable, sourceTable, sqlTime } from './import-step.ts';

/** Payments of one provider in the source (spec 07 section 4.2): columns and words that differ from table to table, as SQL over its row `s`. */
interface ProviderTable {
  method: string;
  /** Null: the source has none. */
  orderId: string | null;
  externalId: string;
  amount?: string;
  paymentUrl: string;
  /** Words, in lower case, of a payment that can still be paid; `dead`: all but these. */
  open?: readonly string[];
  dead?: readonly string[];
  isPaid?: string;
  paidAt?: string;
  expiresAt?: string;
  currency?: string;
  description?: string;
  metadata?: string;
  callbackPayload?: string;
  option?: string;
  /** Columns that have a place, beside those of all tables. */
  placed: readonly string[];
}

const PROVIDER = ['pending', 'created', 'processing'] as const;
const CRYPTOBOT_JSON = "CASE WHEN s.payload ~ '^\\s*[{]' THEN import_source.read_json(s.payload)::jsonb END";

const PROVIDER_TABLES: readonly ProviderTable[] = [
  {
    ...{ method: 'yookassa', orderId: null, externalId: 's.yookassa_payment_id', paymentUrl: 's.confirmation_url' },
    ...{
      open: ['pending', 'waiting_for_capture'],
      paidAt: 's.captured_at',
      expiresAt: 'NULL::timestamptz',
      callbackPayload: 'NULL::json',
    },
    ...{
      option: 's.payment_method_type',
      placed: ['yookassa_payment_id', 'confirmation_url', 'captured_at', 'payment_method_type'],
    },
  },
  {
    ...{
      method: 'cryptobot',
      orderId: null,
      externalId: 's.invoice_id',
      open: ['active'],
      isPaid: "lower(trim(s.status)) = 'paid'",
    },
    amount: `CASE WHEN s.payload ~ '_\\d{1,15}$' THEN substring(s.payload from '_(\\d{1,15})$')::bigint
      WHEN s.payload ~ '^subscription_renewal[|]([^|]*[|]){4}\\d{1,15}([|]|$)' THEN split_part(s.payload, '|', 6)::bigint
      WHEN (${CRYPTOBOT_JSON}) ->> 'amount_kopeks' ~ '^\\d{1,15}$' THEN ((${CRYPTOBOT_JSON}) ->> 'amount_kopeks')::bigint END`,
    paymentUrl: 'coalesce(s.bot_invoice_url, s.mini_app_invoice_url, s.web_app_invoice_url)',
    ...{ expiresAt: 'NULL::timestamptz', currency: `'RUB'`, metadata: CRYPTOBOT_JSON, callbackPayload: 'NULL::json' },
    placed: ['invoice_id', 'bot_invoice_url'],
  },
  {
    ...{
      method: 'heleket',
      orderId: 's.order_id',
      externalId: 's.uuid',
      paymentUrl: 's.payment_url',
      callbackPayload: 'NULL::json',
    },
    description: 'NULL::text',
    amount: `CASE WHEN upper(trim(s.currency)) = 'RUB' AND trim(s.amount) ~ '^\\d{1,13}([.]\\d{1,2})?$' THEN (trim(s.amount)::numeric * 100)::bigint END`,
    ...{
      dead: ['cancel', 'canceled', 'fail', 'failed', 'expired', 'system_fail'],
      isPaid: "lower(trim(s.status)) IN ('paid', 'paid_over')",
    },
    placed: ['uuid', 'order_id', 'amount', 'payment_url'],
  },
  {
    ...{
      method: 'mulenpay',
      orderId: 's.uuid',
      externalId: 's.mulen_payment_id::text',
      paymentUrl: 's.payment_url',
      expiresAt: 'NULL::timestamptz',
    },
    ...{ open: ['created', 'processing', 'hold'], placed: ['uuid', 'mulen_payment_id', 'payment_url'] },
  },
  {
    ...{ method: 'pal24', orderId: 's.order_id', externalId: 's.bill_id', paymentUrl: 'coalesce(s.link_url, s.link_page_url)' },
    ...{ open: ['new', 'process'], option: 's.payment_method', placed: ['order_id', 'bill_id', 'link_url', 'payment_method'] },
  },
  {
    ...{ method: 'wata', orderId: 's.order_id', externalId: 's.payment_link_id', paymentUrl: 's.url' },
    ...{ dead: ['closed unpaid', 'declined', 'canceled', 'expired'], placed: ['order_id', 'payment_link_id', 'url'] },
  },
  {
    ...{ method: 'platega', orderId: 's.correlation_id', externalId: 's.platega_transaction_id', paymentUrl: 's.redirect_url' },
    ...{ open: ['pending', 'inprogress'], placed: ['correlation_id', 'platega_transaction_id', 'redirect_url'] },
  },
  {
    ...{ method: 'cloudpayments', orderId: 's.invoice_id', paymentUrl: 's.payment_url' },
    // A charge, which an attempt that was declined has too: the next attempt at an open order has another one.
    externalId: 'CASE WHEN s.is_paid OR s.transaction_id IS NOT NULL THEN s.transaction_id_cp::text END',
    ...{
      open: ['pending', 'authorized'],
      expiresAt: 'NULL::timestamptz',
      placed: ['invoice_id', 'payment_url', 'token'],
    },
  },
  ...(['freekassa', 'kassa_ai', 'riopay'] as const).map((method) => ({
    ...{ method, orderId: 's.order_id', externalId: `s.${method}_order_id`, paymentUrl: 's.payment_url', open: PROVIDER },
    placed: ['order_id', `${method}_order_id`, 'payment_url'],
  })),
  {
    ...{
      method: 'severpay',
      orderId: 's.order_id',
      externalId: 's.severpay_id',
      paymentUrl: 's.payment_url',
      open: ['pending', 'processing'],
    },
    ...{ option: 's.payment_method', placed: ['order_id', 'severpay_id', 'payment_url', 'payment_method'] },
  },
];

const ALL = sourceTable('~payments');
const PLACED_EVERYWHERE = [
  ...[
    'id',
    'user_id',
    'amount_kopeks',
    'currency',
    'description',
    'status',
    'is_paid',
    'paid_at',
    'expires_at',
    'created_at',
    'updated_at',
  ],
  ...['metadata_json', 'callback_payload', 'transaction_id'],
];

/** Payments of all providers as they will be here (spec 07 section 4.2). */
export const paymentStep: ImportStep = {
  name: 'payments',
  async prepare(context) {
    await collect(context);
    await linkToTransactions(context);
    await settleIdentities(context);
    await makeRows(context);
  },
};

async function collect(context: ImportContext): Promise<void> {
  const { sql } = context;
  for (const table of PROVIDER_TABLES)
    await applyRule(context, {
      ...{ code: 'payment_amount_invalid', table: `${table.method}_payments`, isParked: true },
      find: `SELECT s.id FROM ${sourceTable(`${table.method}_payments`)} s WHERE coalesce(${table.amount ?? 's.amount_kopeks'}, 0) <= 0`,
    });
  const [first, ...others] = PROVIDER_TABLES.map(selectionOf);
  await sql(`CREATE UNLOGGED TABLE ${ALL} AS ${first}`);
  for (const other of others) await sql(`INSERT INTO ${ALL} ${other}`);
  await sql(`ALTER TABLE ${ALL} ADD COLUMN place bigint GENERATED ALWAYS AS IDENTITY`);
  await sql(`ANALYZE ${ALL}`);
}

/** The payments of one table in one shape. */
function selectionOf(table: ProviderTable): string {
  const {
    method,
    orderId,
    externalId,
    amount = 's.amount_kopeks',
    paymentUrl,
    currency = `coalesce(nullif(trim(s.currency), ''), 'RUB')`,
  } = table;
  const word = "lower(trim(coalesce(s.status, '')))";
  const isOpen = table.open ? `${word} IN ${wordList(table.open)}` : `${word} NOT IN ${wordList(table.dead!)}`;
  const metadata = table.metadata ?? 's.metadata_json::jsonb';
  const homeless = [...PLACED_EVERYWHERE, ...table.placed];
  return `SELECT '${method}'::text AS method, s.id AS source_id, s.user_id, nullif(trim(${orderId ?? 'NULL'}), '') AS order_id,
      nullif(trim(${externalId}), '') AS external_id, ${amount} AS amount_kopeks, ${currency} AS currency, ${table.description ?? 's.description'} AS description, s.status,
      coalesce(${table.isPaid ?? 's.is_paid'}, false) AS is_paid, ${isOpen} AS is_open,
      ${table.paidAt ?? 's.paid_at'} AS paid_at, ${table.expiresAt ?? 's.expires_at'} AS expires_at, ${paymentUrl} AS payment_url,
      ${table.option ?? 'NULL::text'} AS option, m.data AS metadata, ${table.callbackPayload ?? 's.callback_payload'}::jsonb AS callback_payload,
      s.transaction_id, s.created_at, s.updated_at, jsonb_strip_nulls(to_jsonb(s) - '{${homeless.join(',')}}'::text[]) AS homeless,
      CASE WHEN m.data ->> 'purpose' = 'guest_purchase' THEN 'guest_purchase' WHEN m.data ->> 'type' = 'trial' THEN 'trial'
        WHEN m.data ->> 'payment_purpose' = 'simple_subscription_purchase' THEN 'simple_subscription_purchase'
        WHEN m.data ->> 'purpose' = 'recurrent_topup' THEN 'recurrent_topup'
        WHEN 'wheel' IN (m.data ->> 'purpose', m.data ->> 'type') THEN 'wheel_spin' ELSE 'balance_topup' END AS purpose
    FROM ${sourceTable(`${method}_payments`)} s
    CROSS JOIN LATERAL (SELECT CASE WHEN jsonb_typeof(${metadata}) = 'object' THEN ${metadata} ELSE '{}'::jsonb END AS data) m`;
}

const TOP_UP = "purpose IN ('balance_topup', 'recurrent_topup')";
const NAMED = "f.method || ' ' || f.source_id";

/** Rules about the movement that a payment was credited by (spec 07 section 7; I4 to I6). */
async function linkToTransactions(context: ImportContext): Promise<void> {
  const { snapshotAt, sql } = context;
  const transactions = sourceTable('transactions');
  const rule = { table: '~payments', key: 'place' };
  await sql(
    `UPDATE ${ALL} p SET user_id = NULL WHERE user_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${sourceTable('users')} u WHERE u.id = p.user_id)`,
  );
  const named = `SELECT place AS id, method, source_id, transaction_id FROM ${ALL} p WHERE transaction_id IS NOT NULL`;
  await applyRule(context, {
    ...{ ...rule, code: 'payment_transaction_missing', set: 'transaction_id = NULL', subject: NAMED },
    detail: `jsonb_build_object('transaction_id', f.transaction_id)`,
    find: `${named} AND NOT EXISTS (SELECT 1 FROM ${transactions} t WHERE t.id = p.transaction_id)`,
  });
  await applyRule(context, {
    ...{ ...rule, code: 'payment_flag_missing', set: 'is_paid = true', subject: NAMED },
    find: `${named} AND NOT is_paid`,
  });
  await sql(`ALTER TABLE ${ALL} ADD COLUMN is_shared boolean NOT NULL DEFAULT false`);
  await applyRule(context, {
    ...{ ...rule, code: 'payment_transaction_shared', set: 'transaction_id = NULL, is_shared = true', subject: NAMED },
    find: `SELECT place AS id, method, source_id FROM (SELECT place, method, source_id, row_number() OVER (PARTITION BY transaction_id ORDER BY source_id, place) AS nth
      FROM ${ALL} WHERE transaction_id IS NOT NULL) r WHERE nth > 1`,
  });
  const uncredited = `p.is_paid AND p.transaction_id IS NULL AND NOT p.is_shared AND p.${TOP_UP}`;
  const isFree = `NOT EXISTS (SELECT 1 FROM ${ALL} o WHERE o.transaction_id = t.id)`;
  // First by the provider's id; then the only deposit of that time, of which each is given to one payment.
  await sql(
    `UPDATE ${ALL} p SET transaction_id = t.id FROM ${transactions} t
     WHERE ${uncredited} AND t.payment_method = p.method AND t.external_id = p.external_id AND t.user_id = p.user_id AND ${isFree}`,
  );
  await sql(
    `UPDATE ${ALL} p SET transaction_id = c.transaction_id FROM (
       SELECT place, transaction_id FROM (SELECT p.place, t.id AS transaction_id, row_number() OVER (PARTITION BY p.place ORDER BY t.created_at, t.id) AS nth,
           row_number() OVER (PARTITION BY t.id ORDER BY p.place) AS turn
         FROM ${ALL} p JOIN ${transactions} t ON t.user_id = p.user_id AND t.payment_method = p.method AND t.type = 'deposit' AND t.amount_kopeks = p.amount_kopeks
           AND t.created_at BETWEEN coalesce(p.paid_at, p.created_at) - interval '10 minutes' AND coalesce(p.paid_at, p.created_at) + interval '10 minutes'
         WHERE ${uncredited} AND ${isFree}) r WHERE nth = 1 AND turn = 1) c
     WHERE p.place = c.place`,
  );
  const isRecent = `coalesce(s.created_at > ${sqlTime(snapshotAt)} - interval '24 hours', false)`;
  await sql(`ALTER TABLE ${ALL} ADD COLUMN outcome text`);
  await applyRule(context, {
    ...{
      ...rule,
      code: 'payment_paid_uncredited',
      subject: NAMED,
      detail: `jsonb_build_object('user_id', f.user_id, 'kopeks', f.amount_kopeks)`,
    },
    find: `SELECT place AS id, method, source_id, user_id, amount_kopeks FROM ${ALL} p WHERE ${uncredited}`,
    set: `is_paid = false, outcome = CASE WHEN ${isRecent} THEN 'pending' ELSE 'failed' END`,
  });
}

/** Order ids are unique here among all providers, provider's ids among the payments of one. */
async function settleIdentities({ sql }: ImportContext): Promise<void> {
  await sql(
    `UPDATE ${ALL} p SET order_id = 'imp-' || p.method || '-' || p.source_id, homeless = p.homeless || jsonb_strip_nulls(jsonb_build_object('order_id', p.order_id))
     FROM (SELECT place, row_number() OVER (PARTITION BY order_id ORDER BY (is_open AND NOT is_paid) DESC, place) AS nth FROM ${ALL}) r
     WHERE r.place = p.place AND (p.order_id IS NULL OR r.nth > 1 OR length(p.order_id) > 255)`,
  );
  await sql(
    `UPDATE ${ALL} p SET external_id = NULL, homeless = p.homeless || jsonb_build_object('external_id', p.external_id)
     FROM (SELECT place, row_number() OVER (PARTITION BY method, external_id ORDER BY is_paid DESC, place) AS nth FROM ${ALL} WHERE external_id IS NOT NULL) r
     WHERE r.place = p.place AND (r.nth > 1 OR length(p.external_id) > 255)`,
  );
}

const REFUNDED = "('refunded', 'refund', 'partially_refunded', 'reversed', 'chargeback', 'charged_back')";

async function makeRows({ sql, firstSnapshotAt }: ImportContext): Promise<void> {
  const row = { target: 'payments', sourceName: "p.method || '_payments'", sourceId: 'p.source_id' };
  await assignIds({ sql }, { ...row, from: `${ALL} p`, order: 'p.created_at, p.place' });
  const word = "lower(trim(coalesce(p.status, '')))";
  const now = sqlTime(firstSnapshotAt);
  const created = `coalesce(p.created_at, p.paid_at, ${now})`;
  await sql(
    `INSERT INTO ${nextTable('payments')} (id, method, user_id, order_id, external_id, charge_id, amount_kopeks, currency, description, status, outcome, is_paid, paid_at,
       expires_at, payment_url, option, purpose, metadata, callback_payload, transaction_id, created_at, updated_at, imported_at)
     SELECT k.target_id, p.method, p.user_id, p.order_id, p.external_id,
       CASE WHEN p.method = 'cloudpayments' AND p.is_paid THEN p.external_id END, p.amount_kopeks, left(p.currency, 16), p.description, left(coalesce(p.status, ''), 40),
       CASE WHEN p.is_paid THEN 'paid' WHEN p.outcome IS NOT NULL THEN p.outcome WHEN ${word} = 'amount_mismatch' THEN 'amount_mismatch'
         WHEN ${word} IN ${REFUNDED} THEN 'refunded' WHEN ${word} = 'expired' THEN 'expired' WHEN p.is_open THEN 'pending' ELSE 'failed' END,
       p.is_paid, ${cutTime(`CASE WHEN p.is_paid THEN coalesce(p.paid_at, p.updated_at, ${created}) END`)}, ${cutTime('p.expires_at')}, p.payment_url, left(p.option, 40), p.purpose,
       CASE WHEN p.metadata::text ~ 'telegram|remnawave' THEN (SELECT coalesce(jsonb_object_agg(replace(replace(key, 'telegram', 'messenger'), 'remnawave', 'vpnpanel'), value), '{}')
           FROM jsonb_each(p.metadata)) ELSE p.metadata END
         || jsonb_build_object('import', p.homeless || jsonb_build_object('table', p.method || '_payments', 'id', p.source_id)),
       p.callback_payload, p.transaction_id, ${cutTime(created)}, ${cutTime(`coalesce(p.updated_at, ${created})`)}, ${now}
     FROM ${ALL} p JOIN ${nextTable('import_map')} k ON ${isIdOf(row)}`,
  );
}
