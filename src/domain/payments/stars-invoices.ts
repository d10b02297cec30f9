import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { rethrowUnavailable } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { requireUser } from '../identity/find-user.ts';
import { runOnceAround } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import {
  aboveMaximum,
  starsAboveMaximum,
  starsBelowMinimum,
  starsInvoiceFailed,
  starsNotCalculated,
  starsOff,
  topupRestricted,
} from './errors.ts';
import { markInvoiceFailed } from './repo.ts';
import { newOrderId } from './rules.ts';
import { attachStarsLink, insertStarsInvoice } from './stars-repo.ts';
import { limitInvoices } from './topup-balance.ts';

const METHOD = 'messenger_stars';
const MIN_KOPEKS = 100;
const MAX_KOPEKS = 1_000_000;
/** The messenger's own limit of one invoice. */
const MAX_STARS = 10_000;

export interface StarsInvoiceLink {
  invoiceUrl: string;
  stars: number;
  /** What is credited for these stars, whatever the rate is when they are paid. */
  amountKopeks: number;
  /** The id of the invoice, which returns with the payment. */
  payload: string;
}

interface StoredInvoice extends Omit<StarsInvoiceLink, 'invoiceUrl'> {
  paymentId: number;
  description: string;
}

/**
 * Creates a link by which the user pays Stars in the messenger (03a section 1). Price and kopeks are stored and committed before the link is
 * made; its payload is the random id of the record, since clients see it. A call that failed leaves a failed record.
 * @throws AppError 400 | 403 | 404 | 429 | 500 | 502 while the messenger does not answer
 */
export async function createStarsInvoice(
  app: App,
  actor: UserActor,
  amountKopeks: number,
  idempotencyKey: string | null,
): Promise<StarsInvoiceLink> {
  await limitInvoices(app, actor, idempotencyKey);
  return runOnceAround(
    app,
    actor,
    { key: idempotencyKey, operation: 'balance.stars-invoice', input: { amountKopeks } },
    (t) => storeInvoice(t, actor.userId, amountKopeks),
    (invoice) => requestLink(app, invoice),
  );
}

async function storeInvoice(t: App, userId: number, amountKopeks: number): Promise<StoredInvoice> {
  const user = await requireUser(t, userId);
  if (user.restrictionTopup) throw topupRestricted();
  if (!t.ports.payments.byMethod(METHOD)?.isConfigured()) throw starsOff();
  if (amountKopeks < MIN_KOPEKS) throw starsBelowMinimum();
  if (amountKopeks > MAX_KOPEKS) throw starsAboveMaximum();
  const stars = priceInStars(t, amountKopeks);
  const payload = newOrderId(t.random);
  const description = text(user.language, 'messages.stars_invoice_description', { amount: formatPrice(amountKopeks, false) });
  const invoice = { userId, payload, stars, amountKopeks, purpose: 'balance_topup', description, now: t.clock.now() };
  const paymentId = await insertStarsInvoice(t.db, invoice);
  if (paymentId === null) throw new Error('a random order id is taken');
  return { paymentId, stars, amountKopeks, payload, description };
}

async function requestLink(app: App, invoice: StoredInvoice): Promise<StarsInvoiceLink> {
  const { paymentId, stars, amountKopeks, payload, description } = invoice;
  try {
    const { paymentUrl } = await app.ports.payments.byMethod(METHOD)!.createInvoice({
      ...{ paymentId, orderId: payload, amountKopeks, stars, description },
      returnUrls: { result: null, success: null, failed: null },
      metadata: {},
    });
    await attachStarsLink(app.db, paymentId, paymentUrl, app.clock.now());
    return { invoiceUrl: paymentUrl, stars, amountKopeks, payload };
  } catch (error) {
    // The invoice may have been made: its record stays open, and a payment finds it by its payload.
    rethrowUnavailable(error);
    app.log.warn({ err: error, paymentId }, 'a Stars invoice could not be created');
    await markInvoiceFailed(app.db, paymentId, app.clock.now());
    throw starsInvoiceFailed(error);
  }
}

/** @throws AppError 400 when the messenger accepts no invoice of so many stars | 500 for a rate that is no price */
function priceInStars(app: App, amountKopeks: number): number {
  const rate = app.settings.get('MESSENGER_STARS_RATE_RUB');
  let stars: number;
  try {
    stars = starsForKopeks(amountKopeks, rate);
  } catch (error) {
    throw starsNotCalculated(error);
  }
  if (stars > MAX_STARS) throw aboveMaximum(kopeksForStarsFloor(MAX_STARS, rate));
  return stars;
}

// Converts Stars to kopeks and back (spec 03 section 2.5) in integers only: the rate is read as an exact decimal fraction.

/** Rubles per star as a fraction of integers. */
interface Rate {
  numerator: bigint;
  denominator: bigint;
}

const DECIMAL = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

/** @throws RangeError for a rate that is not a decimal above zero with at most nine places */
function parseRate(rateRub: number | string): Rate {
  const match = DECIMAL.exec(String(rateRub).trim());
  const fraction = match?.[2] ?? '';
  const numerator = match ? BigInt(`${match[1]}${fraction}`) : 0n;
  if (numerator === 0n) throw new RangeError('The Stars rate must be a decimal above zero');
  return { numerator, denominator: 10n ** BigInt(fraction.length) };
}

/** Quotient of two positive numbers, halves up. */
function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

/**
 * Stars to ask for: `max(1, ceil(rubles / rate))`, so that they are worth at least the kopeks that are credited for them (03a section 1).
 * @param kopeks whole kopeks, not negative
 * @param rateRub rubles per star (`MESSENGER_STARS_RATE_RUB`)
 */
export function starsForKopeks(kopeks: number, rateRub: number | string): number {
  const { numerator, denominator } = parseRate(rateRub);
  const divisor = 100n * numerator;
  const stars = (BigInt(kopeks) * denominator + divisor - 1n) / divisor;
  return stars < 1n ? 1 : Number(stars);
}

/**
 * What stars without a stored price are worth: `stars * rate`, halves up to kopeks.
 * @param stars whole stars actually paid, not negative
 * @param rateRub rubles per star
 */
export function kopeksForStars(stars: number, rateRub: number | string): number {
  const { numerator, denominator } = parseRate(rateRub);
  return Number(divideHalfUp(BigInt(stars) * 100n * numerator, denominator));
}

/**
 * Kopeks that a price in stars takes from the balance: `trunc(stars * rate * 100)` (spec 04 section 13.2).
 * @param stars whole stars, not negative
 * @param rateRub rubles per star
 */
export function kopeksForStarsFloor(stars: number, rateRub: number | string): number {
  const { numerator, denominator } = parseRate(rateRub);
  return Number((BigInt(stars) * 100n * numerator) / denominator);
}
