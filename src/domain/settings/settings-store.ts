import type { App, SettingsReader, SettingTypes } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import type { EventBus } from '../../core/events/event-bus.ts';
import { DATABASE_RESTORED } from '../../core/events/event-log.ts';
import { definitionOf, isSettingKey, type SettingKey, settingKeys } from './catalogue/catalogue.ts';
import { findSetting, findSettings } from './repo.ts';
import { isVisible, parseText } from './rules.ts';
import type { SettingState, SettingValue, StoredSetting } from './types.ts';

/** The log levels that the store uses; a part of the service's logger. */
export interface SettingsLog {
  warn(fields: { key: string }, message: string): void;
  error(fields: { key: string; err: unknown }, message: string): void;
}

type SettingListener = (key: SettingKey) => void;

/**
 * Effective settings of this process: environment, else stored override, else default (spec 06 section 6.1); for the few that are
 * `storedFirst`, the override comes before the environment.
 * Reading is synchronous and does not use the database; `refresh-settings.ts` applies overrides.
 */
export interface SettingsStore extends SettingsReader {
  /** Problems of the environment, one line a key, without values, so that the start can report all at once. */
  readonly problems: readonly string[];
  /** Replaces all overrides by these rows. Rows of unknown keys belong to other features and are ignored. */
  applyOverrides(rows: readonly StoredSetting[]): void;
  /** Applies the row of one key; `null` = the row does not exist any more. */
  applyOne(key: string, row: StoredSetting | null): void;
  /** Where the value comes from, not masked. */
  describe(key: SettingKey): SettingState;
  /** Calls `listener` after each change of the effective value; one call per applied row or reload. Returns a function that removes the listener. */
  onChange(key: SettingKey | readonly SettingKey[], listener: SettingListener): () => void;
}

/**
 * @param environment variables by name; an empty value counts as not set
 */
export function createSettingsStore(input: { environment: Readonly<Record<string, string>>; log: SettingsLog }): SettingsStore {
  const { environment, log } = input;
  const problems: string[] = [];
  const fromEnvironment = new Map<string, SettingValue>();
  const overrides = new Map<string, SettingValue>();
  /** Invalid stored texts that were logged: a reload must not repeat the warning. */
  const badRows = new Map<string, string | null>();
  const listeners = new Map<string, Set<SettingListener>>();
  const effective = new Map<string, SettingValue>();

  for (const key of settingKeys) {
    readEnvironment(key);
    effective.set(key, original(key));
  }

  function readEnvironment(key: SettingKey): void {
    // `Object.hasOwn`, because an environment object may inherit; trimmed, because env files may have trailing blanks.
    const text = Object.hasOwn(environment, key) ? (environment[key] ?? '').trim() : '';
    if (text === '') return;
    const checked = parseText(definitionOf(key), text);
    if (checked.ok) {
      fromEnvironment.set(key, checked.value);
      return;
    }
    problems.push(`${key}: ${checked.refusal.message}`);
    log.warn({ key }, `The environment value of a setting is invalid and ignored: ${checked.refusal.message}`);
  }

  function original(key: SettingKey): SettingValue {
    const given = fromEnvironment.get(key);
    return given === undefined ? definitionOf(key).default : given;
  }

  /** Stores or removes the override; `updateEffective` applies it. */
  function storeOverride(key: SettingKey, row: StoredSetting | null): void {
    overrides.delete(key);
    // An excluded key is set by the environment only: a row of that name is private to another feature.
    if (row === null || !isVisible(definitionOf(key))) {
      badRows.delete(key);
      return;
    }
    const checked = parseText(definitionOf(key), row.value);
    if (checked.ok) {
      badRows.delete(key);
      overrides.set(key, checked.value);
      return;
    }
    if (badRows.has(key) && badRows.get(key) === row.value) return;
    badRows.set(key, row.value);
    log.warn({ key }, `The stored value of a setting is invalid and ignored: ${checked.refusal.message}`);
  }

  function hasOverride(key: SettingKey): boolean {
    return overrides.has(key) && (definitionOf(key).storedFirst === true || !fromEnvironment.has(key));
  }

  /** Updates all effective values first and calls the listeners then, so that no listener sees a partial change. */
  function updateEffective(keys: readonly SettingKey[]): void {
    const changed = new Map<SettingListener, SettingKey>();
    for (const key of keys) {
      const override = overrides.get(key);
      const value = hasOverride(key) && override !== undefined ? override : original(key);
      if (value === effective.get(key)) continue;
      effective.set(key, value);
      for (const listener of listeners.get(key) ?? []) if (!changed.has(listener)) changed.set(listener, key);
    }
    for (const [listener, key] of changed) {
      try {
        listener(key);
      } catch (err) {
        log.error({ key, err }, 'A listener of a setting failed');
      }
    }
  }

  /** The only type assertion of a value: every value in the map was validated by the rules of its key. */
  function read<K extends keyof SettingTypes>(key: K): SettingTypes[K] {
    return effective.get(key) as SettingTypes[K];
  }

  return {
    problems,
    get: read,
    applyOverrides(rows) {
      const byKey = new Map(rows.map((row) => [row.key, row]));
      for (const key of settingKeys) storeOverride(key, byKey.get(key) ?? null);
      updateEffective(settingKeys);
    },
    applyOne(key, row) {
      if (!isSettingKey(key)) return;
      storeOverride(key, row);
      updateEffective([key]);
    },
    describe(key) {
      return {
        original: original(key),
        current: effective.get(key) ?? null,
        hasOverride: hasOverride(key),
        fromEnvironment: fromEnvironment.has(key),
      };
    },
    onChange(key, listener) {
      const keys = typeof key === 'string' ? [key] : key;
      for (const each of keys) {
        const set = listeners.get(each) ?? new Set();
        listeners.set(each, set.add(listener));
      }
      return () => {
        for (const each of keys) listeners.get(each)?.delete(listener);
      };
    },
  };
}

/**
 * The store behind `app.settings`: other modules see only `get`, the use cases of this module need the rest.
 * @throws Error when the app was assembled with another reader
 */
export function storeOf(app: Pick<App, 'settings'>): SettingsStore {
  const { settings } = app;
  if (!isStore(settings)) throw new Error('app.settings is not a settings store');
  return settings;
}

function isStore(settings: SettingsReader): settings is SettingsStore {
  return 'applyOne' in settings && 'describe' in settings;
}

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
