import { columns, nestedRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import { ALL_SERVERS_JSON, serversOf } from '../../catalog/find-squads.ts';
import { tariffOf } from '../../catalog/find-tariff.ts';
import { claimedOfferSql } from '../../identity/promo-account.ts';
import { type ClaimRow, claimColumns, claimIn, claimValues, type KeyClaim, type Opened } from '../../ledger/run-once.ts';
import type { Posting } from '../../ledger/types.ts';
import { type DetailColumns, detailColumns, primaryGroupIdSql, toDetails } from '../repo.ts';
import type { SubscriptionDetails } from '../types.ts';
import type { SaleRow } from './sale-row.ts';
import type { Buyer, SaleNeeds, SaleStart } from './types.ts';

export const BUYER = columns('User', [
  ...(['id', 'status', 'authType', 'language', 'balanceKopeks', 'messengerId', 'email', 'emailVerified'] as const),
  ...(['restrictionSubscription', 'hasHadPaidSubscription'] as const),
  ...(['promoOfferDiscountPercent', 'promoOfferDiscountSource', 'promoOfferDiscountExpiresAt'] as const),
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

interface OpenedRow extends BuyerRow, ClaimRow {
  promoGroup: object | null;
  subscription: object | null;
  currentTariff: object | null;
  orderedTariff: object | null;
  servers: object[];
  read: unknown;
}

/**
 * Locks and reads in one statement, see `open_sale()` in prisma/sql/sales.sql. The names of servers need no lock. What else is read is
 * computed for the row that open_sale() returns, hence after all its locks; a volatile function has snapshots of its own.
 */
const open = (reads: string) => `SELECT ${claimColumns('o')}, ${BUYER.of('(o.buyer)')},
    CASE WHEN (o.buyer_group).id IS NOT NULL THEN to_jsonb(o.buyer_group) END AS promo_group,
    CASE WHEN (o.current_subscription).id IS NOT NULL THEN to_jsonb(o.current_subscription) END AS subscription,
    o.current_tariff, o.ordered_tariff,
    CASE WHEN $4::text = 'always' OR $4::text = 'without_tariff' AND (o.current_subscription).tariff_id IS NULL
        OR $4::text = 'for_open_tariff' AND o.ordered_tariff -> 'allowed_squads' = '[]'
      THEN ${ALL_SERVERS_JSON} ELSE '[]' END AS servers,
    CASE WHEN (o.buyer).id IS NOT NULL THEN ${reads} END AS read
  FROM open_sale($1::int, $2::bigint, $3::boolean, $5, $6, $7, $8, $9::timestamptz) o`;

/**
 * Claims the key, locks the user's row, the subscription's and the tariffs' that the sale needs, and reads what pricing needs, all in one
 * statement. For a key that was used before nothing is locked, and the start is null, as for an unknown user.
 * @param claim null = there is no key
 */
export async function openSaleStart(
  db: Db,
  userId: number,
  needs: SaleNeeds,
  claim: KeyClaim | null,
): Promise<Opened<SaleStart | null>> {
  const { orderedTariffId, locksCurrentTariff = false, servers: whichServers = null, reads } = needs;
  const [row] = await db.sql<OpenedRow>(open(reads?.sql ?? 'NULL::jsonb'), [
    userId,
    orderedTariffId !== undefined && isRowId(orderedTariffId) ? orderedTariffId : null,
    locksCurrentTariff,
    whichServers,
    ...claimValues(claim),
    ...(reads?.values ?? []),
  ]);
  const { read, ...opening } = row!;
  const { claimed, operation, bodyHash, response, promoGroup, subscription, currentTariff, orderedTariff, servers, ...user } =
    opening;
  const opened = claimIn({ claimed, operation, bodyHash, response });
  if (user.id === null) return { ...opened, start: null };
  const current = tariffOf(currentTariff);
  return {
    ...opened,
    start: {
      buyer: { ...user, primaryPromoGroup: nestedRow('PromoGroup', promoGroup) },
      subscription: nestedRow('Subscription', subscription),
      currentTariff: current,
      isCurrentTariffDaily: current?.isDaily ?? false,
      orderedTariff: tariffOf(orderedTariff),
      servers: serversOf(servers),
      read,
    },
  };
}

/** Locks the user's row, then the subscription's, and reads what pricing needs. Null for an unknown user. */
export async function lockSaleStart(db: Db, userId: number, needs: SaleNeeds = {}): Promise<SaleStart | null> {
  return (await openSaleStart(db, userId, needs, null)).start;
}

/** What `complete_sale()` did; `saved` is null when nothing was written. */
export interface SaleOutcome {
  outcome: Posting['outcome'] | 'free';
  transactionId: number | null;
  /** After the movement; null without one. */
  balanceKopeks: number | null;
  saved: SubscriptionDetails | null;
}

interface SoldRow extends Omit<SaleOutcome, 'saved'>, DetailColumns {
  subscription: object | null;
}

/**
 * Writes a sale in one statement: the money, the subscription with the request to update the panel, its purchases, notices and servers, the
 * user's flags, the conversion, the dashboard event; the saved order is fulfilled or outdated and goes (spec 02 sections 3 and 15).
 * See `complete_sale()` in prisma/sql/sales.sql.
 * @param log.description for the log of a discount that is used up
 */
export async function writeSale(db: Db, sale: SaleRow, log: { description: string; now: Date }): Promise<SaleOutcome> {
  const values: unknown[] = [JSON.stringify(sale), log.now];
  let offerLog = '';
  if (sale.consumes_offer) {
    const details = { reason: 'manual_charge', description: log.description, amount_kopeks: sale.amount_kopeks };
    values.push(sale.user_id, JSON.stringify(details));
    // The log of promo offers (spec 04 section 9.1). The snapshot of the statement has the discount that complete_sale() clears.
    offerLog = `WITH logged AS (
       INSERT INTO promo_offer_logs (user_id, offer_id, action, source, percent, effect_type, details, created_at)
       SELECT u.id, o.id, 'consumed', u.promo_offer_discount_source, u.promo_offer_discount_percent, o.effect_type, $4::jsonb, $2::timestamptz
       FROM users u LEFT JOIN LATERAL ${claimedOfferSql('u.id', 'u.promo_offer_discount_source')} o ON true WHERE u.id = $3::int) `;
  }
  const [row] = await db.sql<SoldRow>(
    `${offerLog}SELECT d.outcome, d.transaction_id, d.balance_kopeks, CASE WHEN (d.sold).id IS NOT NULL THEN to_jsonb(d.sold) END AS subscription,
       ${detailColumns('(d.sold)')} FROM complete_sale($1::jsonb, $2::timestamptz) d`,
    values,
  );
  const { outcome, transactionId, balanceKopeks, subscription, servers, purchases } = row!;
  // The statement still sees the purchases that it deletes, and not yet the one that it adds.
  const shown = { servers, purchases: sale.drops_purchases ? [] : purchases };
  const saved = subscription === null ? null : toDetails(nestedRow('Subscription', subscription), shown);
  return { outcome, transactionId, balanceKopeks, saved };
}
