import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { rethrowUnavailable } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { requireUser } from '../identity/require-user.ts';
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
import { attachStarsLink, insertStarsInvoice } from './stars-invoice-repo.ts';
import { kopeksForStarsFloor, starsForKopeks } from './stars-rate.ts';
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

/** @throws AppError 400 when the messenger takes no invoice of so many stars | 500 for a rate that is no price */
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
