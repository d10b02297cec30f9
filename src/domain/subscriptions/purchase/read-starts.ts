import { nestedRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { tariffOf } from '../../catalog/find-tariff.ts';
import { primaryGroupIdSql } from '../repo.ts';
import type { Subscription } from '../types.ts';
import { BUYER, type BuyerRow } from './repo.ts';
import type { SaleStart } from './types.ts';

/** What a renewal is priced from, besides the servers; as it was at the moment of reading. */
export interface ReadStart extends Pick<SaleStart, 'buyer' | 'currentTariff' | 'isCurrentTariffDaily'> {
  subscription: Subscription;
}

interface Row extends BuyerRow {
  promoGroup: object | null;
  subscription: object;
  currentTariff: object | null;
}

/** The same as a sale starts from, for many subscriptions in one statement and without locks: to select and to show, never to charge. */
export async function readSaleStarts(db: Db, subscriptionIds: readonly number[]): Promise<ReadStart[]> {
  const rows = await db.sql<Row>(
    `SELECT ${BUYER.of('u')}, to_jsonb(g) AS promo_group, to_jsonb(s) AS subscription,
       CASE WHEN f.id IS NOT NULL THEN tariff_json(f) END AS current_tariff
     FROM unnest($1::int[]) WITH ORDINALITY AS o(id, place) JOIN subscriptions s ON s.id = o.id JOIN users u ON u.id = s.user_id
     LEFT JOIN tariffs f ON f.id = s.tariff_id LEFT JOIN promo_groups g ON g.id = ${primaryGroupIdSql('u')} ORDER BY o.place`,
    [[...subscriptionIds]],
  );
  return rows.map(({ promoGroup, subscription, currentTariff, ...user }) => {
    const tariff = tariffOf(currentTariff);
    return {
      buyer: { ...user, primaryPromoGroup: nestedRow('PromoGroup', promoGroup) },
      subscription: nestedRow('Subscription', subscription),
      currentTariff: tariff,
      isCurrentTariffDaily: tariff?.isDaily ?? false,
    };
  });
}
