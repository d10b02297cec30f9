import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, refusal, rethrowUnavailable } from '../../../core/errors.ts';
import { limitOrRefuse } from '../../../core/rate-limit.ts';
import { requireUser } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { isAnswered, runOnceAround, runOnceFrom } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { aboveMaximum, belowMinimum, methodNotOffered } from '../../payments/errors.ts';
import {
  listPaymentMethodsFor,
  type MethodDefaults,
  methodDefaults,
  methodName,
  methodOptions,
  providerOf,
} from '../../payments/payment-methods.ts';
import { purchaseDescription } from '../../payments/payment-texts.ts';
import { readStarsInvoice, storeStarsInvoice } from '../../payments/purpose-payment.ts';
import { newOrderId } from '../../payments/rules.ts';
import { starsForKopeks } from '../../payments/stars-invoices.ts';
import { prepareInvoice, requestInvoice } from '../../payments/topup-balance.ts';
import type { OfferedMethod } from '../../payments/types.ts';
import { periodLabel } from '../../pricing/periods.ts';
import { openSale } from '../../subscriptions/purchase/complete-sale.ts';
import { readGivenQuote } from '../../subscriptions/purchase/signed-quote.ts';
import type { SaleStart } from '../../subscriptions/purchase/types.ts';
import { providerAnswerInvalid, providerUnavailable } from '../purchases/errors.ts';
import { consumeOffer } from '../purchases/fulfil-purchase.ts';
import { cabinetUrl } from '../purchases/notices.ts';
import { isPersonKnown, openRecipient, prepareRecipient } from '../purchases/recipient.ts';
import { deleteUnpaid, freeToken, insertPurchase } from '../purchases/repo.ts';
import { CODE_LENGTH, GUEST_PURCHASE, nextAttempt } from '../purchases/rules.ts';
import type { Contact } from '../purchases/types.ts';
import { giftsDisabled, giftToSelf, insufficientBalance, invalidEmail, invalidUsername, RESTRICTED } from './errors.ts';
import { isGiftEnabled } from './is-gift-enabled.ts';
import { giftNeeds, newGift, priceGift } from './price-gift.ts';
import { isContactOf, readRecipient } from './rules.ts';
import { type BoughtGift, type CheckedGift, type GiftOrder, UNRESOLVABLE } from './types.ts';

export const subscriptionRestricted = refusal('subscription_restricted', 403, 'Purchases are restricted for this account');

const CALLS_A_MINUTE = 5;

/**
 * Buys a gift for another person, or one that is only a code (spec 03 section 9). The messenger is asked about the recipient, for at most 5 s,
 * before the transaction begins.
 * @param quote of `readGiftConfig`, sent back; null = none
 * @param caller `idempotencyKey`: a repeat gets the first answer and does not count as an attempt; `ip`: null = unknown
 * @throws AppError, in this order: 400 'Gift feature is not enabled' | 429 | 403 restricted | 400 of the recipient | 404 and 400 of the tariff
 * and its period | 400 'Insufficient balance', of the payment method, or 502 of the provider; 409 and 422 of the key; those of `requireQuoted`
 */
export async function buyGift(
  app: App,
  actor: UserActor,
  order: GiftOrder,
  caller: { idempotencyKey: string | null; ip: string | null },
  quote: string | null = null,
): Promise<BoughtGift> {
  if (!(await isAnswered(app, actor, caller.idempotencyKey))) {
    if (!(await isGiftEnabled(app))) throw giftsDisabled();
    await limitOrRefuse(app, `gift:purchase:user:${actor.userId}`, CALLS_A_MINUTE, 60);
  }
  const gift = { ...(await checkGift(app, actor, order)), quote: await readGivenQuote(app, quote) };
  return order.paymentMethod === null
    ? payFromBalance(app, actor, gift, caller.idempotencyKey)
    : payThroughProvider(app, actor, gift, order.paymentMethod, caller);
}

async function checkGift(app: App, actor: UserActor, order: GiftOrder): Promise<Omit<CheckedGift, 'quote'>> {
  const buyer = await requireUser(app, actor.userId);
  if (buyer.restrictionSubscription) throw subscriptionRestricted({ detail: RESTRICTED });
  const recipient = order.recipient && requireRecipient(order.recipient);
  if (recipient && isContactOf(recipient, buyer)) throw giftToSelf();
  // The account of an address is looked up, and made, when the money has come.
  const isNeeded = order.paymentMethod === null || recipient?.type === 'messenger';
  const prepared = recipient && isNeeded ? await prepareRecipient(app, recipient) : null;
  const isUnknown = prepared !== null && recipient?.type === 'messenger' && !(await isPersonKnown(app, prepared));
  return { order, buyer, recipient, prepared, warning: isUnknown ? UNRESOLVABLE : null };
}

/** @throws AppError 400 */
function requireRecipient({ type, value }: NonNullable<GiftOrder['recipient']>): Contact {
  const contact = readRecipient(type, value);
  if (!contact) throw type === 'email' ? invalidEmail() : invalidUsername();
  return contact;
}

/**
 * Pays for a gift from the balance: debit with its row `gift_payment`, the paid purchase, the recipient's account, the used-up discount and
 * the job that gives it are one transaction (spec 03 H12, H24). What fails later is retried by the jobs of purchases.
 * @throws AppError 400 'Insufficient balance', and the refusals of `priceGift`
 */
async function payFromBalance(app: App, actor: UserActor, gift: CheckedGift, idempotencyKey: string | null): Promise<BoughtGift> {
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
function payThroughProvider(
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

/** Has donations without an invoice, which cannot be tied to a purchase. */
const NOT_FOR_GIFTS: ReadonlySet<string> = new Set(['tribute']);

/** The methods by which a user may pay for a gift, whether or not it would be the first payment (spec 03 section 5.1). */
export async function listGiftMethods(app: App, userId: number): Promise<OfferedMethod[]> {
  const methods = await listPaymentMethodsFor(app, userId, { ignoreFirstTopupFilter: true });
  return methods.filter(({ id }) => !NOT_FOR_GIFTS.has(id));
}

interface GiftPayment {
  method: MethodDefaults;
  /** Null = the provider has one way only. */
  option: string | null;
}

/**
 * The payment of a gift, checked like a top-up against what the user is offered (spec 03 H14).
 * @param asked id of a method, optionally followed by a sub-option (`yookassa_sbp`)
 * @throws AppError 400 'Invalid or unavailable payment method' | 400 with the limit of the method
 */
async function chooseGiftPayment(app: App, userId: number, asked: string, amountKopeks: number): Promise<GiftPayment> {
  const chosen = choose(app, await listGiftMethods(app, userId), asked);
  if (!chosen) throw methodNotOffered();
  const { offered, ...payment } = chosen;
  if (amountKopeks < offered.minAmountKopeks) throw belowMinimum(offered.minAmountKopeks);
  if (amountKopeks > offered.maxAmountKopeks) throw aboveMaximum(offered.maxAmountKopeks);
  return payment;
}

function choose(app: App, methods: readonly OfferedMethod[], asked: string): (GiftPayment & { offered: OfferedMethod }) | null {
  // The longest id first, because an id may begin with another one.
  for (const offered of [...methods].sort((a, b) => b.id.length - a.id.length)) {
    const method = methodDefaults(offered.id);
    if (!method) continue;
    const shown = offered.options?.map(({ id }) => id) ?? methodOptions(app, method);
    if (asked === offered.id) return { offered, method, option: method.fixedOption ?? shown[0] ?? null };
    const option = asked.startsWith(`${offered.id}_`) ? asked.slice(offered.id.length + 1) : null;
    if (option !== null && !method.fixedOption && shown.includes(option)) return { offered, method, option };
  }
  return null;
}

/** How the payloads of these invoices begin (spec 03 section 2.5). */
export const STARS_PREFIX = `${GUEST_PURCHASE}_`;

/** A stored invoice in Stars, whose link has to be requested from the messenger, after commit. */
interface PreparedStars {
  paymentId: number;
  payload: string;
  stars: number;
  title: string;
  description: string;
}

/**
 * Stores an invoice in Stars for a gift, in the caller's transaction. The kopeks are agreed now; a later change of the rate changes neither
 * them nor the stars of the link.
 */
async function prepareStars(
  t: App,
  invoice: { userId: number; amountKopeks: number; title: string; description: string },
): Promise<PreparedStars> {
  const { userId, amountKopeks, title, description } = invoice;
  const payload = `${STARS_PREFIX}${newOrderId(t.random)}`;
  const stars = starsForKopeks(amountKopeks, t.settings.get('MESSENGER_STARS_RATE_RUB'));
  await storeStarsInvoice(t, { userId, payload, stars, amountKopeks, purpose: GUEST_PURCHASE, description });
  const stored = await readStarsInvoice(t, payload, false);
  return { paymentId: stored!.id, payload, stars, title, description };
}

/** Requests the link by which the invoice is paid, outside of any transaction. @throws MessengerError */
function requestStarsLink(app: App, { payload, stars, title, description }: PreparedStars): Promise<string> {
  return app.ports.messenger.createStarsInvoiceLink({ payload, stars, title, description });
}
