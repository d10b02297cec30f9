import type { App } from '../../src/core/app.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { createLanding } from '../../src/domain/storefront/landings/landings.ts';
import type { Landing, LandingContent } from '../../src/domain/storefront/landings/types.ts';
import { deliverWaiting, fulfilPurchase } from '../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { guestPurchases } from '../../src/domain/storefront/purchases/purpose.ts';
import { readContact } from '../../src/domain/storefront/purchases/rules.ts';
import { type PurchaseOrder, startPurchase } from '../../src/domain/storefront/purchases/start-purchase.ts';
import type { Contact } from '../../src/domain/storefront/purchases/types.ts';
import { unique } from './builders.ts';
import { callback, runCallbackJobs } from './payment-samples.ts';
import { aTariff } from './sale-samples.ts';
import type { ScriptedProvider } from './scripted-provider.ts';

const system = { kind: 'system', name: 'test' } as const;

/** A plain page that sells one tariff over the sandbox. */
function aLandingContent(fields: Partial<LandingContent> = {}): LandingContent {
  return {
    slug: `page-${unique()}`,
    isActive: true,
    title: { ru: 'Страница', en: 'Page' },
    subtitle: null,
    footerText: null,
    metaTitle: null,
    metaDescription: null,
    features: [],
    allowedTariffIds: [],
    allowedPeriods: {},
    paymentMethods: [aMethod()],
    giftEnabled: true,
    customCss: null,
    discountPercent: null,
    discountOverrides: null,
    discountStartsAt: null,
    discountEndsAt: null,
    discountBadgeText: null,
    backgroundConfig: null,
    ...fields,
  };
}

export function aMethod(
  fields: Partial<LandingContent['paymentMethods'][number]> = {},
): LandingContent['paymentMethods'][number] {
  return {
    methodId: 'sandbox',
    displayName: 'Sandbox',
    description: null,
    iconUrl: null,
    sortOrder: 0,
    minAmountKopeks: null,
    maxAmountKopeks: null,
    currency: null,
    returnUrl: null,
    subOptions: null,
    ...fields,
  };
}

export interface Storefront {
  landing: Landing;
  tariffId: number;
}

/** A tariff (30 days for 300 ₽, 90 for 800 ₽) and a page that sells it. */
export async function aStorefront(
  app: App,
  fields: Partial<LandingContent> = {},
  tariff: Record<string, unknown> = {},
): Promise<Storefront> {
  const tariffId = await aTariff(app, { traffic_limit_gb: 50, device_limit: 3, ...tariff });
  const landing = await createLanding(app, system, aLandingContent({ allowedTariffIds: [tariffId], ...fields }));
  return { landing, tariffId };
}

export const anEmail = () => `guest${unique()}@example.com`;
export const aName = () => `@guest_${unique()}`;
export const contact = (value: string): Contact => readContact(value.startsWith('@') ? 'messenger' : 'email', value)!;

export function anOrder(storefront: Storefront, fields: Partial<PurchaseOrder> = {}): PurchaseOrder {
  return {
    slug: storefront.landing.slug,
    tariffId: storefront.tariffId,
    periodDays: 30,
    buyer: contact(anEmail()),
    paymentMethod: 'sandbox',
    isGift: false,
    recipient: null,
    giftMessage: null,
    ...fields,
  };
}

/** A gift to this recipient. */
export const giftTo = (value: string, message: string | null = null) => ({
  isGift: true,
  recipient: contact(value),
  giftMessage: message,
});

export interface Bought {
  token: string;
  id: number;
  paymentId: number;
  externalId: string;
}

const caller = { ip: '203.0.113.7', idempotencyKey: null };

/** An unpaid purchase with its invoice. */
export async function aPurchase(app: App, storefront: Storefront, fields: Partial<PurchaseOrder> = {}): Promise<Bought> {
  const { token } = await startPurchase(app, anOrder(storefront, fields), caller);
  const [row] = await app.db.sql<{ id: number; paymentId: number; externalId: string }>(
    `SELECT p.id, p.payment_id AS "paymentId", y.external_id AS "externalId" FROM guest_purchases p JOIN payments y ON y.id = p.payment_id
     WHERE p.token = $1`,
    [token],
  );
  return { token, ...row! };
}

/** The provider confirms the payment; the callback is processed. */
export async function confirmPayment(app: App, provider: ScriptedProvider, { externalId }: Bought): Promise<void> {
  provider.set(externalId, 'paid');
  await callback(app, externalId);
  await runCallbackJobs(app, externalId, [guestPurchases]);
}

/** A paid purchase whose fulfilment has not run. */
export async function aPaidPurchase(
  app: App,
  provider: ScriptedProvider,
  storefront: Storefront,
  fields: Partial<PurchaseOrder> = {},
): Promise<Bought> {
  const bought = await aPurchase(app, storefront, fields);
  await confirmPayment(app, provider, bought);
  return bought;
}

/** Pushes the recipient's subscription to the panel, as the job does. */
export async function panelAnswers(app: App, purchaseId: number): Promise<void> {
  const [row] = await app.db.sql<{ id: number }>(
    'SELECT s.id FROM subscriptions s JOIN guest_purchases p ON p.user_id = s.user_id WHERE p.id = $1::int',
    [purchaseId],
  );
  await pushSubscription(app, row!.id);
  await deliverWaiting(app, { subscriptionId: row!.id });
}

/** A delivered purchase. */
export async function aDeliveredPurchase(
  app: App,
  provider: ScriptedProvider,
  storefront: Storefront,
  fields: Partial<PurchaseOrder> = {},
): Promise<Bought> {
  const bought = await aPaidPurchase(app, provider, storefront, fields);
  await fulfilPurchase(app, { purchaseId: bought.id });
  await panelAnswers(app, bought.id);
  return bought;
}

export interface PurchaseFacts {
  status: string;
  userId: number | null;
  transactionId: number | null;
  accountCreated: boolean;
  cabinetPassword: string | null;
  autoLoginToken: string | null;
  grantedAt: Date | null;
  paidAt: Date | null;
  deliveredAt: Date | null;
  nextAttemptAt: Date | null;
  retryCount: number;
  lastError: string | null;
  subscriptionUrl: string | null;
  activationRequestedAt: Date | null;
}

export async function factsOf(app: App, id: number): Promise<PurchaseFacts> {
  const [row] = await app.db.sql<PurchaseFacts>('SELECT * FROM guest_purchases WHERE id = $1::int', [id]);
  return row!;
}

/** The money of a purchase in the database: revenue rows, all rows of the recipient, and the balance. */
export async function revenueOf(app: App, id: number) {
  const [row] = await app.db.sql<{ rows: number; kopeks: number; methods: string | null; balance: number }>(
    `SELECT (SELECT count(*)::int FROM transactions t WHERE t.user_id = p.user_id) AS rows,
       (SELECT coalesce(sum(t.amount_kopeks), 0)::bigint FROM transactions t WHERE t.user_id = p.user_id) AS kopeks,
       (SELECT string_agg(DISTINCT t.type || ':' || t.payment_method, ',') FROM transactions t WHERE t.user_id = p.user_id) AS methods,
       u.balance_kopeks AS balance
     FROM guest_purchases p JOIN users u ON u.id = p.user_id WHERE p.id = $1::int`,
    [id],
  );
  return row!;
}

/** Templates of the mails queued for an address, in order. */
export async function mailsTo(app: App, email: string): Promise<string[]> {
  const rows = await app.db.sql<{ template: string }>('SELECT template FROM outgoing_mails WHERE recipient = $1 ORDER BY id', [
    email,
  ]);
  return rows.map((row) => row.template);
}

export async function mailText(app: App, email: string, template: string): Promise<string> {
  const [row] = await app.db.sql<{ text: string }>(
    'SELECT text FROM outgoing_mails WHERE recipient = $1 AND template = $2 ORDER BY id DESC LIMIT 1',
    [email, template],
  );
  return row?.text ?? '';
}

export async function subscriptionOf(app: App, userId: number) {
  const [row] = await app.db.sql<{
    id: number;
    status: string;
    tariffId: number | null;
    isTrial: boolean;
    startDate: Date;
    endDate: Date;
    trafficLimitGb: number;
    deviceLimit: number;
    subscriptionUrl: string | null;
    pushes: number;
  }>(
    `SELECT s.*, (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'provisioning.push' AND j.data ->> 'subscriptionId' = s.id::text) AS pushes
     FROM subscriptions s WHERE s.user_id = $1::int`,
    [userId],
  );
  return row ?? null;
}
