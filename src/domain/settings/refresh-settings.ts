import type { App } from '../../core/app.ts';
import { findSetting, findSettings } from './repo.ts';
import { type SettingsStore, storeOf } from './settings-store.ts';

/** The last read of each store. Reads go one after the other: two at once could finish in the wrong order and keep the older value. */
const lastRead = new WeakMap<SettingsStore, Promise<void>>();

function inTurn(store: SettingsStore, read: () => Promise<void>): Promise<void> {
  const before = lastRead.get(store) ?? Promise.resolve();
  const mine = before.then(read);
  // The next in line runs whether or not this one failed; the failure itself goes to whoever asked for the read.
  lastRead.set(
    store,
    mine.catch(() => undefined),
  );
  return mine;
}

/** Reads all overrides anew: at start, and after a time in which notices may have been missed. Not inside a transaction. */
export function refreshSettings(app: App, store: SettingsStore = storeOf(app)): Promise<void> {
  return inTurn(store, async () => store.applyOverrides(await findSettings(app.db)));
}

/** Reads the override of one key anew. Not inside a transaction: nothing is applied before its commit. */
export function refreshSetting(app: App, key: string, store: SettingsStore = storeOf(app)): Promise<void> {
  return inTurn(store, async () => store.applyOne(key, await findSetting(app.db, key)));
}
