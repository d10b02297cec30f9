import type { App } from '../../core/app.ts';
import type { SettingKey } from './catalogue/catalogue.ts';
import { findSettingSince } from './repo.ts';
import { storeOf } from './settings-store.ts';

/** Since when the stored override of a setting has the value that it has; null = none is in effect. */
export async function findOverrideSince(app: App, key: SettingKey): Promise<Date | null> {
  return storeOf(app).describe(key).hasOverride ? findSettingSince(app.db, key) : null;
}
