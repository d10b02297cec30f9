import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { findSettingsOf, upsertSetting } from './repo.ts';

/** Stored texts by key. */
export type FeatureValues = ReadonlyMap<string, string>;

/**
 * Values that another feature stores beside the settings, under keys that the catalogue does not have (spec 05 section 14): no endpoint of
 * the settings shows or changes them. One statement.
 * @returns keys without a row, or with a stored null, are missing
 */
export async function readFeatureValues(db: Db, keys: readonly string[]): Promise<FeatureValues> {
  const rows = await findSettingsOf(db, keys);
  return new Map(rows.flatMap(({ key, value }) => (value === null ? [] : [[key, value] as const])));
}

/** In the caller's transaction. Keys that are not given keep their values. */
export async function storeFeatureValues(t: App, values: FeatureValues): Promise<void> {
  for (const [key, value] of values) await upsertSetting(t.db, { key, value }, t.clock.now());
}
