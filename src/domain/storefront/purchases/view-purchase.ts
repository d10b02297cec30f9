import type { App } from '../../../core/app.ts';
import { purchaseNotFound } from './errors.ts';
import { botLink } from './links.ts';
import { type Credentials, findByToken, type PurchaseSurroundings, readSurroundings, takeCredentials } from './repo.ts';
import { isToken, maskContact, recipientOf, shownStatus, showsCredentials, showsLinks } from './rules.ts';
import type { GuestPurchase, PurchaseStatus } from './types.ts';

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
 * The page of a purchase (spec 03 section 7.2). Credentials of an account that the purchase created are shown once: the first call
 * that may see them deletes them (H3, H22).
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
    periodDays: purchase.periodDays,
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
