import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { rublesOf } from '../../../core/money.ts';
import { createStarsInvoice } from '../create-stars-invoice.ts';
import { findPayment } from '../repo.ts';
import { topupBalance } from '../topup-balance.ts';
import { listMiniappMethods, type MiniappMethod, miniappMethodTraits } from './methods.ts';
import { paymentIds } from './payment-ids.ts';

export const methodRequired = refusal('method_required', 400, 'Payment method is required');
export const methodUnknown = refusal('method_unknown', 400, 'Unknown payment method');
export const amountRequired = refusal('amount_required', 400, 'Amount must be positive');
const optionUnavailable = refusal('option_unavailable', 400, 'Selected Platega method is unavailable');
const optionInvalid = refusal('option_invalid', 400, 'Invalid Platega payment option');
export const amountOutOfLimits = refusal('amount_out_of_limits', 400, 'Amount exceeds maximum');

export interface MiniappPaymentOrder {
  method: string;
  /** Kopeks; null or 0 = not given. */
  amountKopeks: number | null;
  option: string | null;
  idempotencyKey: string | null;
  /** The payer's address; null = unknown. */
  ip: string | null;
}

/** A payment that was started; kopeks. `extra` is documented by method (spec 02 section 12.5). */
export interface MiniappPayment {
  method: string;
  paymentUrl: string;
  amountKopeks: number;
  extra: Record<string, unknown>;
}

/** Methods whose limits are named in the refusal. */
const NAMES_LIMITS: ReadonlySet<string> = new Set(['cryptobot', 'heleket', 'cloudpayments', 'freekassa']);

/**
 * Starts a top-up from the mini-app: the top-up of the cabinet, with the mini-app's names and refusals (spec 02 section 12.5). It does
 * nothing inside a transaction while the provider is asked (H27).
 * @throws AppError 400 with the documented texts | 403 restricted | 429 | 502 when the provider made no payment
 */
export async function createMiniappPayment(app: App, actor: UserActor, order: MiniappPaymentOrder): Promise<MiniappPayment> {
  const id = order.method.trim().toLowerCase();
  if (id === '') throw methodRequired();
  if (miniappMethodTraits(id) === null) throw methodUnknown();
  const method = (await listMiniappMethods(app, actor.userId)).find((listed) => listed.id === id);
  if (!method) throw methodUnavailable();
  const amountKopeks = order.amountKopeks ?? (method.requiresAmount ? null : method.minAmountKopeks);
  if (amountKopeks === null || amountKopeks <= 0) throw amountRequired();
  if (amountKopeks < method.minAmountKopeks) throw outside(id, 'Amount is below minimum', method.minAmountKopeks);
  if (method.maxAmountKopeks !== null && amountKopeks > method.maxAmountKopeks) {
    throw outside(id, 'Amount exceeds maximum', method.maxAmountKopeks);
  }
  try {
    if (id === 'stars') return await startStars(app, actor, amountKopeks, order.idempotencyKey);
    return await startTopup(app, actor, { ...order, amountKopeks }, method);
  } catch (error) {
    throw isAppError(error) ? renamed(id, error.code, error) : error;
  }
}

async function startTopup(
  app: App,
  actor: UserActor,
  order: MiniappPaymentOrder & { amountKopeks: number },
  method: MiniappMethod,
): Promise<MiniappPayment> {
  const { amountKopeks } = order;
  const option = method.fixedOption ?? optionOf(method, order.option);
  const topup = await topupBalance(app, actor, { amountKopeks, method: method.method, option }, order);
  const payment = topup.paymentId === 0 ? null : await findPayment(app.db, topup.paymentId);
  const requestedAt = wholeSeconds(payment?.createdAt ?? app.clock.now());
  const extra = { ...(payment ? paymentIds(payment) : {}), requested_at: requestedAt };
  return { method: method.id, paymentUrl: topup.paymentUrl, amountKopeks: topup.amountKopeks, extra };
}

/** Only options that the mini-app lists are chosen here; the service's own default applies elsewhere. */
function optionOf(method: MiniappMethod, requested: string | null): string | null {
  const option = requested?.trim().toLowerCase() ?? '';
  if (method.options.length === 0 || option === '') return null;
  if (method.options.some(({ id }) => id === option)) return option;
  if (method.id !== 'platega') throw methodUnavailable();
  throw /^\d+$/.test(option) ? optionUnavailable() : optionInvalid();
}

async function startStars(app: App, actor: UserActor, requestedKopeks: number, key: string | null): Promise<MiniappPayment> {
  const { invoiceUrl, stars, amountKopeks, payload } = await createStarsInvoice(app, actor, requestedKopeks, key);
  const extra = {
    invoice_payload: payload,
    stars_amount: stars,
    requested_amount_kopeks: requestedKopeks,
    requested_at: wholeSeconds(app.clock.now()),
  };
  return { method: 'stars', paymentUrl: invoiceUrl, amountKopeks, extra };
}

/** ISO 8601 in UTC without fractions. */
function wholeSeconds(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`;
}

const creationFailed = refusal('payment_creation_failed', 502, 'Failed to create payment');
const urlMissing = refusal('payment_url_missing', 502, 'Failed to obtain payment url');
const belowMinimum = refusal('amount_below_minimum', 400, 'Amount is below minimum');
const aboveMaximum = refusal('amount_above_maximum', 400, 'Amount exceeds maximum');
export const methodUnavailable = refusal('method_unavailable', 400, 'Payment method is unavailable');

function outside(id: string, sentence: string, limitKopeks: number) {
  const limit = NAMES_LIMITS.has(id) ? ` (${rublesOf(limitKopeks).toFixed(2)} RUB)` : '';
  return amountOutOfLimits({ detail: `${sentence}${limit}` });
}

/** The refusals of the cabinet's top-up as the mini-app answers them. */
function renamed(id: string, code: string, cause: unknown): unknown {
  switch (code) {
    case 'payment_creation_failed':
      return creationFailed({
        detail: id === 'cryptobot' || id === 'stars' ? 'Failed to create invoice' : 'Failed to create payment',
        cause,
      });
    case 'payment_url_missing':
      return urlMissing({ cause });
    case 'payment_method_off':
    case 'payment_method_unavailable':
      return methodUnavailable();
    case 'amount_below_minimum':
      return belowMinimum();
    case 'amount_above_maximum':
      return aboveMaximum();
    default:
      return cause;
  }
}
