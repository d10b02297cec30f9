import { METHODS, SANDBOX_METHOD } from '../payments/payment-methods.ts';
import {
  clearMissingLinks,
  listMissingTimes,
  parkColumns,
  parkOrphanPairs,
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
import { methodOf } from './import-transactions.ts';

const PAGES = sourceTable('landing_pages');
/** JSON of a page with the type that its content has here. */
const PAGE_JSON: Readonly<Record<string, 'object' | 'array'>> = {
  ...{ title: 'object', subtitle: 'object', footer_text: 'object', meta_title: 'object', meta_description: 'object' },
  ...{ discount_badge_text: 'object', features: 'array', allowed_tariff_ids: 'array', allowed_periods: 'object' },
  ...{ payment_methods: 'array', discount_overrides: 'object', background_config: 'object' },
};

/** Public sales pages (spec 07 section 4.4). */
export const landingStep: ImportStep = {
  name: 'landing pages',
  async prepare(context) {
    const table = 'landing_pages';
    await applyRule(context, {
      ...{ code: 'slug_invalid', table, isParked: true },
      find: `SELECT id FROM ${PAGES} WHERE slug ~ '^[a-z0-9-]+$' IS NOT TRUE`,
    });
    await parkRepeated(context, { table, columns: 'slug' });
    const isWhole = (row: string) =>
      `(${row}discount_percent BETWEEN 1 AND 99 AND ${cutTime(`${row}discount_starts_at`)} < ${cutTime(`${row}discount_ends_at`)}) IS TRUE`;
    await applyRule(context, {
      ...{
        code: 'landing_discount_invalid',
        table,
        set: 'discount_percent = NULL, discount_starts_at = NULL, discount_ends_at = NULL',
      },
      find: `SELECT id FROM ${PAGES} WHERE num_nonnulls(discount_percent, discount_starts_at, discount_ends_at) > 0 AND NOT ${isWhole('')}`,
      parks: `jsonb_build_object('id', s.id, 'discount_percent', s.discount_percent, 'discount_starts_at', s.discount_starts_at, 'discount_ends_at', s.discount_ends_at)`,
    });
    const json = Object.entries(PAGE_JSON);
    await applyRule(context, {
      ...{ code: 'landing_content_invalid', table },
      find: `SELECT id FROM ${PAGES} WHERE ${json.map(([column, type]) => `json_typeof(${column}) <> '${type}'`).join(' OR ')}`,
      set: json
        .map(([column, type]) => `${column} = CASE WHEN json_typeof(s.${column}) = '${type}' THEN s.${column} END`)
        .join(', '),
      parks: `jsonb_build_object('id', s.id, ${json.map(([column]) => `'${column}', s.${column}`).join(', ')})`,
    });
    await transfer(context, { table, columns: { payment_methods: renamedMethods('s.payment_methods::jsonb') } });
  },
};

/** Methods of a page under our names, in their order. */
function renamedMethods(list: string): string {
  const name = `m.value ->> 'method_id'`;
  return `coalesce((SELECT jsonb_agg(CASE WHEN ${name} LIKE 'telegram_stars%' THEN jsonb_set(m.value, '{method_id}', to_jsonb(${methodOf(name)}))
      WHEN m.value #>> '{}' LIKE 'telegram_stars%' THEN to_jsonb(${methodOf("m.value #>> '{}'")}) ELSE m.value END ORDER BY m.ordinality)
    FROM jsonb_array_elements(${list}) WITH ORDINALITY m), '[]')`;
}

const PURCHASES = sourceTable('guest_purchases');
const INVOICES = sourceTable('~guest_payments');
const STATUSES = wordList(['pending', 'paid', 'pending_activation', 'delivered', 'failed', 'expired']);
const PAID_STATUSES = wordList(['paid', 'pending_activation', 'delivered']);
/** How long the password of an account is kept that a purchase has made (spec 07 section 6). */
const PASSWORD_HOURS = 72;

/** Purchases without an account, and gifts (spec 07 section 4.4): what was paid can be activated, and once only (hazard I36). */
export const guestPurchaseStep: ImportStep = {
  name: 'guest purchases',
  async prepare(context) {
    await parkPurchases(context);
    await clearMissingLinks(context, 'guest_purchases', {
      ...{ landing_id: 'landing_pages', buyer_user_id: 'users', tariff_id: 'tariffs', user_id: 'users' },
    });
    await listMissingTimes(context, 'guest_purchases');
    await parkColumns(context, 'guest_purchases', ['receipt_created_at'], 'receipt_created_at IS NOT NULL');
    await repairPurchases(context);
    await findInvoices(context);
    await makePurchases(context);
  },
};

async function parkPurchases(context: ImportContext): Promise<void> {
  const table = 'guest_purchases';
  await applyRule(context, {
    ...{ code: 'guest_purchase_invalid', table, isParked: true },
    find: `SELECT id FROM ${PURCHASES} WHERE coalesce(amount_kopeks, 0) <= 0 OR coalesce(period_days, 0) <= 0 OR token ~ '^[A-Za-z0-9_-]{12,64}$' IS NOT TRUE`,
  });
  // Buyers hold the first 12 characters, and the purchase is found by them.
  await parkRepeated(context, { table, columns: 'left(token, 12)', code: 'gift_code_collision' });
}

async function repairPurchases(context: ImportContext): Promise<void> {
  const table = 'guest_purchases';
  await applyRule(context, {
    ...{
      code: 'guest_purchase_status_unknown',
      table,
      set: `status = 'failed'`,
      detail: `jsonb_build_object('status', f.status)`,
    },
    find: `SELECT id, status FROM ${PURCHASES} WHERE ${wordOf('status')} IN ${STATUSES} IS NOT TRUE`,
  });
  await context.sql(`UPDATE ${PURCHASES} SET status = ${wordOf('status')} WHERE status <> ${wordOf('status')}`);
  const evidence = `s.created_at, ${sqlTime(context.firstSnapshotAt)}`;
  await applyRule(context, {
    ...{ code: 'guest_purchase_times', table },
    find: `SELECT id FROM ${PURCHASES} WHERE (status IN ${PAID_STATUSES} AND paid_at IS NULL) OR (status = 'delivered') <> (delivered_at IS NOT NULL)`,
    set: `paid_at = CASE WHEN s.status IN ${PAID_STATUSES} THEN coalesce(s.paid_at, s.delivered_at, ${evidence}) ELSE s.paid_at END,
      delivered_at = CASE WHEN s.status = 'delivered' THEN coalesce(s.delivered_at, s.paid_at, ${evidence}) END`,
    parks: `jsonb_build_object('id', s.id, 'paid_at', s.paid_at, 'delivered_at', s.delivered_at)`,
  });
  const isUnknown = (column: string) => `${wordOf(column)} IN ('email', 'telegram') IS NOT TRUE`;
  const hasRecipient = `(${wordOf('s.gift_recipient_type')} IS NOT NULL AND trim(s.gift_recipient_value) <> '')`;
  // Without a known word the address says what it is.
  const known = (type: string, value: string) =>
    `CASE WHEN ${isUnknown(type)} THEN CASE WHEN ${value} ~ '^[^@]+@[^@]+$' THEN 'email' ELSE 'telegram' END ELSE ${type} END`;
  await applyRule(context, {
    ...{ code: 'guest_purchase_recipient', table },
    find: `SELECT id FROM ${PURCHASES} s WHERE ${isUnknown('contact_type')} OR (gift_recipient_type IS NOT NULL AND ${isUnknown('gift_recipient_type')})
      OR (gift_recipient_type IS NULL) <> (gift_recipient_value IS NULL) OR (gift_recipient_type IS NOT NULL AND (is_gift IS NOT TRUE OR NOT ${hasRecipient}))`,
    set: `contact_type = ${known('s.contact_type', 's.contact_value')}, is_gift = coalesce(s.is_gift, false) OR ${hasRecipient},
      gift_recipient_type = CASE WHEN ${hasRecipient} THEN ${known('s.gift_recipient_type', 's.gift_recipient_value')} END,
      gift_recipient_value = CASE WHEN ${hasRecipient} THEN s.gift_recipient_value END`,
    parks: `jsonb_build_object('id', s.id, 'contact_type', s.contact_type, 'is_gift', s.is_gift, 'gift_recipient_type', s.gift_recipient_type,
      'gift_recipient_value', s.gift_recipient_value)`,
  });
  await applyRule(context, {
    ...{ code: 'guest_purchase_bounds', table, detail: `jsonb_build_object('source', f.source, 'retry_count', f.retry_count)` },
    find: `SELECT id, source, retry_count FROM ${PURCHASES} WHERE ${wordOf('source')} NOT IN ('landing', 'cabinet') OR retry_count < 0`,
    set: `source = CASE WHEN ${wordOf('s.source')} IN ('landing', 'cabinet') THEN s.source ELSE 'landing' END, retry_count = greatest(s.retry_count, 0)`,
  });
}

/** The invoice of a purchase: a payment whose metadata name its token, or else the one with the provider's id. Each pays for one. */
async function findInvoices({ sql }: ImportContext): Promise<void> {
  const payments = nextTable('payments');
  await sql(
    `CREATE UNLOGGED TABLE ${INVOICES} AS SELECT purchase_id, payment_id FROM (
       SELECT purchase_id, payment_id, row_number() OVER (PARTITION BY purchase_id ORDER BY rank, is_paid DESC, is_open DESC, payment_id DESC) AS nth,
         row_number() OVER (PARTITION BY payment_id ORDER BY rank, purchase_id) AS turn
       FROM (SELECT g.id AS purchase_id, p.id AS payment_id, p.is_paid, p.outcome = 'pending' AS is_open, 1 AS rank
           FROM ${PURCHASES} g JOIN ${payments} p ON p.metadata ->> 'purchase_token' = g.token
         UNION ALL SELECT g.id, p.id, p.is_paid, p.outcome = 'pending', 2
           FROM ${PURCHASES} g JOIN ${payments} p ON p.method = ${methodOf('g.payment_method')} AND p.external_id = g.payment_id
         UNION ALL SELECT g.id, p.id, p.is_paid, p.outcome = 'pending', 3
           FROM ${PURCHASES} g JOIN ${payments} p ON p.method = ${methodOf('g.payment_method')} AND p.order_id = g.payment_id) c) r
     WHERE nth = 1 AND turn = 1`,
  );
}

async function makePurchases(context: ImportContext): Promise<void> {
  const [now, first] = [sqlTime(context.snapshotAt), sqlTime(context.firstSnapshotAt)];
  const delivered = cutTime('s.delivered_at');
  const password = `CASE WHEN s.delivered_at > ${now} - interval '${PASSWORD_HOURS} hours' THEN s.cabinet_password END`;
  const contact = (column: string) => `CASE ${wordOf(column)} WHEN 'telegram' THEN 'messenger' ELSE ${wordOf(column)} END`;
  await transfer(context, {
    table: 'guest_purchases',
    rest: `LEFT JOIN ${INVOICES} invoice ON invoice.purchase_id = s.id`,
    columns: {
      code: 'left(s.token, 12)',
      source: `coalesce(${wordOf('s.source')}, 'landing')`,
      contact_type: contact('s.contact_type'),
      gift_recipient_type: contact('s.gift_recipient_type'),
      payment_method: methodOf('s.payment_method'),
      payment_id: 'invoice.payment_id',
      granted_at: delivered,
      next_attempt_at: `CASE WHEN s.status = 'paid' THEN ${first} END`,
      cabinet_password: password,
      // Only a new account got a password, and nobody else signs in to one that is known by its user name alone: it waits to be claimed.
      account_created: `${password} IS NOT NULL
        OR EXISTS (SELECT 1 FROM ${nextTable('import_issues')} i WHERE i.code = 'user_phantom' AND i.subject = s.user_id::text)`,
      auto_login_token: 'NULL',
      updated_at: cutTime(
        `greatest(s.created_at, s.paid_at, s.delivered_at, CASE WHEN num_nonnulls(s.created_at, s.paid_at, s.delivered_at) = 0 THEN ${first} END)`,
      ),
    },
    createdFrom: ['s.paid_at'],
  });
}

const METHOD_NAMES = wordList([...METHODS, SANDBOX_METHOD].map(({ id }) => id));
const CONFIGS = sourceTable('payment_method_configs');

/** How methods of payment are offered, and cards that users have saved (spec 07 section 4.1). */
export const paymentMethodStep: ImportStep = {
  name: 'payment methods',
  async prepare(context) {
    await repairConfigs(context);
    await parkOrphanPairs(context, 'payment_method_promo_groups', 'payment_method_promo_group_orphan', [
      ['payment_method_config_id', 'payment_method_configs'],
      ['promo_group_id', 'promo_groups'],
    ]);
    await transfer(context, {
      table: 'payment_method_configs',
      columns: {
        method_id: methodOf(wordOf('s.method_id')),
        user_type_filter: `CASE ${wordOf('s.user_type_filter')} WHEN 'telegram' THEN 'messenger' ELSE coalesce(${wordOf('s.user_type_filter')}, 'all') END`,
        first_topup_filter: `coalesce(${wordOf('s.first_topup_filter')}, 'any')`,
        promo_group_filter_mode: `coalesce(${wordOf('s.promo_group_filter_mode')}, 'all')`,
      },
    });
    await transfer(context, {
      table: 'payment_method_promo_groups',
      rest: `JOIN ${CONFIGS} c ON c.id = s.payment_method_config_id`,
      columns: { method_id: methodOf(wordOf('c.method_id')) },
    });
    await saveCards(context);
  },
};

async function repairConfigs(context: ImportContext): Promise<void> {
  const table = 'payment_method_configs';
  const method = methodOf(wordOf('method_id'));
  await applyRule(context, {
    ...{ code: 'payment_method_unknown', table, isParked: true },
    find: `SELECT id FROM ${CONFIGS} WHERE ${method} IN ${METHOD_NAMES} IS NOT TRUE`,
  });
  await parkRepeated(context, { table, columns: method });
  const words: Readonly<Record<string, string>> = {
    user_type_filter: "('all', 'telegram', 'email')",
    first_topup_filter: "('any', 'yes', 'no')",
    promo_group_filter_mode: "('all', 'selected')",
  };
  const isOutside = Object.entries(words).map(([column, list]) => `${wordOf(column)} NOT IN ${list}`);
  const known = Object.entries(words).map(
    ([column, list]) => `${column} = CASE WHEN ${wordOf(`s.${column}`)} IN ${list} THEN s.${column} END`,
  );
  await applyRule(context, {
    ...{ code: 'payment_method_bounds', table },
    find: `SELECT id FROM ${CONFIGS} WHERE ${isOutside.join(' OR ')} OR min_amount_kopeks < 0 OR max_amount_kopeks < 0 OR min_amount_kopeks > max_amount_kopeks`,
    set: `${known.join(', ')}, min_amount_kopeks = CASE WHEN s.min_amount_kopeks >= 0 THEN s.min_amount_kopeks END,
      max_amount_kopeks = CASE WHEN s.max_amount_kopeks >= greatest(s.min_amount_kopeks, 0) THEN s.max_amount_kopeks END`,
    parks: `jsonb_build_object('id', s.id, 'min_amount_kopeks', s.min_amount_kopeks, 'max_amount_kopeks', s.max_amount_kopeks,
      ${Object.keys(words)
        .map((column) => `'${column}', s.${column}`)
        .join(', ')})`,
  });
}

async function saveCards(context: ImportContext): Promise<void> {
  const table = 'saved_payment_methods';
  await parkOrphans(context, table, 'user_id', 'users', 'saved_payment_method_orphan');
  await applyRule(context, {
    ...{ code: 'saved_payment_method_invalid', table, isParked: true },
    find: `SELECT id FROM ${sourceTable(table)} WHERE coalesce(trim(yookassa_payment_method_id), '') = ''`,
  });
  await parkRepeated(context, { table, columns: 'yookassa_payment_method_id' });
  await transfer(context, {
    table,
    columns: {
      provider: `'yookassa'`,
      provider_method_id: 's.yookassa_payment_method_id',
      ...{ expiry_month: 's.card_expiry_month', expiry_year: 's.card_expiry_year' },
    },
  });
}

const REQUESTS = sourceTable('withdrawal_requests');
const REQUEST_STATUSES = wordList(['pending', 'approved', 'rejected', 'completed', 'cancelled']);

/** Requests for payouts (spec 07 section 4.1). Money of pending ones is not reserved here either; none is paid again (hazard I35). */
export const withdrawalStep: ImportStep = {
  name: 'withdrawals',
  async prepare(context) {
    const table = 'withdrawal_requests';
    await parkOrphans(context, table, 'user_id', 'users', 'withdrawal_request_orphan');
    await applyRule(context, {
      ...{ code: 'withdrawal_amount_invalid', table, isParked: true },
      find: `SELECT id FROM ${REQUESTS} WHERE coalesce(amount_kopeks, 0) <= 0`,
    });
    await clearMissingLinks(context, table, { processed_by: 'users' });
    await listMissingTimes(context, table);
    await parkColumns(context, table, ['updated_at'], 'updated_at > coalesce(processed_at, created_at)');
    await applyRule(context, {
      ...{
        code: 'withdrawal_status_unknown',
        table,
        set: `status = 'pending'`,
        detail: `jsonb_build_object('status', f.status)`,
      },
      find: `SELECT id, status FROM ${REQUESTS} WHERE ${wordOf('status')} IN ${REQUEST_STATUSES} IS NOT TRUE`,
    });
    await applyRule(context, {
      ...{ code: 'withdrawal_bounds', table, set: 'risk_score = least(greatest(s.risk_score, 0), 100)' },
      detail: `jsonb_build_object('risk_score', f.risk_score)`,
      find: `SELECT id, risk_score FROM ${REQUESTS} WHERE risk_score NOT BETWEEN 0 AND 100`,
    });
    await transfer(context, { table, columns: { status: wordOf('s.status') }, createdFrom: ['s.processed_at'] });
  },
};
