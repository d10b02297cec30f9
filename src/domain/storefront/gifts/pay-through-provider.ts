import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, rethrowUnavailable } from '../../../core/errors.ts';
import { runOnceAround } from '../../ledger/run-once.ts';
import { methodName, providerOf } from '../../payments/method-settings.ts';
import { prepareInvoice, requestInvoice } from '../../payments/open-invoice.ts';
import { purchaseDescription } from '../../payments/payment-texts.ts';
import { openSale } from '../../subscriptions/purchase/open-sale.ts';
import { providerAnswerInvalid, providerUnavailable } from '../purchases/errors.ts';
import { cabinetUrl } from '../purchases/links.ts';
import { deleteUnpaid, freeToken, insertPurchase } from '../purchases/repo.ts';
import { CODE_LENGTH, GUEST_PURCHASE } from '../purchases/rules.ts';
import { prepareStars, requestStarsLink } from './pay-in-stars.ts';
import { chooseGiftPayment, type GiftPayment } from './payment-choice.ts';
import { giftNeeds, newGift, priceGift } from './price-gift.ts';
import type { BoughtGift, CheckedGift } from './types.ts';

/** A stored invoice. */
interface OpenInvoice {
  paymentId: number;
  /** Requests it from the provider. @returns the address where it is paid */
  request(app: App): Promise<string>;
}

interface PreparedGift {
  code: string;
  invoice: OpenInvoice;
}

/**
 * Makes an invoice for a gift. Purchase and invoice are committed before the provider is called, outside of any transaction (spec 03 H4); if it
 * makes none, the purchase is deleted. A personal discount is used up when the money comes, not before (H14).
 * @param caller the payer's address, null = unknown, and the client's `Idempotency-Key`
 * @throws AppError 400 'Invalid or unavailable payment method' or its limit | 502; and the refusals of `priceGift`
 */
export function payThroughProvider(
  app: App,
  actor: UserActor,
  gift: CheckedGift,
  paymentMethod: string,
  caller: { idempotencyKey: string | null; ip: string | null },
): Promise<BoughtGift> {
  return runOnceAround(
    app,
    actor,
    { key: caller.idempotencyKey, operation: 'gift.purchase', input: gift.order },
    (t) => prepare(t, gift, paymentMethod, caller.ip),
    (prepared) => open(app, prepared, gift.warning),
  );
}

async function prepare(t: App, gift: CheckedGift, paymentMethod: string, payerIp: string | null): Promise<PreparedGift> {
  const { start } = await openSale(t, gift.buyer.id, giftNeeds(gift.order));
  const priced = priceGift(t, start, gift);
  const { tariff, price } = priced;
  const payment = await chooseGiftPayment(t, gift.buyer.id, paymentMethod, price.kopeks);
  const token = await freeToken(t);
  const invoice = await prepareInvoiceOf(t, gift, payment, {
    token,
    amountKopeks: price.kopeks,
    description: `Gift: ${tariff.name} (${gift.order.periodDays}d)`,
    payerIp,
  });
  await insertPurchase(t.db, newGift(t, gift, priced, { paymentMethod, paymentId: invoice.paymentId }, token));
  return { code: token.slice(0, CODE_LENGTH), invoice };
}

async function prepareInvoiceOf(
  t: App,
  { buyer }: CheckedGift,
  { method, option }: GiftPayment,
  details: { token: string; amountKopeks: number; description: string; payerIp: string | null },
): Promise<OpenInvoice> {
  const { token, ...invoice } = details;
  if (method.id === 'messenger_stars') {
    const stars = await prepareStars(t, { userId: buyer.id, title: methodName(t, method.id), ...invoice });
    return { paymentId: stars.paymentId, request: (app) => requestStarsLink(app, stars) };
  }
  const provider = providerOf(t, method);
  if (!provider) throw providerUnavailable();
  const url = `${cabinetUrl(t)}/gift/result?token=${token.slice(0, CODE_LENGTH)}`;
  const prepared = await prepareInvoice(t, {
    ...invoice,
    description: purchaseDescription(t, buyer.language, invoice.description),
    provider,
    // The purchase knows its buyer. The lists and checks of invoices by user are those of top-ups.
    userId: null,
    option,
    purpose: GUEST_PURCHASE,
    payerEmail: buyer.email,
    returnUrls: { result: url, success: url, failed: url },
    metadata: { purpose: GUEST_PURCHASE, purchase_token: token, source: 'cabinet' },
  });
  return { paymentId: prepared.paymentId, request: (app) => requestInvoice(app, prepared) };
}

async function open(app: App, { code, invoice }: PreparedGift, warning: string | null): Promise<BoughtGift> {
  try {
    return { status: 'created', code, paymentUrl: await invoice.request(app), warning };
  } catch (error) {
    // The provider may have made the invoice: the purchase and its record stay, see `requestInvoice`.
    rethrowUnavailable(error);
    app.log.warn({ err: error, paymentId: invoice.paymentId }, 'the invoice of a gift could not be made');
    await deleteUnpaid(app.db, invoice.paymentId);
    throw isAppError(error) ? providerAnswerInvalid(error) : providerUnavailable(error);
  }
}
