import type { App, SettingsReader, SettingTypes } from '../../core/app.ts';
import { definitionOf, isSettingKey, type SettingKey, settingKeys } from './catalogue/catalogue.ts';
import { isVisible, parseText } from './rules.ts';
import type { SettingState, SettingValue, StoredSetting } from './types.ts';

/** The log levels that the store uses; a part of the service's logger. */
export interface SettingsLog {
  warn(fields: { key: string }, message: string): void;
  error(fields: { key: string; err: unknown }, message: string): void;
}

export type SettingListener = (key: SettingKey) => void;

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
