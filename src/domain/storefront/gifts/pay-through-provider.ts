import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError } from '../../../core/errors.ts';
import { runOnceAround } from '../../ledger/run-once.ts';
import { providerOf } from '../../payments/method-settings.ts';
import { type PreparedInvoice, prepareInvoice, requestInvoice } from '../../payments/open-invoice.ts';
import { openSale } from '../../subscriptions/purchase/open-sale.ts';
import { providerAnswerInvalid, providerUnavailable } from '../purchases/errors.ts';
import { cabinetUrl } from '../purchases/links.ts';
import { deleteUnpaid, insertPurchase } from '../purchases/repo.ts';
import { CODE_LENGTH, GUEST_PURCHASE, newPurchaseToken } from '../purchases/rules.ts';
import { chooseGiftPayment } from './payment-choice.ts';
import { giftNeeds, newGift, priceGift } from './price-gift.ts';
import type { BoughtGift, CheckedGift } from './types.ts';

interface PreparedGift {
  code: string;
  invoice: PreparedInvoice;
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
  const priced = priceGift(t, start, gift.order);
  const { tariff, price } = priced;
  const { method, option } = await chooseGiftPayment(t, gift.buyer.id, paymentMethod, price.kopeks);
  const provider = providerOf(t, method);
  if (!provider) throw providerUnavailable();
  const token = newPurchaseToken(t.random);
  const code = token.slice(0, CODE_LENGTH);
  const url = `${cabinetUrl(t)}/gift/result?token=${code}`;
  const invoice = await prepareInvoice(t, {
    provider,
    // The purchase knows its buyer. The lists and checks of invoices by user are those of top-ups.
    userId: null,
    amountKopeks: price.kopeks,
    description: `Gift: ${tariff.name} (${gift.order.periodDays}d)`,
    option,
    purpose: GUEST_PURCHASE,
    payerEmail: gift.buyer.email,
    payerIp,
    returnUrls: { result: url, success: url, failed: url },
    metadata: { purpose: GUEST_PURCHASE, purchase_token: token, source: 'cabinet' },
  });
  await insertPurchase(t.db, newGift(t, gift, priced, { paymentMethod, paymentId: invoice.paymentId }, token));
  return { code, invoice };
}

async function open(app: App, { code, invoice }: PreparedGift, warning: string | null): Promise<BoughtGift> {
  try {
    return { status: 'created', code, paymentUrl: await requestInvoice(app, invoice), warning };
  } catch (error) {
    await deleteUnpaid(app.db, invoice.paymentId);
    throw isAppError(error) ? providerAnswerInvalid(error) : providerUnavailable(error);
  }
}
