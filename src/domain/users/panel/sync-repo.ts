import type { Db } from '../../../core/db/db.ts';

export async function findLastSync(db: Db, userId: number): Promise<Date | null> {
  const row = await db.prisma.user.findUnique({ where: { id: userId }, select: { lastVpnpanelSync: true } });
  return row?.lastVpnpanelSync ?? null;
}

/** Records that both sides were compared now. @param lifetimeBytes as the panel counts; null = not read */
export async function recordSync(db: Db, userId: number, lifetimeBytes: number | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET last_vpnpanel_sync = $2::timestamptz, lifetime_used_traffic_bytes = coalesce($3::bigint, lifetime_used_traffic_bytes)
     WHERE id = $1::int RETURNING id`,
    [userId, now, lifetimeBytes],
  );
}
