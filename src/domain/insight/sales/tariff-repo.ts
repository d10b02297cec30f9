import type { Db } from '../../../core/db/db.ts';

/** Names of tariffs, inactive ones too, in the order of display. */
export function listTariffNames(db: Db): Promise<{ id: number; name: string }[]> {
  return db.sql<{ id: number; name: string }>('SELECT id, name FROM tariffs ORDER BY display_order, id');
}

export interface TariffCount {
  /** 0 for subscriptions without a tariff. */
  tariffId: number;
  /** With status `active`, and those of them that are trials. */
  active: number;
  activeTrials: number;
}

/** Subscriptions of now by tariff, from counters. */
export function countByTariff(db: Db): Promise<TariffCount[]> {
  return db.sql<TariffCount>(
    `SELECT tariff_id, coalesce(sum(subscriptions) FILTER (WHERE status = 'active'), 0)::int AS active,
       coalesce(sum(subscriptions) FILTER (WHERE status = 'active' AND is_trial), 0)::int AS active_trials
     FROM subscription_counters GROUP BY tariff_id ORDER BY tariff_id`,
  );
}
