import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnceFrom } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { periodLabel } from '../../pricing/labels.ts';
import { openSale } from '../../subscriptions/purchase/open-sale.ts';
import type { SaleStart } from '../../subscriptions/purchase/types.ts';
import { consumeOffer } from '../purchases/consume-offer.ts';
import { openRecipient } from '../purchases/recipient.ts';
import { freeToken, insertPurchase } from '../purchases/repo.ts';
import { CODE_LENGTH, nextAttempt } from '../purchases/rules.ts';
import { giftToSelf, insufficientBalance } from './errors.ts';
import { giftNeeds, newGift, priceGift } from './price-gift.ts';
import type { BoughtGift, CheckedGift } from './types.ts';

/**
 * Pays for a gift from the balance: debit with its row `gift_payment`, the paid purchase, the recipient's account, the used-up discount and
 * the job that gives it are one transaction (spec 03 H12, H24). What fails later is retried by the jobs of purchases.
 * @throws AppError 400 'Insufficient balance', and the refusals of `priceGift`
 */
export async function payFromBalance(
  app: App,
  actor: UserActor,
  gift: CheckedGift,
  idempotencyKey: string | null,
): Promise<BoughtGift> {
  // Before the transaction, which holds the lock of the user.
  const token = await freeToken(app);
  return runOnceFrom(
    app,
    actor,
    { key: idempotencyKey, operation: 'gift.purchase', input: gift.order },
    (t, claim) => openSale(t, actor.userId, giftNeeds(gift.order), claim),
    (t, start) => sell(t, start, gift, token),
  );
}

async function sell(t: App, start: SaleStart | null, gift: CheckedGift, token: string): Promise<BoughtGift> {
  const priced = priceGift(t, start, gift);
  const { buyer, tariff, price } = priced;
  if (buyer.balanceKopeks < price.kopeks) throw insufficientBalance();
  const recipient = gift.prepared && (await openRecipient(t, gift.prepared, buyer.language));
  // A name may belong to the buyer's own account in the messenger.
  if (recipient?.userId === buyer.id) throw giftToSelf();
  const title = text(buyer.language, 'gifts.transaction_gift', {
    tariff_name: tariff.name,
    period: periodLabel(gift.order.periodDays, buyer.language),
  });
  const posting = await postMovement(t, {
    userId: buyer.id,
    type: 'gift_payment',
    amountKopeks: -price.kopeks,
    contra: { kind: 'sales_revenue', product: 'gift' },
    paymentMethod: 'balance',
    description: gift.recipient ? `${title} -> ${gift.recipient.value}` : title,
  });
  if (posting.outcome === 'insufficient') throw insufficientBalance();
  if (posting.outcome !== 'posted') throw new Error(`the debit of a gift was ${posting.outcome}`);

  const row = newGift(t, gift, priced, { paymentMethod: 'balance', paymentId: null }, token);
  const id = await insertPurchase(t.db, row, {
    userId: recipient?.userId ?? null,
    transactionId: posting.transactionId,
    accountCreated: recipient?.isNew ?? false,
    cabinetPassword: recipient?.password ?? null,
    autoLoginToken: null,
    nextAttemptAt: recipient && nextAttempt(0, row.now),
  });
  await consumeOffer(t, { id, ...row }, 'balance');
  if (recipient) await t.jobs.send('gifts.fulfil', { purchaseId: id });
  return { status: 'ok', code: row.token.slice(0, CODE_LENGTH), paymentUrl: null, warning: gift.warning };
}
