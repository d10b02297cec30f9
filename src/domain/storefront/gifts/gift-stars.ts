import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import type { UserRecord } from '../../identity/types.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import { readStarsInvoice, recordStarsCharge, type StarsPurpose } from '../../payments/purpose-payment.ts';
import { recordCredited } from '../../payments/resolve-case.ts';
import { kopeksForStars } from '../../payments/stars-invoices.ts';
import type { CreditResult } from '../../payments/types.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { endWithoutOffer, OfferGoneError, payerOf, postRevenue, recordPaid } from '../purchases/fulfil-purchase.ts';
import { openRecipient, type PreparedRecipient, prepareRecipient } from '../purchases/recipient.ts';
import { findByPayment, lockPurchase } from '../purchases/repo.ts';
import { recipientOf } from '../purchases/rules.ts';
import type { GuestPurchase } from '../purchases/types.ts';
import { STARS_PREFIX } from './buy-gift.ts';

const METHOD = 'messenger_stars';

type StarsPaid = Parameters<StarsPurpose['settle']>[1];

/**
 * Gifts paid in Stars (spec 03 sections 2.5 and 7.2). Anybody whom the service knows may pay a link; the gift is its buyer's. Stars that
 * pay for nothing, for example a link that was paid twice at the same time, go to the balance of the payer.
 */
export const giftStars: StarsPurpose = {
  prefix: STARS_PREFIX,

  async refusalOf(app, query, payer) {
    const invoice = await readStarsInvoice(app, query.payload, false);
    const gift = invoice && (await findByPayment(app.db, invoice.id));
    const isPayable = gift?.status === 'pending' && !invoice?.isPaid && invoice?.stars === query.amountStars;
    return isPayable ? null : text(payer.language, 'messages.stars_invoice_unknown');
  },

  async settle(app, paid, payer) {
    const invoice = await readStarsInvoice(app, paid.payload, false);
    const seen = invoice && (await findByPayment(app.db, invoice.id));
    if (seen && invoice.stars === paid.stars && seen.paidAt === null) {
      const contact = recipientOf(seen);
      const prepared = contact && (await prepareRecipient(app, contact));
      try {
        if (await inTransaction(app, (t) => takeStars(t, seen, prepared, paid, payer))) return 'credited';
      } catch (error) {
        if (!(error instanceof OfferGoneError)) throw error;
        return inTransaction(app, (t) => giveBackGift(t, seen, paid, payer));
      }
    }
    return inTransaction(app, (t) => giveBack(t, paid, payer));
  },
};

/**
 * Accepts a charge for an unpaid gift: revenue row, paid invoice and paid gift are one transaction (spec 03 H5).
 * @returns false when the gift is paid by now
 */
async function takeStars(
  t: App,
  seen: GuestPurchase,
  prepared: PreparedRecipient | null,
  paid: StarsPaid,
  { id, language }: UserRecord,
): Promise<boolean> {
  const recipient = prepared && (await openRecipient(t, prepared, seen.language));
  const payer = (await payerOf(t, seen, recipient)) ?? { userId: id, language };
  await lockUserSubscription(t, payer.userId);
  const invoice = await readStarsInvoice(t, paid.payload, true);
  const gift = await lockPurchase(t.db, seen.id);
  if (!invoice || invoice.isPaid || !gift || gift.paidAt !== null) return false;
  const { chargeId } = paid;
  const posting = await postRevenue(t, gift, payer, { method: METHOD, externalId: chargeId });
  if (posting.outcome === 'duplicate') return false;
  const { transactionId } = posting;
  const { amountKopeks } = gift;
  const description = `gift ${gift.id}`;
  await recordStarsCharge(t, invoice, { chargeId, transactionId, update: paid, userId: payer.userId, amountKopeks, description });
  await recordPaid(t, gift, { recipient, transactionId });
  return true;
}

/**
 * Credits the payer with the agreed kopeks of a gift whose discount was used up before the stars came, once, with a case that says why, and
 * ends the gift (spec 10 M3).
 */
async function giveBackGift(t: App, seen: GuestPurchase, paid: StarsPaid, payer: UserRecord): Promise<CreditResult> {
  await lockUserSubscription(t, payer.id);
  await lockPurchase(t.db, seen.id);
  const { amountKopeks } = seen;
  const result = await giveBack(t, paid, payer, amountKopeks);
  if (result !== 'credited') return result;
  const details = { purchaseId: seen.id, percent: seen.promoOfferPercent, chargeId: paid.chargeId };
  const payment = { id: seen.paymentId, method: METHOD, userId: payer.id };
  await recordCredited(t, { kind: 'offer_gone', payment, reference: paid.chargeId, amountKopeks, details });
  await endWithoutOffer(t, seen.id, { userId: payer.id, amountKopeks });
  return result;
}

/**
 * Credits stars that pay for nothing to their payer, once per charge; nothing for a charge that was taken before.
 * @param agreedKopeks of their invoice; absent = what they are worth now, and the payer learns why
 */
async function giveBack(
  t: App,
  paid: StarsPaid,
  { id: userId, language }: UserRecord,
  agreedKopeks?: number,
): Promise<CreditResult> {
  const amountKopeks = agreedKopeks ?? kopeksForStars(paid.stars, t.settings.get('MESSENGER_STARS_RATE_RUB'));
  const { chargeId } = paid;
  const description = text(language, 'gifts.transaction_stars_returned');
  const posting = await postMovement(t, {
    ...{ userId, type: 'refund', amountKopeks, contra: { kind: 'provider_clearing', provider: METHOD } },
    ...{ paymentMethod: METHOD, externalId: chargeId, description },
  });
  if (posting.outcome === 'no_user') return 'no_user';
  if (posting.outcome === 'duplicate') return 'already_credited';
  if (posting.outcome !== 'posted') throw new Error(`a Stars charge was ${posting.outcome}`);
  const { transactionId } = posting;
  await recordStarsCharge(t, null, { chargeId, transactionId, update: paid, userId, amountKopeks, description });
  if (agreedKopeks !== undefined) return 'credited';
  const html = htmlText(language, 'gifts.stars_returned', { amount: formatPrice(amountKopeks, false) });
  await sendMessage(t, { messengerId: paid.payerMessengerId, html });
  return 'credited';
}
