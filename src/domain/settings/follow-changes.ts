import type { App } from '../../core/app.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import { refreshSetting, refreshSettings } from './refresh-settings.ts';
import { SETTINGS_CHANNEL } from './repo.ts';
import type { SettingsStore } from './settings-store.ts';

/**
 * Listens to notifications of the database. `onReconnect` is called after each interruption of the connection, during which
 * notifications were lost. The result stops listening.
 */
export type Listen = (
  channel: string,
  onMessage: (payload: string) => void,
  onReconnect: () => void,
) => Promise<() => Promise<void>>;

const RETRY_MS = 500;

/**
 * Loads all overrides and keeps them up to date with what any instance commits (spec 06 section 17, hazard 12). Listening starts before
 * the first load, so that no change falls between the two. A read that fails is repeated in full until one succeeds.
 * @param app outside any transaction
 * @returns how to stop following
 */
export async function followSettings(app: App, store: SettingsStore, listen: Listen): Promise<() => Promise<void>> {
  let isStopped = false;
  let retry: NodeJS.Timeout | null = null;

  const reloadLater = (): void => {
    if (isStopped || retry !== null) return;
    retry = setTimeout(() => {
      retry = null;
      follow(refreshSettings(app, store));
    }, RETRY_MS);
    retry.unref();
  };

  const follow = (reading: Promise<void>): void => {
    reading.catch((err: unknown) => {
      if (isStopped) return;
      app.log.error({ err }, 'Settings could not be reloaded; retrying shortly');
      reloadLater();
    });
  };

  const stopListening = await listen(
    SETTINGS_CHANNEL,
    // The embedded database calls back in the async context of the query it was running, perhaps one of an open transaction.
    (key) => runOutsideTransaction(() => follow(refreshSetting(app, key, store))),
    () => runOutsideTransaction(() => follow(refreshSettings(app, store))),
  );
  try {
    await refreshSettings(app, store);
  } catch (error) {
    await stopListening();
    throw error;
  }

  return async () => {
    isStopped = true;
    if (retry !== null) clearTimeout(retry);
    await stopListening();
  };
}
