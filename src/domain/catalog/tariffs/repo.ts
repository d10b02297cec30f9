import { allColumns, nestedRow, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Tariff } from '../types.ts';

type TariffRow = Rows['Tariff'] & Pick<Tariff, 'allowedPromoGroupIds'>;

const COLUMNS = `${allColumns('Tariff').of('t')}, tariff_group_ids(t.id) AS allowed_promo_group_ids`;

/** @param json of `tariff_json()` in prisma/sql/tariffs.sql */
export function tariffOf(json: object | null): Tariff | null {
  return json === null ? null : toTariff(nestedRow('Tariff', json) as TariffRow);
}

function toTariff({ serverTrafficLimits, ...row }: TariffRow): Tariff {
  const limits = Object.entries(serverTrafficLimits).map(([uuid, limit]) => [
    uuid,
    { trafficLimitGb: limit.traffic_limit_gb ?? 0 },
  ]);
  return { ...row, serverTrafficLimits: Object.fromEntries(limits) };
}

export async function findTariffById(db: Db, id: number): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.id = $1::bigint`, [id]);
  return row ? toTariff(row) : null;
}

/** The tariff cannot be deleted until the end of the transaction; its columns may still change. */
export async function lockTariffForShare(db: Db, id: number): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.id = $1::bigint FOR KEY SHARE OF t`, [id]);
  return row ? toTariff(row) : null;
}

/** For changing or deleting it: waits for purchases that have locked it for share. */
export async function lockTariffById(db: Db, id: number): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.id = $1::bigint FOR UPDATE OF t`, [id]);
  return row ? toTariff(row) : null;
}

/** All tariffs by (display_order, id). */
export async function listAllTariffs(db: Db, options: { activeOnly: boolean }): Promise<Tariff[]> {
  const rows = await db.sql<TariffRow>(
    `SELECT ${COLUMNS} FROM tariffs t WHERE t.is_active OR NOT $1::boolean ORDER BY t.display_order, t.id`,
    [options.activeOnly],
  );
  return rows.map(toTariff);
}

/** The tariff whose trial flag is on; at most one has it (index `tariffs_one_trial`). It may be inactive. */
export async function findFlaggedTrialTariff(db: Db): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.is_trial_available`);
  return row ? toTariff(row) : null;
}

/** One instance at a time; readers are not blocked. */
export async function lockTariffTable(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.default_tariff'))::text AS locked");
}

export async function isTariffTableEmpty(db: Db): Promise<boolean> {
  return (await db.prisma.tariff.findFirst({ select: { id: true } })) === null;
}
