import type { UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { activateGift } from '../../src/domain/storefront/gifts/activate-gift.ts';
import { buyGift } from '../../src/domain/storefront/gifts/buy-gift.ts';
import type { BoughtGift, GiftOrder } from '../../src/domain/storefront/gifts/types.ts';
import { guestPurchases } from '../../src/domain/storefront/purchases/purpose.ts';
import { callback, runCallbackJobs } from './payment-samples.ts';
import { aBuyer, aTariff } from './sale-samples.ts';
import type { ScriptedProvider } from './scripted-provider.ts';

/** Switches gifts on, as the branding page does. */
export async function giftsAreOn(app: App, value = 'true'): Promise<void> {
  await app.db.sql(
    `INSERT INTO system_settings (key, value, created_at, updated_at) VALUES ('CABINET_GIFT_ENABLED', $1, now(), now())
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [value],
  );
}

/** A tariff that may be given: 30 days for 300 ₽, 90 for 800 ₽. */
export const aGiftTariff = (app: App, columns: Record<string, unknown> = {}): Promise<number> =>
  aTariff(app, { traffic_limit_gb: 50, device_limit: 3, show_in_gift: true, ...columns });

export const anOrder = (tariffId: number, fields: Partial<GiftOrder> = {}): GiftOrder => ({
  tariffId,
  periodDays: 30,
  recipient: null,
  giftMessage: null,
  paymentMethod: null,
  ...fields,
});

export const toEmail = (value: string) => ({ recipient: { type: 'email', value } }) as const;
export const toName = (value: string) => ({ recipient: { type: 'messenger', value } }) as const;

const caller = { idempotencyKey: null, ip: '203.0.113.7' };

export const buy = (app: App, actor: UserActor, order: GiftOrder): Promise<BoughtGift> => buyGift(app, actor, order, caller);
export const activate = (app: App, actor: UserActor, code: string) => activateGift(app, actor, { code }, caller);

/** A paid gift that is only a code, from the balance. */
export async function aCode(app: App, tariffId: number): Promise<{ buyer: UserActor; code: string; id: number }> {
  const buyer = await aBuyer(app, 100_000);
  const { code } = await buy(app, buyer, anOrder(tariffId));
  return { buyer, code, id: (await giftOf(app, code)).id };
}

export interface GiftFacts {
  id: number;
  token: string;
  code: string;
  source: string;
  status: string;
  amountKopeks: number;
  buyerUserId: number | null;
  userId: number | null;
  contactType: string;
  contactValue: string;
  paymentMethod: string;
  paymentId: number | null;
  transactionId: number | null;
  refundTransactionId: number | null;
  promoOfferPercent: number | null;
  recipientWarning: string | null;
  accountCreated: boolean;
  grantedAt: Date | null;
  paidAt: Date | null;
  activationRequestedAt: Date | null;
  nextAttemptAt: Date | null;
  lastError: string | null;
}

export async function giftOf(app: App, code: string): Promise<GiftFacts> {
  const [row] = await app.db.sql<GiftFacts>('SELECT * FROM guest_purchases WHERE code = $1', [code]);
  return row!;
}

/** The movements of a user after the first top-up, oldest first, and the balance. */
export async function moneyOf(app: App, { userId }: UserActor) {
  const rows = await app.db.sql<{ type: string; amountKopeks: number; paymentMethod: string | null; description: string }>(
    `SELECT type, amount_kopeks, payment_method, description FROM transactions WHERE user_id = $1::int AND type <> 'deposit' ORDER BY id`,
    [userId],
  );
  const [user] = await app.db.sql<{ balanceKopeks: number }>('SELECT balance_kopeks FROM users WHERE id = $1::int', [userId]);
  return { rows, balance: user!.balanceKopeks };
}

/** Jobs of a queue for a purchase. */
export async function fulfilments(app: App, purchaseId: number): Promise<number> {
  const rows = await app.db.sql("SELECT id FROM jobs.job WHERE name = 'gifts.fulfil' AND data ->> 'purchaseId' = $1", [
    String(purchaseId),
  ]);
  return rows.length;
}

/** Texts of the messages queued for a person in the messenger. */
export async function messagesTo(app: App, messengerId: number): Promise<string[]> {
  const rows = await app.db.sql<{ html: string }>(
    "SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1 ORDER BY created_on, ctid",
    [String(messengerId)],
  );
  return rows.map(({ html }) => html);
}

/** The provider confirms the invoice of a gift; the callback is processed. */
export async function confirmGift(app: App, provider: ScriptedProvider, code: string): Promise<void> {
  const [row] = await app.db.sql<{ externalId: string }>(
    'SELECT y.external_id FROM guest_purchases p JOIN payments y ON y.id = p.payment_id WHERE p.code = $1',
    [code],
  );
  provider.set(row!.externalId, 'paid');
  await callback(app, row!.externalId);
  await runCallbackJobs(app, row!.externalId, [guestPurchases]);
}

/** What was written when a discount was used up. */
export async function offerFacts(app: App, { userId }: UserActor) {
  const [user] = await app.db.sql<{ percent: number }>(
    'SELECT promo_offer_discount_percent AS percent FROM users WHERE id = $1::int',
    [userId],
  );
  const logs = await app.db.sql<{ action: string; percent: number; source: string }>(
    "SELECT action, percent, source FROM promo_offer_logs WHERE user_id = $1::int AND action LIKE 'consumed%' ORDER BY id",
    [userId],
  );
  return { percent: user!.percent, logs };
}
