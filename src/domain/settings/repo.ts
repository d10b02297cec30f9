import type { Db } from '../../core/db/db.ts';
import type { StoredSetting } from './types.ts';

/** Channel of LISTEN/NOTIFY; the payload is the key. */
export const SETTINGS_CHANNEL = 'settings_changed';

/** Every row of `system_settings`, private rows of other features included. */
export async function findSettings(db: Db): Promise<StoredSetting[]> {
  return db.sql<StoredSetting>('select key, value from system_settings');
}

export async function findSetting(db: Db, key: string): Promise<StoredSetting | null> {
  const [row] = await db.sql<StoredSetting>('select key, value from system_settings where key = $1', [key]);
  return row ?? null;
}

/** The stored value, kept from others until the transaction ends; null = there is none. */
export async function lockOverride(db: Db, key: string): Promise<StoredSetting | null> {
  const [row] = await db.sql<StoredSetting>('select key, value from system_settings where key = $1 for update', [key]);
  return row ?? null;
}

/** Since when the stored value is what it is; null = there is none. */
export async function findSettingSince(db: Db, key: string): Promise<Date | null> {
  const [row] = await db.sql<{ since: Date }>('select updated_at as since from system_settings where key = $1', [key]);
  return row?.since ?? null;
}

/** The time of the row is that of the last other value: writing the same one again is no change. @param row null is a stored null */
export async function upsertSetting(db: Db, row: StoredSetting, now: Date): Promise<void> {
  await db.sql(
    `insert into system_settings (key, value, created_at, updated_at) values ($1, $2, $3, $3)
     on conflict (key) do update set value = excluded.value,
       updated_at = case when system_settings.value is distinct from excluded.value then excluded.updated_at else system_settings.updated_at end`,
    [row.key, row.value, now],
  );
}

export async function deleteSetting(db: Db, key: string): Promise<void> {
  await db.sql('delete from system_settings where key = $1', [key]);
}

/** Tells every instance of the change; delivered with the commit, dropped with a rollback. */
export async function notifySettingChanged(db: Db, key: string): Promise<void> {
  // The cast is for Prisma, which cannot read a column of type void.
  await db.sql('select pg_notify($1, $2)::text', [SETTINGS_CHANNEL, key]);
}
