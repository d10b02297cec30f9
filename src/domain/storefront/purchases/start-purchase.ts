import { createHash } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { isAppError, rethrowUnavailable } from '../../../core/errors.ts';
import { isRowId } from '../../../core/row-id.ts';
import { effectiveSquadsOf, lockTariff } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import { runOnceAround } from '../../ledger/run-once.ts';
import { providerOf } from '../../payments/payment-methods.ts';
import { purchaseDescription } from '../../payments/payment-texts.ts';
import type { ReturnUrls } from '../../payments/ports.ts';
import { type PreparedInvoice, prepareInvoice, requestInvoice } from '../../payments/topup-balance.ts';
import type { Choice } from '../../subscriptions/order.ts';
import { landingNotFound } from '../landings/landings.ts';
import { findBySlug } from '../landings/repo.ts';
import { chosenPeriods, landingPrice } from '../landings/rules.ts';
import { choosePayment, type PaymentChoice, usableMethod } from '../landings/show-landing.ts';
import type { Landing } from '../landings/types.ts';
import {
  aboveMaximum,
  belowMinimum,
  giftsOff,
  methodNotOnLanding,
  periodNotOnLanding,
  periodUnavailable,
  priceMissing,
  providerAnswerInvalid,
  providerUnavailable,
  purchaseNotFound,
  tariffInactive,
  tariffNotForGifts,
  tariffNotOnLanding,
  tariffWithoutServers,
} from './errors.ts';
import { botLink, successUrl } from './notices.ts';
import {
  type Credentials,
  deleteUnpaid,
  findByToken,
  freeToken,
  insertPurchase,
  type PurchaseSurroundings,
  readSurroundings,
  takeCredentials,
} from './repo.ts';
import { GUEST_PURCHASE, isToken, maskContact, recipientOf, shownStatus, showsCredentials, showsLinks } from './rules.ts';
import type { Contact, GuestPurchase, PurchaseStatus } from './types.ts';

/** A guest's order; its contacts have been checked by `readContact`. */
export interface PurchaseOrder extends Choice<'landing'> {
  slug: string;
  buyer: Contact;
  /** Id of the page's method, optionally followed by a sub-option. */
  paymentMethod: string;
  isGift: boolean;
  /** Of a gift. */
  recipient: Contact | null;
  giftMessage: string | null;
}

export interface StartedPurchase {
  token: string;
  paymentUrl: string;
}

interface PreparedPurchase {
  token: string;
  invoice: PreparedInvoice;
}

/**
 * Starts a purchase without an account (spec 03 section 7.2): purchase and invoice are committed before the provider is
 * called (H4), which happens outside of any transaction. If the provider makes no invoice, the purchase is deleted.
 * @param caller the client's address, preferred language (of a new account and its mails) and `Idempotency-Key`: a repeat from the same
 * address gets the first answer
 * @throws AppError 404 no such page | 400 not offered, with the texts of the specification | 502 the provider is down
 */
export async function startPurchase(
  app: App,
  order: PurchaseOrder,
  caller: { ip: string | null; language?: string | null; idempotencyKey: string | null },
): Promise<StartedPurchase> {
  const key = keyOfAddress(caller);
  return runOnceAround(
    app,
    { kind: 'anonymous' },
    { key, operation: 'landing.purchase', input: order },
    (t) => preparePurchase(t, order, { language: caller.language ?? null, ip: caller.ip }),
    (prepared) => openPurchase(app, prepared),
  );
}

/** Guests share one actor, so keys are separate for each address, and no client gets the answer to another one's request. */
function keyOfAddress({ ip, idempotencyKey: key }: { ip: string | null; idempotencyKey: string | null }): string | null {
  if (key === null || key === '' || key.length > 255) return key;
  return createHash('sha256').update(`${ip}\n${key}`).digest('hex');
}

async function preparePurchase(
  t: App,
  order: PurchaseOrder,
  { language, ip }: { language: string | null; ip: string | null },
): Promise<PreparedPurchase> {
  const landing = await findBySlug(t.db, order.slug);
  if (!landing?.isActive) throw landingNotFound();
  if (order.isGift && !landing.giftEnabled) throw giftsOff();
  const choice = choosePayment(t, landing.paymentMethods, order.paymentMethod);
  if (!choice) throw methodNotOnLanding();
  const tariff = await soldTariff(t, landing, order);
  const amountKopeks = priceOrder(t, landing, tariff, order.periodDays);
  checkLimits(choice, amountKopeks);
  const method = usableMethod(t, choice.method.methodId);
  const provider = method && providerOf(t, method);
  if (!provider) throw providerUnavailable();

  const token = await freeToken(t);
  const invoice = await prepareInvoice(t, {
    provider,
    userId: null,
    amountKopeks,
    description: purchaseDescription(t, language, `${tariff.name} — ${order.periodDays}d`),
    option: choice.option,
    purpose: GUEST_PURCHASE,
    payerEmail: order.buyer.type === 'email' ? order.buyer.value : null,
    payerIp: ip,
    returnUrls: returnUrls(t, choice, token),
    metadata: { purpose: GUEST_PURCHASE, purchase_token: token, source: 'landing' },
  });
  await insertPurchase(t.db, {
    token,
    order: { kind: 'landing', tariffId: tariff.id, periodDays: order.periodDays },
    landingId: landing.id,
    buyerUserId: null,
    recipientWarning: null,
    promoOfferPercent: null,
    promoOfferSource: null,
    buyer: order.buyer,
    language,
    isGift: order.isGift,
    recipient: order.isGift ? order.recipient : null,
    giftMessage: order.isGift ? order.giftMessage : null,
    amountKopeks,
    paymentMethod: order.paymentMethod,
    paymentId: invoice.paymentId,
    now: t.clock.now(),
  });
  return { token, invoice };
}

/** The tariff, locked for share, so that it is not deleted before the purchase is written. */
async function soldTariff(t: App, landing: Landing, order: PurchaseOrder): Promise<Tariff> {
  if (!landing.allowedTariffIds.includes(order.tariffId)) throw tariffNotOnLanding();
  const tariff = isRowId(order.tariffId) ? await lockTariff(t, order.tariffId) : null;
  if (!tariff?.isActive) throw tariffInactive();
  if (order.isGift && !tariff.showInGift) throw tariffNotForGifts();
  if ((await effectiveSquadsOf(t, tariff)).length === 0) throw tariffWithoutServers();
  return tariff;
}

function priceOrder(t: App, landing: Landing, tariff: Tariff, days: number): number {
  const chosen = chosenPeriods(landing, tariff.id);
  if (chosen && !chosen.includes(days)) throw periodNotOnLanding();
  if (!chosen && !Object.hasOwn(tariff.periodPrices, days)) throw periodUnavailable();
  const price = landingPrice(landing, tariff, days, t.clock.now());
  if (!price) throw priceMissing();
  return price.kopeks;
}

function checkLimits({ method }: PaymentChoice, amountKopeks: number): void {
  const { minAmountKopeks: min, maxAmountKopeks: max } = method;
  if (min !== null && amountKopeks < min) throw belowMinimum(min);
  if (max !== null && amountKopeks > max) throw aboveMaximum(max);
}

/** Where the payer comes back to: the address of the method, else the page of the cabinet. */
function returnUrls(t: App, { method }: PaymentChoice, token: string): ReturnUrls {
  const url = method.returnUrl ? method.returnUrl.replaceAll('{token}', token) : successUrl(t, token);
  return { result: url, success: url, failed: url };
}

async function openPurchase(app: App, { token, invoice }: PreparedPurchase): Promise<StartedPurchase> {
  try {
    return { token, paymentUrl: await requestInvoice(app, invoice) };
  } catch (error) {
    // The provider may have made the invoice: the purchase and its record stay, see `requestInvoice`.
    rethrowUnavailable(error);
    await deleteUnpaid(app.db, invoice.paymentId);
    throw isAppError(error) ? providerAnswerInvalid(error) : providerUnavailable(error);
  }
}

/** A purchase as the holder of its token may see it; contacts are masked. */
export interface PurchaseView {
  status: PurchaseStatus;
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
  isGift: boolean;
  contactValue: string;
  recipientContactValue: string | null;
  periodDays: number;
  tariffName: string | null;
  giftMessage: string | null;
  /** Of the recipient of a gift, else of the buyer. */
  contactType: string;
  cabinetEmail: string | null;
  cabinetPassword: string | null;
  autoLoginToken: string | null;
  isRecipientInBot: boolean | null;
  botLink: string | null;
}

/**
 * The page of a purchase. Credentials of an account that the purchase created are shown once: the first call
 * that may see them deletes them (spec 03 H3, H22).
 * @throws AppError 404 'Purchase not found'
 */
export async function viewPurchase(app: App, token: string): Promise<PurchaseView> {
  const purchase = isToken(token) ? await findByToken(app.db, token) : null;
  if (!purchase) throw purchaseNotFound();
  const surroundings = await readSurroundings(app.db, purchase.id);
  const now = app.clock.now();
  const areCredentialsShown = isSelfByEmail(purchase) && purchase.accountCreated && showsCredentials(purchase, now);
  const credentials = areCredentialsShown ? await takeCredentials(app.db, purchase.id) : null;
  return { ...describe(app, purchase, surroundings), ...shownCredentials(purchase, credentials) };
}

function describe(app: App, purchase: GuestPurchase, { tariffName, isRecipientInBot }: PurchaseSurroundings) {
  const hasLinks = showsLinks(purchase, app.clock.now());
  const isMessengerGift = purchase.isGift && purchase.recipient?.type === 'messenger';
  return {
    status: shownStatus(purchase),
    subscriptionUrl: hasLinks ? purchase.subscriptionUrl : null,
    subscriptionCryptoLink: hasLinks ? purchase.subscriptionCryptoLink : null,
    isGift: purchase.isGift,
    contactValue: maskContact(purchase.buyer.value),
    recipientContactValue: purchase.recipient && maskContact(purchase.recipient.value),
    periodDays: purchase.order.periodDays,
    tariffName,
    giftMessage: purchase.giftMessage,
    contactType: (recipientOf(purchase) ?? purchase.buyer).type,
    isRecipientInBot: isMessengerGift ? isRecipientInBot : null,
    botLink: isMessengerGift && !isRecipientInBot ? botLink(app) : null,
  };
}

function shownCredentials(purchase: GuestPurchase, credentials: Credentials | null) {
  const isGiven = purchase.status === 'delivered' || purchase.status === 'pending_activation';
  return {
    cabinetEmail: isGiven && isSelfByEmail(purchase) ? purchase.buyer.value : null,
    cabinetPassword: credentials?.password ?? null,
    autoLoginToken: credentials?.autoLoginToken ?? null,
  };
}

function isSelfByEmail(purchase: GuestPurchase): boolean {
  return !purchase.isGift && purchase.buyer.type === 'email';
}
