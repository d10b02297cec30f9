import type { App } from '../../core/app.ts';
import { DATABASE_RESTORED } from '../../core/events/database-restored.ts';
import type { EventBus } from '../../core/events/event-bus.ts';
import { refreshSetting, refreshSettings } from './refresh-settings.ts';
import type { SettingsStore } from './settings-store.ts';

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** For the instances: the override of a setting was stored or removed. */
    [SETTING_CHANGED]: EventType<{ key: string }, 'instance'>;
  }
}

export const SETTING_CHANGED = 'setting.changed';
const RETRY_MS = 500;

/**
 * Loads all overrides and keeps them up to date with what any instance commits (spec 06 section 17, hazard 12). The subscription starts
 * before the first load, so that no change falls between the two. A read that fails is repeated in full until one succeeds.
 * @param app outside any transaction
 * @returns how to stop following
 */
export async function followSettings(app: App, store: SettingsStore, bus: Pick<EventBus, 'subscribe'>): Promise<() => void> {
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

  const unsubscribe = bus.subscribe(({ type, payload }) => {
    if (type === SETTING_CHANGED) follow(refreshSetting(app, String(payload.key), store));
    else if (type === DATABASE_RESTORED) follow(refreshSettings(app, store));
  });
  try {
    await refreshSettings(app, store);
  } catch (error) {
    unsubscribe();
    throw error;
  }

  return () => {
    isStopped = true;
    if (retry !== null) clearTimeout(retry);
    unsubscribe();
  };
}
