import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { findSetting, findSettings } from './repo.ts';
import { type SettingsStore, storeOf } from './settings-store.ts';

/** The last read of each store. Reads run one after the other: two at once could finish in the wrong order and leave the older value. */
const lastRead = new WeakMap<SettingsStore, Promise<void>>();

function inTurn(store: SettingsStore, read: () => Promise<void>): Promise<void> {
  const before = lastRead.get(store) ?? Promise.resolve();
  const mine = before.then(read);
  // The next read runs even if this one failed; the failure goes to the caller of this read.
  lastRead.set(
    store,
    mine.catch(() => undefined),
  );
  return mine;
}

/** Reloads all overrides: at start, and when notifications may have been missed. Not inside a transaction. */
export function refreshSettings(app: App, store: SettingsStore = storeOf(app)): Promise<void> {
  return inTurn(store, async () => store.applyOverrides(await findSettings(app.db)));
}

/** Reloads the override of one key. Not inside a transaction: nothing is applied before its commit. */
export function refreshSetting(app: App, key: string, store: SettingsStore = storeOf(app)): Promise<void> {
  return inTurn(store, async () => store.applyOne(key, await findSetting(app.db, key)));
}

/** Applies the stored overrides once, without following later changes: for programs that read and end. Outside transactions. */
export async function readStoredSettings(db: Db, store: SettingsStore): Promise<void> {
  store.applyOverrides(await findSettings(db));
}
