import type { Db } from '../../core/db/db.ts';
import { findSettings } from './repo.ts';
import type { SettingsStore } from './settings-store.ts';

/** Takes the stored overrides over once, without following later changes: for programs that look and end. Outside transactions. */
export async function readStoredSettings(db: Db, store: SettingsStore): Promise<void> {
  store.applyOverrides(await findSettings(db));
}
