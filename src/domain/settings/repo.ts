import type { Db } from '../../core/db/db.ts';
import type { StoredSetting } from './types.ts';

const STORED = { key: true, value: true } as const;

/** Every row of `system_settings`, private rows of other features included. */
export function findSettings(db: Db): Promise<StoredSetting[]> {
  return db.prisma.systemSetting.findMany({ select: STORED });
}

export function findSetting(db: Db, key: string): Promise<StoredSetting | null> {
  return db.prisma.systemSetting.findUnique({ where: { key }, select: STORED });
}

export function findSettingsOf(db: Db, keys: readonly string[]): Promise<StoredSetting[]> {
  return db.prisma.systemSetting.findMany({ where: { key: { in: [...keys] } }, select: STORED });
}

/** The stored row, locked until the transaction ends; null = there is none. */
export async function lockOverride(db: Db, key: string): Promise<StoredSetting | null> {
  const [row] = await db.sql<StoredSetting>('SELECT key, value FROM system_settings WHERE key = $1 FOR UPDATE', [key]);
  return row ?? null;
}

/** Since when the stored value is the current one; null = there is none. */
export async function findSettingSince(db: Db, key: string): Promise<Date | null> {
  const row = await db.prisma.systemSetting.findUnique({ where: { key }, select: { updatedAt: true } });
  return row?.updatedAt ?? null;
}

/** `updated_at` is the time of the last different value: writing the same value again does not change it. @param row null is a stored null */
export async function upsertSetting(db: Db, row: StoredSetting, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO system_settings (key, value, created_at, updated_at) VALUES ($1, $2, $3, $3)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value,
       updated_at = CASE WHEN system_settings.value IS DISTINCT FROM excluded.value THEN excluded.updated_at ELSE system_settings.updated_at END`,
    [row.key, row.value, now],
  );
}

export async function deleteSetting(db: Db, key: string): Promise<void> {
  await db.prisma.systemSetting.deleteMany({ where: { key } });
}
