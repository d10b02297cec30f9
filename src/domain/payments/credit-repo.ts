import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Language } from '../messaging/texts.ts';
import type { CreditExtras } from './credit-payment.ts';
import type { PaymentReport } from './ports.ts';
import type { Payment } from './types.ts';

/** A top-up to credit: what was seen of its payment, and what the provider reported. */
export interface TopupCredit {
  payment: Payment;
  state: PaymentReport;
  /** Description of the ledger row by language. */
  titles: Record<Language, string>;
  /** The same of what is taken at once because it was given back before. */
  reversalTitles: Record<Language, string>;
  /** The method's name for users. */
  methodName: string;
  extras: CreditExtras | null;
  now: Date;
}

/**
 * What `credit_topup()` did; only the first two have written anything. `changed` = the payment is no longer as seen, so it has to
 * be classified again; `taken` = the movement of this external id belongs to another payment or user.
 */
export type TopupOutcome = 'credited' | 'already_credited' | 'changed' | 'no_user' | 'taken';

/** Credits a top-up with everything that belongs to it, in one statement (prisma/sql/topups.sql). */
export async function postTopup(
  db: Db,
  { payment, state, titles, reversalTitles, methodName, extras, now }: TopupCredit,
): Promise<{ outcome: TopupOutcome; transactionId: number | null }> {
  const [row] = await db.sql<{ outcome: TopupOutcome; transactionId: number | null }>(
    `SELECT outcome, transaction_id FROM credit_topup($1::int, $2::int, $3, $4, $5::bigint, $6, $7, $8, $9::timestamptz, $10::jsonb, $11::jsonb, $12,
       $13::timestamptz, $14, $15::jsonb, $16::jsonb)`,
    [
      ...[payment.id, payment.userId, payment.orderId, payment.externalId, payment.amountKopeks, payment.currency],
      ...[state.externalId, state.status, state.paidAt ?? now, JSON.stringify(state.raw ?? null)],
      ...[JSON.stringify(titles), methodName, now, state.chargeId ?? null, extras && JSON.stringify(extras)],
      JSON.stringify(reversalTitles),
    ],
  );
  return row!;
}

export interface CreditMark {
  paymentId: number;
  transactionId: number;
  externalId: string | null;
  chargeId: string | null;
  status: string;
  paidAt: Date;
  raw: unknown;
  extras: CreditExtras | null;
  now: Date;
}

/** Marks a payment paid and credited, in the transaction that moves the money (spec 03 H4, H5). */
export async function markCredited(db: Db, mark: CreditMark): Promise<void> {
  await db.sql(
    'SELECT mark_payment_credited($1::int, $2::int, $3, $4, $5::timestamptz, $6::jsonb, $7::timestamptz, $8, $9::jsonb) AS marked',
    [
      ...[
        mark.paymentId,
        mark.transactionId,
        mark.externalId,
        mark.status,
        mark.paidAt,
        JSON.stringify(mark.raw ?? null),
        mark.now,
        mark.chargeId,
        mark.extras && JSON.stringify(mark.extras),
      ],
    ],
  );
}

/** Applies what went back of the money before it was credited: `debit_earlier_reversals()` (prisma/sql/reversals.sql). */
export async function applyEarlierReversals(
  db: Db,
  paymentId: number,
  titles: Record<Language, string>,
  now: Date,
): Promise<void> {
  await db.sql('SELECT debit_earlier_reversals($1::int, $2::jsonb, $3::timestamptz) AS applied', [
    ...[paymentId, JSON.stringify(titles), now],
  ]);
}

/**
 * Binds what went back without a charge to this one, which is not credited because of it (prisma/sql/reversals.sql).
 * @returns false when the money of the charge is not, or no longer, one that went back
 */
export async function claimReversals(db: Db, paymentId: number, chargeId: string | null): Promise<boolean> {
  const [row] = await db.sql<{ claimed: boolean }>('SELECT claim_reversals($1::int, $2) AS claimed', [paymentId, chargeId]);
  return row!.claimed;
}

/**
 * Whether the money of a report went back before it was credited, so that it is credited no more (spec 03a section 0.4). Another charge of the
 * same invoice that went back does not count (spec 10 M1).
 */
export async function isMoneyReturned(db: Db, { id, outcome }: Payment, { chargeId }: PaymentReport): Promise<boolean> {
  if (outcome !== 'refunded') return false;
  const [row] = await db.sql<{ isReturned: boolean }>(
    'SELECT is_charge_reversed(p, $2) AS is_returned FROM payments p WHERE p.id = $1::int',
    [id, chargeId ?? null],
  );
  return row!.isReturned;
}

/** Whether a ledger row is the credit of another payment, or belongs to another user. */
export async function isTransactionTaken(db: Db, transactionId: number, userId: number): Promise<boolean> {
  const [row] = await db.sql<{ taken: boolean }>('SELECT is_transaction_taken($1::int, $2::int) AS taken', [
    transactionId,
    userId,
  ]);
  return row!.taken;
}

/**
 * Stores a state that credits nothing. A payment that has been credited meanwhile, or that is already marked as mismatching or refunded,
 * is not changed.
 * @returns whether the row changed
 */
export async function markUncredited(
  db: Db,
  id: number,
  outcome: 'pending' | 'failed' | 'amount_mismatch',
  state: PaymentReport,
  now: Date,
): Promise<boolean> {
  const from =
    outcome === 'pending' ? ['pending'] : outcome === 'failed' ? ['pending', 'expired'] : ['pending', 'expired', 'failed'];
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET outcome = $2, status = $3, external_id = coalesce(external_id, $4), callback_payload = $5::jsonb,
       updated_at = $7::timestamptz
     WHERE id = $1::int AND transaction_id IS NULL AND outcome = ANY($6::text[]) RETURNING id`,
    [id, outcome, state.status, state.externalId, JSON.stringify(state.raw ?? null), from, now],
  );
  return rows.length > 0;
}

/** A charge without a stored invoice, with its record. */
export interface UninvoicedRecord extends Pick<Payment, 'method' | 'orderId' | 'amountKopeks'> {
  chargeId: string;
  description: string;
  /** What the provider reported. */
  update: unknown;
  now: Date;
}

/** Credits money without a stored invoice with everything that belongs to it, in one statement (prisma/sql/topups.sql). */
export async function postUninvoiced(
  db: Db,
  userId: number,
  record: UninvoicedRecord,
  methodName: string,
): Promise<'credited' | 'already_credited' | 'no_user'> {
  const { method, orderId, chargeId, amountKopeks, description, update, now } = record;
  const [row] = await db.sql<{ outcome: 'credited' | 'already_credited' | 'no_user' }>(
    'SELECT credit_uninvoiced($1, $2::int, $3, $4, $5::bigint, $6, $7::jsonb, $8, $9::timestamptz) AS outcome',
    [method, userId, orderId, chargeId, amountKopeks, description, JSON.stringify(update ?? null), methodName, now],
  );
  return row!.outcome;
}

export interface UninvoicedPayment extends UninvoicedRecord, Pick<Payment, 'userId' | 'status' | 'transactionId'> {}

/**
 * Writes the record of money without a stored invoice: in the transaction that posted it, or without a credit where there is nobody to credit.
 * @returns its id; null when the charge has been credited before
 */
export async function upsertUninvoicedPayment(db: Db, payment: UninvoicedPayment): Promise<number | null> {
  const { method, userId, orderId, chargeId, amountKopeks, description, status, transactionId, update, now } = payment;
  const [row] = await db.sql<{ id: number | null }>(
    'SELECT upsert_uninvoiced_payment($1, $2::int, $3, $4, $5::bigint, $6, $7, $8::int, $9::jsonb, $10::timestamptz) AS id',
    [method, userId, orderId, chargeId, amountKopeks, description, status, transactionId, JSON.stringify(update ?? null), now],
  );
  return row!.id;
}

const TOPUP = columns('Payment', ['id', 'method', 'purpose', 'amountKopeks']);
const PAYER = columns('User', ['balanceKopeks', 'messengerId', 'language']);

/** A credited top-up with what its follow-up steps need. `balanceKopeks` is the payer's balance of now. */
export type CreditedTopup = RowOf<typeof TOPUP> &
  RowOf<typeof PAYER> & {
    userId: number;
    transactionId: number;
    userStatus: string;
    /** Null unless verified. */
    verifiedEmail: string | null;
    /** Names of completed steps. */
    doneSteps: string[];
  };

/** Null for a payment that is not credited. */
export async function findCreditedTopup(db: Db, paymentId: number): Promise<CreditedTopup | null> {
  const [row] = await db.sql<CreditedTopup>(
    `SELECT ${TOPUP.of('p')}, p.user_id, p.transaction_id, ${PAYER.of('u')}, u.status AS user_status,
       CASE WHEN u.email_verified THEN u.email END AS verified_email, coalesce(p.metadata->'done_steps', '[]'::jsonb) AS done_steps
     FROM payments p JOIN users u ON u.id = p.user_id WHERE p.id = $1::int AND p.transaction_id IS NOT NULL`,
    [paymentId],
  );
  return row ?? null;
}

/** Of two transactions that mark the same step, the second waits for the first. @returns false when it was marked before */
export async function markStepDone(db: Db, paymentId: number, step: string): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE payments SET metadata = jsonb_set(metadata, '{done_steps}', coalesce(metadata->'done_steps', '[]'::jsonb) || to_jsonb($2::text))
     WHERE id = $1::int AND NOT coalesce(metadata->'done_steps', '[]'::jsonb) @> to_jsonb($2::text) RETURNING id`,
    [paymentId, step],
  );
  return rows.length > 0;
}
