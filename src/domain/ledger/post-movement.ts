import type { App } from '../../core/app.ts';
import type { ContraAccount, Movement, Posting } from './types.ts';

/** What `post_transaction()` returns; which fields are null depends on the outcome. */
type PostResult = { outcome: Posting['outcome']; transactionId: number | null; balanceKopeks: number | null };

const POST = `SELECT outcome, transaction_id, balance_kopeks FROM post_transaction(
  $1::int, $2, $3::bigint, $4, $5, $6, $7, $8, $9::timestamptz, $10::timestamptz, $11::boolean, $12, $13)`;

/**
 * Posts one movement: transactions row, two ledger entries that sum to zero, the wallet's cached balance and the event, in one
 * SQL statement (spec 00, Ledger). Locks the user row, so call it before locking anything else of the user.
 * @returns the outcome; a refusal is a value here, because each caller answers with its own text
 */
export async function postMovement(app: App, movement: Movement): Promise<Posting> {
  await app.db.effects?.write();
  const { paidThroughProvider: provider } = movement;
  const instead: ContraAccount | undefined = provider ? { kind: 'provider_clearing', provider } : movement.insteadOfWallet;
  const [row] = await app.db.sql<PostResult>(POST, [
    movement.userId,
    movement.type,
    movement.amountKopeks,
    movement.contra.kind,
    accountKey(movement.contra),
    movement.paymentMethod,
    movement.externalId ?? null,
    movement.description,
    app.clock.now(),
    movement.createdAt ?? null,
    movement.isInternal ?? false,
    instead?.kind ?? null,
    instead ? accountKey(instead) : null,
  ]);
  switch (row?.outcome) {
    case 'posted':
    case 'duplicate':
      return { outcome: row.outcome, transactionId: row.transactionId!, balanceKopeks: row.balanceKopeks! };
    case 'insufficient':
      return { outcome: 'insufficient', balanceKopeks: row.balanceKopeks! };
    default:
      return { outcome: 'no_user' };
  }
}

/** The key under which the ledger has the account. */
export function accountKey(account: ContraAccount): string {
  switch (account.kind) {
    case 'provider_clearing':
      return `provider:${account.provider}`;
    case 'sales_revenue':
      return `sales:${account.product}`;
    case 'bonus_expense':
      return `bonus:${account.bonus}`;
    case 'withdrawal_hold':
      return `withdrawal_hold:${account.requestId}`;
    case 'approval_hold':
      return `approval_hold:${account.approvalId}`;
    default:
      return account.kind;
  }
}

/** Writes the tax receipt of a movement, or that it has none any more (null). Amounts stay. */
export async function recordReceipt(
  t: Pick<App, 'db'>,
  transactionId: number,
  receipt: { uuid: string; issuedAt: Date } | null,
): Promise<void> {
  await t.db.sql(
    'UPDATE transactions SET receipt_uuid = $2, receipt_created_at = $3::timestamptz WHERE id = $1::int RETURNING id',
    [transactionId, receipt?.uuid ?? null, receipt?.issuedAt ?? null],
  );
}
