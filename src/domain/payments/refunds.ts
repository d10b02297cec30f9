import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { committedStatement } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { recordCommand } from '../access/audit-log.ts';
import type { Language } from '../messaging/texts.ts';
import { paymentNotFound } from './errors.ts';
import { refundFailedTitles, reversalTitles } from './payment-texts.ts';
import { type PaymentProvider, ProviderError, type RefundAnswer } from './ports.ts';
import { readStarsCharge } from './purpose-payment.ts';
import { findPayment, PAYMENT } from './repo.ts';
import { applyReversals } from './reversals.ts';
import { isMadeByCase } from './rules.ts';
import type { CaseKind, Payment, PaymentCase } from './types.ts';

const refundUnsupported = refusal('refund_unsupported', 400, 'The provider of this payment has no refunds by its interface');
const refundWholeOnly = refusal('refund_whole_only', 400, 'This provider returns whole payments only');
const paymentNotCredited = refusal('payment_not_credited', 409, 'The payment was never credited');
const refundUnderWay = refusal('refund_under_way', 409, 'Another refund of this payment is under way');
const refundTooLarge = refusal('refund_too_large', 409, 'Only <n> of this payment can be refunded');

export interface RefundOrder {
  paymentId: number;
  /** Kopeks; null = all that is left of the payment. */
  amountKopeks: number | null;
  reason: string;
  /** Who decided, as the record shows it. */
  requestedBy: string;
}

/**
 * Requests the refund of a credited payment (03a section 0.5): the balance is debited at once, at most what it has, and a job asks the
 * provider. When the provider refuses, the debit goes back. The row of the audit log is part of the transaction.
 * @throws AppError 404 unknown payment | 400 the provider has no refunds, or only whole ones, or no payment for this money | 409 not credited, or more than is left, or
 * another refund of it is under way
 */
export async function requestRefund(app: App, order: RefundOrder) {
  const payment = await findPayment(app.db, order.paymentId);
  if (!payment) throw paymentNotFound();
  const provider = app.ports.payments.byMethod(payment.method);
  if (!provider?.refund) throw refundUnsupported();
  // A second charge of an invoice has an id of its own.
  if (isMadeByCase(payment) && payment.chargeId === null) {
    throw refundUnsupported({
      detail: 'This money has no payment of its own at the provider: give it back in the cabinet there',
    });
  }
  const isPart = order.amountKopeks !== null && order.amountKopeks !== payment.amountKopeks;
  if (isPart && !provider.canRefundPartly) throw refundWholeOnly();

  const refund = { ...order, titles: reversalTitles(app, payment.method), now: app.clock.now() };
  const { outcome, reversalId, debitedKopeks, leftKopeks } = await inTransaction(app, async (t) => {
    const requested = await insertRefund(t.db, refund);
    if (requested.outcome === 'requested') await recordRequest(t, order, requested);
    return requested;
  });
  switch (outcome) {
    case 'requested':
      app.jobs.wake(['payments.send-refund']);
      return { refundId: reversalId!, debitedKopeks };
    case 'unknown':
      throw paymentNotFound();
    case 'not_credited':
      throw paymentNotCredited();
    case 'requested_before':
      throw refundUnderWay();
    case 'credited':
      throw new Error(`the refund of payment ${order.paymentId} was requested as of money that is credited to nobody`);
    case 'too_much':
      throw refundTooLarge({ detail: `Only ${formatPrice(leftKopeks, false)} of this payment can be refunded` });
  }
}

function recordRequest(
  t: App,
  { paymentId, requestedBy, amountKopeks, reason }: RefundOrder,
  { reversalId, debitedKopeks }: { reversalId: number | null; debitedKopeks: number },
): Promise<void> {
  return recordCommand(t, requestedBy, {
    ...{ command: `payments refund ${paymentId}`, permission: 'payments:edit', resourceId: `payment ${paymentId}` },
    ...{ before: null, after: { refundId: reversalId, amountKopeks, debitedKopeks, reason } },
  });
}

/** Cases whose money came for the invoice of the case; that of others came for another one, or for none. */
const REFUNDABLE_KINDS: ReadonlySet<string> = new Set(['amount_mismatch', 'no_user', 'no_purchase'] satisfies CaseKind[]);

/**
 * Requests that the provider gives back money that was credited to nobody, in the caller's transaction: the decision about a case. No balance
 * is touched.
 * @returns false when the provider has no refunds, or the money cannot be given back by its interface
 */
export async function requestRefundOfCase(
  t: App,
  found: Pick<PaymentCase, 'kind' | 'method' | 'paymentId' | 'amountKopeks' | 'currency' | 'details'>,
  { requestedBy, reason }: { requestedBy: string; reason: string },
): Promise<boolean> {
  const { kind, paymentId, amountKopeks, method } = found;
  const isRubles = found.currency === null || found.currency === 'RUB';
  if (
    !REFUNDABLE_KINDS.has(kind) ||
    paymentId === null ||
    amountKopeks === null ||
    !isRubles ||
    !t.ports.payments.byMethod(method)?.refund
  )
    return false;
  const refund = { paymentId, amountKopeks, requestedBy, reason, isUncredited: true, titles: reversalTitles(t, method) };
  const { outcome, reversalId } = await insertRefund(t.db, { ...refund, now: t.clock.now() });
  const { chargeId } = found.details as { chargeId?: unknown };
  if (reversalId !== null && typeof chargeId === 'string') await nameCharge(t.db, reversalId, chargeId);
  return outcome === 'requested';
}

/** The provider has accepted the refund and has not carried it out: when it is asked again. */
const ASK_AGAIN_MS = 5 * MINUTE_MS;
/** After this time without a result an administrator is alarmed, and the provider is asked less often. */
const STUCK_MS = DAY_MS;
const ASK_STUCK_MS = 6 * HOUR_MS;

/**
 * `sendRefund` as the queue runs it: a refund whose last try fails gets a new job, because its debit must not stay without a result.
 */
export async function runSendRefund(app: App, payload: { reversalId: number }, isLastTry: boolean): Promise<void> {
  try {
    await sendRefund(app, payload);
  } catch (error) {
    if (isLastTry) {
      const startAfter = addMs(app.clock.now(), ASK_STUCK_MS);
      await app.jobs.send('payments.send-refund', payload, { startAfter });
      app.log.error(
        { err: error, alarm: 'payment_refund_stuck', refundId: payload.reversalId },
        'a refund could not be requested',
      );
      await report(app, 'refund_stuck', payload.reversalId);
      return;
    }
    throw error;
  }
}

/**
 * Asks the provider for a requested refund (queue `payments.send-refund`). A run that finds an earlier attempt first reads the payment, so
 * that a refund whose answer was lost is found and not requested twice, also at providers without idempotency keys.
 * @throws Error while the provider is down: the queue runs it again
 */
export async function sendRefund(app: App, { reversalId: id }: { reversalId: number }): Promise<void> {
  const refund = await startAttempt(app.db, id);
  if (!refund) return;
  const provider = app.ports.payments.byMethod(refund.payment.method);
  if (!provider?.refund) throw new Error(`there is no adapter with refunds for payment method ${refund.payment.method}`);
  if (refund.attempts > 1) {
    await adoptReported(app, provider, refund);
    const reversalId = await findOpenReversalId(app.db, id);
    if (reversalId === undefined) return;
    if (reversalId !== null) return askLater(app, refund);
  }
  const answer = await ask(app, provider, refund);
  if (answer === null) return;
  if (answer.state === 'unclear') return askLater(app, refund);
  if (await isRecordedBeside(app.db, id, answer.reversalId)) return endAsRecorded(app, refund, answer.reversalId);
  if (answer.state === 'pending') {
    await attachReversalId(app.db, id, answer.reversalId);
    return askLater(app, refund);
  }
  await committedStatement(app, () => completeRefund(app.db, id, answer.reversalId, app.clock.now()));
  app.jobs.wake(['payments.after-reversal']);
}

/** What the provider reports of the payment; this refund is among it when it was carried out. */
async function adoptReported(app: App, provider: PaymentProvider, { payment }: RequestedRefund): Promise<void> {
  // Of money without a payment of its own there is nothing to read: the answer to the refund decides.
  if (!provider.canFetchStatus || isMadeByCase(payment)) return;
  const state = await provider.fetchStatus({ externalId: payment.externalId, orderId: payment.orderId });
  await applyReversals(app, payment.method, payment, state);
}

/** Whether the refund has ended because the payment says now that its money was given back. */
async function isFoundReported(app: App, provider: PaymentProvider, refund: RequestedRefund): Promise<boolean> {
  try {
    await adoptReported(app, provider, refund);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure !== 'rejected') throw error;
    return false;
  }
  return (await findOpenReversalId(app.db, refund.id)) === undefined;
}

/** @returns null when the provider refused: the refund has ended then */
async function ask(app: App, provider: PaymentProvider, refund: RequestedRefund): Promise<RefundAnswer | null> {
  const { id, payment, amountKopeks, chargeId, attempts, createdAt } = refund;
  // The messenger gives stars back by the charge and the person, which the record of the charge has.
  const stars = await readStarsCharge(app, payment.id);
  const isOtherCharge = chargeId !== null && chargeId !== payment.chargeId;
  const mayBeCarriedOut = attempts > 1 && (await isCoveredByRest(app.db, id));
  try {
    return await provider.refund!({
      externalId: payment.externalId ?? payment.orderId,
      orderId: payment.orderId,
      chargeId: stars?.chargeId ?? chargeId ?? payment.chargeId,
      payerMessengerId: stars?.payerMessengerId ?? null,
      amountKopeks,
      // Of money that was credited to nobody all that came is given back.
      isWhole: payment.transactionId === null || isOtherCharge || amountKopeks === payment.amountKopeks,
      idempotencyKey: `refund-${id}-${payment.orderId}`.slice(0, 64),
      ...(mayBeCarriedOut ? { repeatedSince: createdAt } : {}),
    });
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure !== 'rejected') throw error;
    // Refused perhaps because the payer has the money already, e.g. by a refund in the provider's cabinet that nothing reported here. A later
    // attempt has just read that; asked once more, a provider with a limit of questions (03a section 9) would never let it end.
    if (attempts === 1 && (await isFoundReported(app, provider, refund))) return null;
    // Before the refund ends: a run after a crash in between reports it and ends it.
    await report(app, 'refund_refused', id, payment.method);
    const titles = refundFailedTitles(app, payment.method);
    await committedStatement(app, () => failRefund(app.db, id, error.message, titles, app.clock.now()));
    app.log.error(
      { alarm: 'payment_refund_refused', paymentId: payment.id, method: payment.method, refundId: id },
      'the provider refused a refund; what was debited for it went back to the balance',
    );
    return null;
  }
}

/**
 * The provider reported this refund with another amount than was requested, before its answer came, so that it stands beside the request and
 * has its own debit: that of the request goes back.
 */
async function endAsRecorded(app: App, { id, payment }: RequestedRefund, reversalId: string): Promise<void> {
  const reason = `carried out as ${reversalId} with another amount`;
  await committedStatement(app, () => failRefund(app.db, id, reason, refundFailedTitles(app, payment.method), app.clock.now()));
  app.log.warn({ paymentId: payment.id, refundId: id, reversalId }, 'a provider gave back another amount than was requested');
}

async function askLater(app: App, { id, payment, createdAt }: RequestedRefund): Promise<void> {
  const now = app.clock.now();
  const isStuck = addMs(createdAt, STUCK_MS) <= now;
  if (isStuck) {
    app.log.error(
      { alarm: 'payment_refund_stuck', refundId: id, paymentId: payment.id, method: payment.method },
      'a refund that the provider was asked for has no result',
    );
    await report(app, 'refund_stuck', id, payment.method);
  }
  const startAfter = addMs(now, isStuck ? ASK_STUCK_MS : ASK_AGAIN_MS);
  await app.jobs.send('payments.send-refund', { reversalId: id }, { startAfter });
}

/** To the administrators, who have to act; the job tells them once a day for each refund. */
function report(app: App, kind: 'refund_stuck' | 'refund_refused', refundId: number, method = ''): Promise<void> {
  const fault = { kind, source: String(refundId), detail: method };
  return app.jobs.send('ops.report-fault', fault, { singletonKey: `${kind}:${refundId}` });
}

/** What `request_refund()` did (prisma/sql/reversals.sql). */
type RefundRequestOutcome = 'requested' | 'unknown' | 'not_credited' | 'credited' | 'too_much' | 'requested_before';

interface NewRefund {
  paymentId: number;
  /** Kopeks; null = all that is left of the payment. */
  amountKopeks: number | null;
  requestedBy: string;
  reason: string;
  /** Of money that came and was credited to nobody; no balance is touched. */
  isUncredited?: boolean;
  titles: Record<Language, string>;
  now: Date;
}

/** Requests a refund with everything that belongs to it, in one statement. Amounts are kopeks. */
async function insertRefund(
  db: Db,
  refund: NewRefund,
): Promise<{ outcome: RefundRequestOutcome; reversalId: number | null; debitedKopeks: number; leftKopeks: number }> {
  const { paymentId, amountKopeks, requestedBy, reason, isUncredited = false, titles, now } = refund;
  const [row] = await db.sql<{ outcome: RefundRequestOutcome; reversalId: number | null; debited: bigint; leftKopeks: bigint }>(
    'SELECT outcome, reversal_id, debited, left_kopeks FROM request_refund($1::int, $2::bigint, $3, $4, $5::jsonb, $6::timestamptz, $7::boolean)',
    [paymentId, amountKopeks, requestedBy, reason, JSON.stringify(titles), now, isUncredited],
  );
  const { outcome, reversalId, debited, leftKopeks } = row!;
  return { outcome, reversalId, debitedKopeks: Number(debited), leftKopeks: Number(leftKopeks) };
}

const REFUND = columns('PaymentReversal', ['id', 'paymentId', 'amountKopeks', 'chargeId', 'reversalId', 'attempts', 'createdAt']);

/** A requested refund with its payment; `attempts` counts the current one, too. */
type RequestedRefund = RowOf<typeof REFUND> & { payment: Payment };

/** Counts an attempt. @returns null when the refund has ended */
async function startAttempt(db: Db, id: number): Promise<RequestedRefund | null> {
  const [refund] = await db.sql<RowOf<typeof REFUND>>(
    `UPDATE payment_reversals SET attempts = attempts + 1 WHERE id = $1::int AND status = 'requested' RETURNING ${REFUND.of()}`,
    [id],
  );
  if (!refund) return null;
  const [payment] = await db.sql<RowOf<typeof PAYMENT>>(`SELECT ${PAYMENT.of()} FROM payments WHERE id = $1::int`, [
    refund.paymentId,
  ]);
  return { ...refund, payment: payment! };
}

/** @returns the provider's id, null = none yet; undefined when the refund has ended */
async function findOpenReversalId(db: Db, id: number): Promise<string | null | undefined> {
  const [row] = await db.sql<{ reversalId: string | null }>(
    "SELECT reversal_id FROM payment_reversals WHERE id = $1::int AND status = 'requested'",
    [id],
  );
  return row?.reversalId;
}

/** Records of which charge of the invoice a refund is, so that another charge which is credited meanwhile pays nothing for it. */
async function nameCharge(db: Db, id: number, chargeId: string): Promise<void> {
  await db.sql('UPDATE payment_reversals SET charge_id = $2 WHERE id = $1::int RETURNING id', [id, chargeId]);
}

/** Whether the provider may have carried out this refund besides the reversals that are known: it gives back no more than was paid. */
async function isCoveredByRest(db: Db, id: number): Promise<boolean> {
  const [row] = await db.sql<{ isCovered: boolean }>(
    `SELECT r.amount_kopeks <= p.amount_kopeks - coalesce((SELECT sum(v.amount_kopeks) FROM payment_reversals v
       WHERE v.payment_id = p.id AND v.status = 'done'), 0) AS is_covered
     FROM payment_reversals r JOIN payments p ON p.id = r.payment_id WHERE r.id = $1::int`,
    [id],
  );
  return row!.isCovered;
}

/** Whether another reversal of the same method has this id of the provider. */
async function isRecordedBeside(db: Db, id: number, reversalId: string): Promise<boolean> {
  const rows = await db.sql(
    `SELECT v.id FROM payment_reversals r JOIN payment_reversals v ON v.method = r.method AND v.reversal_id = $2 AND v.id <> r.id
     WHERE r.id = $1::int`,
    [id, reversalId],
  );
  return rows.length > 0;
}

/** Stores the provider's id of a refund that it has accepted and not carried out yet. */
async function attachReversalId(db: Db, id: number, reversalId: string): Promise<void> {
  await db.sql(
    "UPDATE payment_reversals SET reversal_id = coalesce(reversal_id, $2) WHERE id = $1::int AND status = 'requested' RETURNING id",
    [id, reversalId],
  );
}

/** @returns false when the refund had ended before */
async function completeRefund(db: Db, id: number, reversalId: string, now: Date): Promise<boolean> {
  const [row] = await db.sql<{ done: boolean }>('SELECT complete_refund($1::int, $2, $3::timestamptz) AS done', [
    id,
    reversalId,
    now,
  ]);
  return row!.done;
}

/** @returns false when the refund had ended before */
async function failRefund(db: Db, id: number, error: string, titles: Record<Language, string>, now: Date): Promise<boolean> {
  const [row] = await db.sql<{ done: boolean }>('SELECT fail_refund($1::int, $2, $3::jsonb, $4::timestamptz) AS done', [
    ...[id, error, JSON.stringify(titles), now],
  ]);
  return row!.done;
}
