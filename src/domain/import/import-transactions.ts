import { applyRule, type ImportContext, type ImportStep, parkOrphans, sourceTable, sqlTime, transfer } from './import-step.ts';

const ROWS = sourceTable('transactions');
const USERS = sourceTable('users');

/** A method of the source in our words: only the messenger's own has another name (spec 07 section 3). */
export const methodOf = (column: string): string => `regexp_replace(trim(${column}), '^telegram_stars', 'messenger_stars')`;

const TYPES = "('deposit', 'withdrawal', 'subscription_payment', 'refund', 'referral_reward', 'poll_reward', 'gift_payment')";
/** Types that the source stores with either sign, and that take from the owner (spec 07 section 4.1). */
const DEBITS = "('withdrawal', 'subscription_payment', 'gift_payment')";
/** Descriptions of deposits that no administrator made (migration 0044 of the source). */
const AUTOMATIC_DEPOSITS = [
  ...[
    'Выигрыш в колесе удачи:',
    'Бонус за регистрацию по кампании',
    'Бонус по промокоду',
    'Комиссия ',
    'Бонус за первое пополнение',
  ],
  ...['Бонус за реферала', 'Восстановленный бонус', 'Пополнение через Tribute', 'Пополнение через Telegram Stars'],
];
const MANUAL_METHOD_SINCE = 44;

/** Movements whose money went through the balance: all but purchases that were paid at a provider. */
const TOUCHES_WALLET =
  "(type NOT IN ('subscription_payment', 'gift_payment') OR payment_method IS NULL OR payment_method IN ('balance', 'manual'))";

/** Rules for the history of money (spec 07 sections 4.1, 7 and 8), and for balances that it does not explain. */
export const transactionRulesStep: ImportStep = {
  name: 'rules of transactions',
  async prepare(context) {
    await parkOrphans(context, 'transactions', 'user_id', 'users', 'transaction_orphan');
    await repairRows(context);
    await listOddities(context);
    await compareBalances(context);
  },
};

async function repairRows(context: ImportContext): Promise<void> {
  const { sql, revision, firstSnapshotAt } = context;
  // What a withdrawal is depends on its stored sign, which the rules change.
  await sql(`ALTER TABLE ${ROWS} ADD COLUMN stored_positive boolean`);
  await applyRule(context, {
    ...{ code: 'transaction_completed_null', table: 'transactions', set: 'is_completed = s.completed_at IS NOT NULL' },
    find: `SELECT id FROM ${ROWS} WHERE is_completed IS NULL`,
  });
  await applyRule(context, {
    ...{ code: 'refund_failed', table: 'transactions', set: `type = 'refund', is_completed = false` },
    detail: `jsonb_build_object('user_id', f.user_id, 'kopeks', f.amount_kopeks)`,
    find: `SELECT id, user_id, amount_kopeks FROM ${ROWS} WHERE lower(trim(type)) = 'failed_refund'`,
  });
  await applyRule(context, {
    ...{ code: 'transaction_type_unknown', table: 'transactions', detail: `jsonb_build_object('type', f.type)` },
    find: `SELECT id, type FROM ${ROWS} WHERE lower(trim(type)) IN ${TYPES} IS NOT TRUE`,
    set: `type = CASE WHEN s.amount_kopeks >= 0 THEN 'deposit' ELSE 'withdrawal' END, amount_kopeks = coalesce(s.amount_kopeks, 0)`,
  });
  await sql(`UPDATE ${ROWS} SET type = lower(trim(type)) WHERE type <> lower(trim(type))`);
  await applyRule(context, {
    ...{ code: 'transaction_sign', table: 'transactions', set: 'amount_kopeks = -s.amount_kopeks, stored_positive = true' },
    find: `SELECT id FROM ${ROWS} WHERE type IN ${DEBITS} AND amount_kopeks > 0`,
  });
  await applyRule(context, {
    ...{ code: 'transaction_created_null', table: 'transactions' },
    find: `SELECT id FROM ${ROWS} WHERE created_at IS NULL`,
    set: `created_at = coalesce(s.completed_at, (SELECT u.created_at FROM ${USERS} u WHERE u.id = s.user_id), ${sqlTime(firstSnapshotAt)})`,
  });
  await applyRule(context, {
    ...{ code: 'transaction_external_duplicate', table: 'transactions', set: `external_id = s.external_id || '_dup_' || s.id` },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY payment_method, external_id ORDER BY id) AS place FROM ${ROWS}
      WHERE payment_method IS NOT NULL AND external_id IS NOT NULL) r WHERE place > 1`,
  });
  if (revision < MANUAL_METHOD_SINCE) {
    const automatic = AUTOMATIC_DEPOSITS.map((text) => `description LIKE '${text}%'`).join(' OR ');
    await sql(
      `UPDATE ${ROWS} SET payment_method = 'manual' WHERE type = 'deposit' AND payment_method IS NULL AND is_completed AND (${automatic}) IS NOT TRUE`,
    );
  }
}

async function listOddities(context: ImportContext): Promise<void> {
  await applyRule(context, {
    ...{
      code: 'transaction_duplicate_suffix',
      table: 'transactions',
      detail: `jsonb_build_object('external_id', f.external_id)`,
    },
    find: `SELECT id, external_id FROM ${ROWS} WHERE external_id ~ '_dup_\\d+$'`,
  });
  await applyRule(context, {
    ...{ code: 'transaction_twin', table: 'transactions' },
    find: `SELECT id FROM (SELECT id, created_at - lag(created_at) OVER (PARTITION BY user_id, type, amount_kopeks, payment_method ORDER BY created_at, id) AS gap
      FROM ${ROWS} WHERE type IN ('deposit', 'withdrawal') AND external_id IS NULL) r WHERE gap <= interval '5 seconds'`,
  });
}

/** The balance stays the source's; what the history does not explain is said, and a debt becomes an empty balance (spec 07 section 8). */
async function compareBalances(context: ImportContext): Promise<void> {
  await applyRule(context, {
    ...{ code: 'balance_history_difference', table: 'users', detail: `jsonb_build_object('kopeks', f.difference)` },
    find: `SELECT u.id, coalesce(u.balance_kopeks, 0) - coalesce(h.kopeks, 0) AS difference FROM ${USERS} u
      LEFT JOIN (SELECT user_id, sum(amount_kopeks)::bigint AS kopeks FROM ${ROWS} WHERE is_completed AND ${TOUCHES_WALLET} GROUP BY user_id) h ON h.user_id = u.id
      WHERE coalesce(u.balance_kopeks, 0) <> coalesce(h.kopeks, 0)`,
  });
  await applyRule(context, {
    ...{ code: 'balance_null', table: 'users', set: 'balance_kopeks = 0' },
    find: `SELECT id FROM ${USERS} WHERE balance_kopeks IS NULL`,
  });
  await applyRule(context, {
    ...{
      code: 'balance_negative',
      table: 'users',
      set: 'balance_kopeks = 0',
      detail: `jsonb_build_object('debt_kopeks', f.debt)`,
    },
    find: `SELECT id, -balance_kopeks AS debt FROM ${USERS} WHERE balance_kopeks < 0`,
  });
}

/**
 * Movements as they will be here. Beside our columns a row has the account on its other side (spec 07 section 8), of which the ledger's entries
 * are made: `contra_kind` and `contra_key`.
 */
export const transactionRowsStep: ImportStep = {
  name: 'transactions',
  async prepare(context) {
    const method = methodOf('s.payment_method');
    await transfer(context, {
      table: 'transactions',
      columns: {
        payment_method: `left(${method}, 40)`,
        is_internal: 'false',
        contra_kind: contraOf('kind', method),
        contra_key: contraOf('key', method),
      },
    });
  },
};

/** The other side of a movement: kind and key of the account, over the loaded row `s`. */
function contraOf(part: 'kind' | 'key', method: string): string {
  const account = (kind: string, key: string) => (part === 'kind' ? `'${kind}'` : key);
  const provider = account('provider_clearing', `'provider:' || ${method}`);
  const manual = account('manual_adjustment', `'manual_adjustment'`);
  const sales = account('sales_revenue', `'sales:imported'`);
  const bonus = account('bonus_expense', `'bonus:imported'`);
  return `CASE s.type
    WHEN 'deposit' THEN CASE WHEN s.payment_method IS NULL THEN ${bonus} WHEN trim(s.payment_method) = 'manual' THEN ${manual} ELSE ${provider} END
    WHEN 'subscription_payment' THEN ${sales}
    WHEN 'gift_payment' THEN ${account('sales_revenue', `'sales:gift'`)}
    WHEN 'referral_reward' THEN ${account('referral_expense', `'referral_expense'`)}
    WHEN 'poll_reward' THEN ${account('bonus_expense', `'bonus:poll'`)}
    WHEN 'withdrawal' THEN CASE WHEN s.stored_positive THEN ${sales} ELSE ${account('withdrawal_payable', `'withdrawal_payable'`)} END
    ELSE CASE WHEN s.amount_kopeks >= 0 THEN ${sales} WHEN s.payment_method IS NULL THEN ${manual} ELSE ${provider} END END`;
}

/** Columns of the prepared transactions that ours do not have. */
export const CONTRA_COLUMNS = ['contra_kind text', 'contra_key text'];
