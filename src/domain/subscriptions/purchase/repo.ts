import { columns, nestedRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { dropSql } from '../../../core/short-lived.ts';
import { assignments, type DetailColumns, detailColumns, primaryGroupIdSql, toDetails } from '../repo.ts';
import type { Subscription, SubscriptionDetails } from '../types.ts';
import type { Buyer, SaleRecord, SaleStart } from './types.ts';

const BUYER = columns('User', [
  ...(['id', 'status', 'authType', 'language', 'balanceKopeks', 'messengerId', 'email', 'emailVerified'] as const),
  ...(['restrictionSubscription', 'hasHadPaidSubscription', 'promoOfferDiscountPercent', 'promoOfferDiscountExpiresAt'] as const),
]);

/** A user's own columns of what a purchase needs. */
export type BuyerRow = RowOf<typeof BUYER>;

interface BuyerDetailsRow extends BuyerRow {
  promoGroup: object | null;
  subscription: object | null;
}

/** What reading needs, in one statement without a lock. */
export interface BuyerDetails {
  buyer: Buyer;
  details: SubscriptionDetails | null;
}

/** A user with promo group, subscription, servers and traffic purchases. Null for an unknown user. */
export async function findBuyerDetails(db: Db, userId: number): Promise<BuyerDetails | null> {
  const [row] = await db.sql<BuyerDetailsRow & DetailColumns>(
    `SELECT ${BUYER.of('u')}, to_jsonb(g) AS promo_group, to_jsonb(s) AS subscription, ${detailColumns('s')}
     FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN promo_groups g ON g.id = ${primaryGroupIdSql('u')}
     WHERE u.id = $1::int`,
    [userId],
  );
  if (!row) return null;
  const { promoGroup, subscription, servers, purchases, ...user } = row;
  return {
    buyer: { ...user, primaryPromoGroup: nestedRow('PromoGroup', promoGroup) },
    details: subscription === null ? null : toDetails(nestedRow('Subscription', subscription), { servers, purchases }),
  };
}

/**
 * Locks the user's row, then the subscription's, and reads what pricing needs. Two statements on purpose: the second one's
 * snapshot is taken with the lock in hand, a join in the first would still see the rows from before the wait.
 */
export async function lockSaleStart(db: Db, userId: number): Promise<SaleStart | null> {
  const [user] = await db.sql<BuyerRow>(`SELECT ${BUYER.of('u')} FROM users u WHERE u.id = $1::int FOR NO KEY UPDATE`, [userId]);
  if (!user) return null;
  const [row] = await db.sql<{
    promoGroup: object | null;
    subscription: object | null;
    isDaily: boolean | null;
  }>(
    `WITH locked AS MATERIALIZED (SELECT * FROM subscriptions WHERE user_id = $1::int FOR UPDATE)
     SELECT to_jsonb(g) AS promo_group, to_jsonb(l) AS subscription, t.is_daily
     FROM users u LEFT JOIN locked l ON true LEFT JOIN tariffs t ON t.id = l.tariff_id
       LEFT JOIN promo_groups g ON g.id = ${primaryGroupIdSql('u')}
     WHERE u.id = $1::int`,
    [userId],
  );
  return {
    buyer: { ...user, primaryPromoGroup: nestedRow('PromoGroup', row?.promoGroup ?? null) },
    subscription: row?.subscription ? nestedRow('Subscription', row.subscription) : null,
    isCurrentTariffDaily: row?.isDaily ?? false,
  };
}

/** Whether the user paid for a subscription, or for something of it, after `since`. */
export async function hasPaidSince(db: Db, userId: number, since: Date): Promise<boolean> {
  const rows = await db.sql(
    `SELECT id FROM transactions WHERE user_id = $1::int AND created_at > $2::timestamptz AND type = 'subscription_payment' AND is_completed
     LIMIT 1`,
    [userId, since],
  );
  return rows.length > 0;
}

/**
 * Writes everything of a sale but the money in one statement: the subscription, its purchases, notices and servers, the user's
 * flags, the conversion, the dashboard event; the saved order is fulfilled or outdated and goes (spec 02 sections 3 and 15).
 */
export async function writeSale(db: Db, sale: SaleRecord, cartKey: string, now: Date): Promise<SubscriptionDetails> {
  const values: unknown[] = [
    sale.buyer.id,
    sale.subscription?.id ?? null,
    now,
    sale.dropsPurchases,
    sale.consumesOffer,
    sale.transactionId,
    sale.amountKopeks,
    sale.event?.type ?? null,
    JSON.stringify(sale.event?.extra ?? {}),
    JSON.stringify(sale.serverPrices),
    cartKey,
    sale.conversion?.trialDurationDays ?? null,
    sale.conversion?.firstPaidPeriodDays ?? null,
    sale.forgetsNotices,
    sale.marksPaid,
    sale.endsCarts,
    sale.trafficPurchase?.trafficGb ?? null,
    sale.trafficPurchase?.expiresAt ?? null,
  ];
  const [row] = await db.sql<Subscription & DetailColumns>(
    `WITH saved AS (${savedSql(sale, values)}),
       dropped AS (DELETE FROM traffic_purchases WHERE subscription_id = $2::int AND $4::boolean),
       forgotten AS (DELETE FROM sent_notifications WHERE subscription_id = $2::int AND $14::boolean),
       cart AS (${dropSql('$11::text')}
         AND ($16::text[] IS NULL OR value ->> 'cart_mode' = ANY ($16::text[]))),
       bought AS (INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at)
         SELECT $2::int, $17::int, $18::timestamptz, $3::timestamptz WHERE $17::int IS NOT NULL),
       -- The place where a promo offer is used up.
       buyer AS (UPDATE users SET has_had_paid_subscription = has_had_paid_subscription OR $15::boolean, updated_at = $3::timestamptz,
           promo_offer_discount_percent = CASE WHEN $5::boolean THEN 0 ELSE promo_offer_discount_percent END,
           promo_offer_discount_source = CASE WHEN $5::boolean THEN NULL ELSE promo_offer_discount_source END,
           promo_offer_discount_expires_at = CASE WHEN $5::boolean THEN NULL ELSE promo_offer_discount_expires_at END
         WHERE id = $1::int AND ($15::boolean AND NOT has_had_paid_subscription OR $5::boolean)),
       conversion AS (INSERT INTO subscription_conversions
           (user_id, converted_at, trial_duration_days, payment_method, first_payment_amount_kopeks, first_paid_period_days)
         SELECT $1::int, $3::timestamptz, $12::int, 'balance', $7::bigint, $13::int WHERE $13::int IS NOT NULL),
       event AS (INSERT INTO subscription_events
           (event_type, user_id, subscription_id, transaction_id, amount_kopeks, currency, occurred_at, extra, created_at)
         SELECT $8::text, $1::int, saved.id, $6::int, $7::bigint, 'RUB', $3::timestamptz, $9::jsonb, $3::timestamptz FROM saved
         WHERE $8::text IS NOT NULL),
       connected AS (SELECT saved.id AS subscription_id, q.id AS server_id, COALESCE(($10::jsonb ->> q.squad_uuid)::bigint, 0) AS paid
         FROM saved JOIN server_squads q ON saved.connected_squads @> to_jsonb(q.squad_uuid::text)),
       gone AS (DELETE FROM subscription_servers
         WHERE subscription_id = $2::int AND server_squad_id NOT IN (SELECT server_id FROM connected)),
       linked AS (INSERT INTO subscription_servers AS had (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
         SELECT subscription_id, server_id, paid, $3::timestamptz FROM connected
         ON CONFLICT (subscription_id, server_squad_id)
           DO UPDATE SET paid_price_kopeks = had.paid_price_kopeks + EXCLUDED.paid_price_kopeks
           WHERE EXCLUDED.paid_price_kopeks > 0)
     SELECT saved.*, ${detailColumns('saved')} FROM saved`,
    values,
  );
  // The statement still sees the purchases that it deletes, and not yet the one that it adds.
  return toDetails(row!, sale.dropsPurchases ? { servers: row!.servers, purchases: [] } : row!);
}

function savedSql(sale: SaleRecord, values: unknown[]): string {
  const { names, placeholders } = assignments(sale.changes, values);
  if (sale.subscription === null) {
    return `INSERT INTO subscriptions (user_id, created_at, updated_at, ${names.join(', ')})
      VALUES ($1::int, $3::timestamptz, $3::timestamptz, ${placeholders.join(', ')}) RETURNING *`;
  }
  const sets = names.map((name, index) => `${name} = ${placeholders[index]}, `).join('');
  return `UPDATE subscriptions SET ${sets}updated_at = $3::timestamptz WHERE id = $2::int RETURNING *`;
}
