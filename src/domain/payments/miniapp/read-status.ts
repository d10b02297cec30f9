import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import { isAppError, ValidationError } from '../../../core/errors.ts';
import { isRowId } from '../../../core/row-id.ts';
import { listTransactions } from '../../ledger/transactions.ts';
import { limitChecks, refreshPayment } from '../check-payments.ts';
import { ProviderError } from '../ports.ts';
import { findByExternalId, findByOrderId, findPayment, findPaymentOfUser } from '../repo.ts';
import { isCheckable, shownStatus } from '../rules.ts';
import type { Payment } from '../types.ts';
import { miniappMethodTraits, type PaymentQuery, paymentIds, requestedId } from './create-payment.ts';

/** Each entry may ask a provider. */
const MAX_ENTRIES = 20;
/** Methods whose provider is asked; of the others the record says what is known. */
const ASKED: ReadonlySet<string> = new Set(['mulenpay', 'platega', 'wata', 'pal24']);
/** Methods without a record before the payment: a deposit is looked for instead, and its method in the ledger. */
const BY_DEPOSIT: Readonly<Record<string, string>> = { stars: 'messenger_stars', tribute: 'tribute' };
/** How much earlier than the client's clock a deposit may be. */
const TOLERANCE_MS = 5 * MINUTE_MS;
/** The newest deposits that are compared with an entry. */
const COMPARED_DEPOSITS = 20;
const EPOCH = new Date(0);
const END_OF_YEARS = new Date('9999-12-31T00:00:00Z');

/** A payment as the mini-app shows it; kopeks. */
export interface MiniappPaymentStatus {
  method: string;
  status: 'paid' | 'failed' | 'pending' | 'unknown';
  isPaid: boolean;
  amountKopeks: number | null;
  currency: string | null;
  completedAt: Date | null;
  transactionId: number | null;
  externalId: string | null;
  message: string | null;
  extra: Record<string, unknown>;
}

/**
 * The states of the user's own payments, in the order requested. Payments of others are answered like unknown ones.
 * A provider that does not answer leaves the payment as it is recorded.
 * @throws ValidationError 422 for more than 20 entries
 */
export async function readMiniappPayments(
  app: App,
  actor: UserActor,
  queries: readonly PaymentQuery[],
): Promise<MiniappPaymentStatus[]> {
  if (queries.length > MAX_ENTRIES) throw tooMany(queries.length);
  const found: MiniappPaymentStatus[] = [];
  for (const query of queries) found.push(await readOne(app, actor.userId, query));
  return found;
}

async function readOne(app: App, userId: number, query: PaymentQuery): Promise<MiniappPaymentStatus> {
  const id = query.method.trim().toLowerCase();
  if (id === '') return { ...missing('', query), status: 'unknown', message: 'Payment method is required' };
  const traits = miniappMethodTraits(id);
  if (!traits) return { ...missing(id, query), status: 'unknown', message: 'Unsupported payment method' };
  const ledgerMethod = BY_DEPOSIT[id];
  if (ledgerMethod) return readDeposit(app, userId, { id, ledgerMethod, query });
  const requested = requestedId(traits.method, query);
  if (!requested) return { ...missing(id, query), message: 'Missing payment identifier' };
  const payment = await findMyPayment(app, userId, traits.method, requested);
  if (!payment) return { ...missing(id, query), message: 'Payment not found' };
  return describe(id, await refreshed(app, payment), query);
}

async function findMyPayment(
  app: App,
  userId: number,
  method: string,
  requested: NonNullable<ReturnType<typeof requestedId>>,
): Promise<Payment | null> {
  if ('local' in requested) return isRowId(requested.local) ? findPaymentOfUser(app.db, userId, method, requested.local) : null;
  const payment =
    'external' in requested
      ? await findByExternalId(app.db, method, requested.external)
      : await findByOrderId(app.db, method, requested.order);
  return payment?.userId === userId ? payment : null;
}

/** Outside of any transaction, because the provider may take seconds. */
async function refreshed(app: App, payment: Payment): Promise<Payment> {
  const provider = app.ports.payments.byMethod(payment.method) ?? null;
  if (!ASKED.has(payment.method) || !isCheckable(payment, provider, app.clock.now())) return payment;
  try {
    await limitChecks(app, payment.userId!);
    await refreshPayment(app, payment);
  } catch (error) {
    if (!(error instanceof ProviderError) && !(isAppError(error) && error.status === 429)) throw error;
    app.log.warn({ err: error, paymentId: payment.id }, 'a payment could not be checked');
  }
  return (await findPayment(app.db, payment.id)) ?? payment;
}

function describe(id: string, payment: Payment, query: PaymentQuery): MiniappPaymentStatus {
  const status = statusOf(payment);
  return {
    method: id,
    status,
    isPaid: status === 'paid',
    amountKopeks: payment.amountKopeks,
    currency: payment.currency,
    completedAt: payment.paidAt,
    transactionId: payment.transactionId,
    externalId: payment.externalId,
    message: status === 'failed' ? `Status: ${shownStatus(payment)}` : null,
    extra: { ...paymentIds(payment), status: shownStatus(payment), is_paid: status === 'paid', ...echoOf(query) },
  };
}

function statusOf({ outcome, isPaid }: Payment): MiniappPaymentStatus['status'] {
  if (outcome === 'failed' || outcome === 'expired' || outcome === 'refunded') return 'failed';
  return isPaid && outcome === 'paid' ? 'paid' : 'pending';
}

/** The newest deposit of a method that fits what the client knows: its amount and when it began. */
async function readDeposit(
  app: App,
  userId: number,
  { id, ledgerMethod, query }: { id: string; ledgerMethod: string; query: PaymentQuery },
): Promise<MiniappPaymentStatus> {
  const waiting = { ...missing(id, query), message: 'Waiting for confirmation' };
  const startedAt = timestampOf(query.startedAt ?? null);
  // A client that knows neither would be shown any earlier payment.
  if (startedAt === null && query.amountKopeks == null) return waiting;
  const from = startedAt && addMs(startedAt, -TOLERANCE_MS);
  const filter = { userId, type: 'deposit', paymentMethod: ledgerMethod, isCompleted: true, from } as const;
  const { items } = await listTransactions(app, filter, { limit: COMPARED_DEPOSITS, offset: 0 });
  const deposit = items.find((item) => query.amountKopeks == null || item.amountKopeks === query.amountKopeks);
  if (!deposit) return waiting;
  return {
    method: id,
    status: 'paid',
    isPaid: true,
    amountKopeks: deposit.amountKopeks,
    currency: 'RUB',
    completedAt: deposit.completedAt ?? deposit.createdAt,
    transactionId: deposit.id,
    externalId: deposit.externalId,
    message: null,
    extra: echoOf(query),
  };
}

function missing(id: string, query: PaymentQuery): MiniappPaymentStatus {
  return {
    method: id,
    status: 'pending',
    isPaid: false,
    amountKopeks: query.amountKopeks ?? null,
    currency: 'RUB',
    completedAt: null,
    transactionId: null,
    externalId: null,
    message: null,
    extra: {
      local_payment_id: query.localPaymentId ?? null,
      payment_link_id: query.paymentLinkId ?? null,
      invoice_id: query.invoiceId ?? null,
      payment_id: query.paymentId ?? null,
      ...echoOf(query),
    },
  };
}

const echoOf = ({ payload, startedAt }: PaymentQuery) => ({ payload: payload ?? null, started_at: startedAt ?? null });

/**
 * An ISO date or the milliseconds since 1970 as digits; null for anything else, also for years that no payment has: the ends of the
 * clients' calendar cannot be reckoned with.
 */
function timestampOf(text: string | null): Date | null {
  const trimmed = text?.trim() ?? '';
  const timestamp = new Date(/^\d{12,14}$/.test(trimmed) ? Number(trimmed) : trimmed);
  const isPlausible = timestamp >= EPOCH && timestamp < END_OF_YEARS;
  return trimmed === '' || !isPlausible ? null : timestamp;
}

function tooMany(count: number): ValidationError {
  const ctx = { field_type: 'List', max_length: MAX_ENTRIES, actual_length: count };
  const msg = `List should have at most ${MAX_ENTRIES} items after validation, not ${count}`;
  return new ValidationError([{ loc: ['body', 'payments'], type: 'too_long', msg, input: null, ctx }]);
}
