import type { Db } from '../../core/db/db.ts';
import type { Tariff } from './types.ts';

/** One instance at a time; readers are not blocked. */
export async function lockTariffTable(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.default_tariff'))::text AS locked");
}

export async function isTariffTableEmpty(db: Db): Promise<boolean> {
  return (await db.prisma.tariff.findFirst({ select: { id: true } })) === null;
}

/** The columns that the administration writes. */
export type TariffValues = Omit<Tariff, 'id' | 'allowedPromoGroupIds' | 'isTrialAvailable' | 'createdAt' | 'updatedAt'>;

/** Values as they are stored; undefined ones are left out. */
function stored({ serverTrafficLimits, ...values }: Partial<TariffValues>) {
  if (serverTrafficLimits === undefined) return values;
  const limits = Object.entries(serverTrafficLimits).map(([uuid, limit]) => [uuid, { traffic_limit_gb: limit.trafficLimitGb }]);
  return { ...values, serverTrafficLimits: Object.fromEntries(limits) };
}

/** @returns the id of the new tariff */
export async function insertTariff(
  db: Db,
  values: Partial<TariffValues> & { name: string },
  { isTrialAvailable, now }: { isTrialAvailable: boolean; now: Date },
): Promise<number> {
  const data = { ...stored(values), name: values.name, isTrialAvailable, createdAt: now, updatedAt: now };
  return (await db.prisma.tariff.create({ data, select: { id: true } })).id;
}

export async function updateTariffRow(db: Db, id: number, values: Partial<TariffValues>, now: Date): Promise<void> {
  await db.prisma.tariff.update({ where: { id }, data: { ...stored(values), updatedAt: now }, select: { id: true } });
}

/** Replaces the groups that may see the tariff. `groupIds` must exist. */
export async function replaceTariffGroups(db: Db, tariffId: number, groupIds: readonly number[]): Promise<void> {
  await db.prisma.tariffPromoGroup.deleteMany({ where: { tariffId, promoGroupId: { notIn: [...groupIds] } } });
  const data = groupIds.map((promoGroupId) => ({ tariffId, promoGroupId }));
  await db.prisma.tariffPromoGroup.createMany({ data, skipDuplicates: true });
}

/** @returns the new flag; null when there is no such tariff */
export async function flipTariffActive(db: Db, id: number, now: Date): Promise<boolean | null> {
  const [row] = await db.sql<{ isActive: boolean }>(
    'UPDATE tariffs SET is_active = NOT is_active, updated_at = $2::timestamptz WHERE id = $1::bigint RETURNING is_active',
    [id, now],
  );
  return row?.isActive ?? null;
}

/**
 * Flips the trial flag; setting it clears it on every other tariff. Two concurrent calls run one after the other, since
 * clearing one row and setting another could violate the unique index of the flag in between. In a transaction.
 */
export async function flipTrialFlag(db: Db, id: number, now: Date): Promise<boolean | null> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.trial_flag'))::text AS locked");
  const [row] = await db.sql<{ isTrialAvailable: boolean }>(
    'SELECT is_trial_available FROM tariffs WHERE id = $1::bigint FOR UPDATE',
    [id],
  );
  if (!row) return null;
  await db.sql(
    `UPDATE tariffs SET is_trial_available = false, updated_at = $2::timestamptz
     WHERE is_trial_available AND (id <> $1::int OR $3::boolean) RETURNING id`,
    [id, now, row.isTrialAvailable],
  );
  if (row.isTrialAvailable) return false;
  await db.sql('UPDATE tariffs SET is_trial_available = true, updated_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
    id,
    now,
  ]);
  return true;
}

/** Sets the display order to the order of `ids`; unknown ids are ignored. */
export async function orderTariffs(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE tariffs t SET display_order = (p.place - 1)::int, updated_at = $2::timestamptz
     FROM unnest($1::bigint[]) WITH ORDINALITY AS p(id, place) WHERE t.id = p.id RETURNING t.id`,
    [[...new Set(ids)], now],
  );
}

/** In their display order. */
export async function listTariffIds(db: Db): Promise<number[]> {
  const rows = await db.prisma.tariff.findMany({ select: { id: true }, orderBy: [{ displayOrder: 'asc' }, { id: 'asc' }] });
  return rows.map((row) => row.id);
}

/** Subscriptions of the tariff: those that have not expired (or are pending), and all. */
export async function countSubscriptionsOf(db: Db, tariffId: number, now: Date): Promise<{ running: number; all: number }> {
  const [row] = await db.sql<{ running: number; all: number }>(
    `SELECT count(*) FILTER (WHERE status = 'pending' OR (status IN ('active', 'trial', 'limited') AND end_date > $2::timestamptz))::int
       AS running, count(*)::int AS all
     FROM subscriptions WHERE tariff_id = $1::int`,
    [tariffId, now],
  );
  return row!;
}

/** Subscriptions lose the tariff (foreign key SET NULL). */
export async function deleteTariffRow(db: Db, id: number): Promise<void> {
  await db.prisma.tariff.delete({ where: { id }, select: { id: true } });
}

/** @param tariffId null = all tariffs */
export async function countSubscriptionsByTariff(db: Db, tariffId: number | null): Promise<Map<number, number>> {
  const rows = await db.sql<{ tariffId: number; total: number }>(
    `SELECT tariff_id, count(*)::int AS total FROM subscriptions
     WHERE tariff_id = $1::int OR ($1::int IS NULL AND tariff_id IS NOT NULL) GROUP BY tariff_id`,
    [tariffId],
  );
  return new Map(rows.map((row) => [row.tariffId, row.total]));
}

export interface TariffStats {
  id: number;
  name: string;
  subscriptionsCount: number;
  activeSubscriptions: number;
  trialSubscriptions: number;
  /** All subscription payments of the current subscribers. */
  revenueKopeks: number;
}

export async function readTariffStats(db: Db, tariffId: number): Promise<TariffStats | null> {
  const [row] = await db.sql<TariffStats>(
    `SELECT t.id, t.name, count(s.id)::int AS subscriptions_count,
       count(s.id) FILTER (WHERE s.status = 'active')::int AS active_subscriptions,
       count(s.id) FILTER (WHERE s.is_trial)::int AS trial_subscriptions,
       COALESCE((SELECT sum(abs(x.amount_kopeks)) FROM subscriptions o JOIN transactions x ON x.user_id = o.user_id
         WHERE o.tariff_id = t.id AND x.type = 'subscription_payment' AND x.is_completed), 0)::bigint AS revenue_kopeks
     FROM tariffs t LEFT JOIN subscriptions s ON s.tariff_id = t.id
     WHERE t.id = $1::bigint GROUP BY t.id`,
    [tariffId],
  );
  return row ?? null;
}
