import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { formatPrice } from '../../core/money.ts';
import { requireUser } from '../identity/require-user.ts';
import type { UserRecord } from '../identity/types.ts';
import { runOnceAround } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import {
  starsAboveMaximum,
  starsBelowMinimum,
  starsInvoiceFailed,
  starsNotCalculated,
  starsOff,
  topupRestricted,
} from './errors.ts';
import { newOrderId, starsTopupPayload } from './rules.ts';
import { kopeksForStars, starsForKopeks } from './stars-rate.ts';
import { limitInvoices } from './topup-balance.ts';

const METHOD = 'messenger_stars';
const MIN_KOPEKS = 100;
const MAX_KOPEKS = 1_000_000;

export interface StarsInvoiceLink {
  invoiceUrl: string;
  stars: number;
  /** What these stars are worth at the current rate. */
  amountKopeks: number;
  /** Returns with the payment. */
  payload: string;
}

/**
 * Creates a link by which the user pays Stars in the messenger (spec 03 section 3). No record is stored before the payment.
 * @throws AppError 400 | 403 | 404 | 429 | 500
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
    (t) => checkStarsTopup(t, actor.userId, amountKopeks),
    (user) => requestLink(app, user, amountKopeks),
  );
}

async function checkStarsTopup(t: App, userId: number, amountKopeks: number): Promise<UserRecord> {
  const user = await requireUser(t, userId);
  if (user.restrictionTopup) throw topupRestricted();
  if (!t.ports.payments.byMethod(METHOD)?.isConfigured()) throw starsOff();
  if (amountKopeks < MIN_KOPEKS) throw starsBelowMinimum();
  if (amountKopeks > MAX_KOPEKS) throw starsAboveMaximum();
  return user;
}

async function requestLink(app: App, user: UserRecord, amountKopeks: number): Promise<StarsInvoiceLink> {
  const { stars, credited } = priceInStars(app, amountKopeks);
  const payload = starsTopupPayload(user.id, credited, app.clock.now());
  try {
    const invoice = await app.ports.payments.byMethod(METHOD)!.createInvoice({
      paymentId: 0,
      orderId: newOrderId(app.random),
      amountKopeks,
      description: text(user.language, 'messages.stars_invoice_description', { amount: formatPrice(credited, false) }),
      returnUrls: { result: null, success: null, failed: null },
      metadata: {},
      payload,
    });
    return { invoiceUrl: invoice.paymentUrl, stars, amountKopeks: credited, payload };
  } catch (error) {
    app.log.warn({ err: error, userId: user.id }, 'a Stars invoice could not be created');
    throw starsInvoiceFailed(error);
  }
}

function priceInStars(app: App, amountKopeks: number): { stars: number; credited: number } {
  const rate = app.settings.get('MESSENGER_STARS_RATE_RUB');
  try {
    const stars = starsForKopeks(amountKopeks, rate);
    return { stars, credited: kopeksForStars(stars, rate) };
  } catch (error) {
    throw starsNotCalculated(error);
  }
}
