import type { App, SettingsReader, SettingTypes } from '../../core/app.ts';
import { definitionOf, isSettingKey, type SettingKey, settingKeys } from './catalogue/catalogue.ts';
import { isVisible, parseText } from './rules.ts';
import type { SettingState, SettingValue, StoredSetting } from './types.ts';

/** The two levels that the store writes; a part of the service's logger. */
export interface SettingsLog {
  warn(fields: { key: string }, message: string): void;
  error(fields: { key: string; err: unknown }, message: string): void;
}

export type SettingListener = (key: SettingKey) => void;

/**
 * Effective settings of this process: environment, else stored override, else default (spec 06 section 6.1).
 * Reading is synchronous and never touches the database; overrides are fed in by `refresh-settings.ts`.
 */
export interface SettingsStore extends SettingsReader {
  /** What is wrong with the environment, one line a key and without the values, so that the start can report all at once. */
  readonly problems: readonly string[];
  /** Takes these rows as all there are: overrides without a row end. Rows of unknown keys belong to others and are ignored. */
  applyOverrides(rows: readonly StoredSetting[]): void;
  /** Takes over the row of one key; `null` = there is no row any more. */
  applyOne(key: string, row: StoredSetting | null): void;
  /** Where the value comes from, in clear. */
  describe(key: SettingKey): SettingState;
  /** Calls `listener` after each change of the effective value; one call per applied row or reload. Returns how to stop it. */
  onChange(key: SettingKey | readonly SettingKey[], listener: SettingListener): () => void;
}

/**
 * @param environment variables by name, already read; an empty value counts as not given
 */
export function createSettingsStore(input: { environment: Readonly<Record<string, string>>; log: SettingsLog }): SettingsStore {
  const { environment, log } = input;
  const problems: string[] = [];
  const fromEnvironment = new Map<string, SettingValue>();
  const overrides = new Map<string, SettingValue>();
  /** Stored texts already complained about: a reload must not repeat the warning. */
  const badRows = new Map<string, string | null>();
  const listeners = new Map<string, Set<SettingListener>>();
  const effective = new Map<string, SettingValue>();

  for (const key of settingKeys) {
    readEnvironment(key);
    effective.set(key, original(key));
  }

  function readEnvironment(key: SettingKey): void {
    // `Object.hasOwn`, because an environment object may inherit; trimmed, because env files carry stray blanks.
    const text = Object.hasOwn(environment, key) ? (environment[key] ?? '').trim() : '';
    if (text === '') return;
    const checked = parseText(definitionOf(key), text);
    if (checked.ok) {
      fromEnvironment.set(key, checked.value);
      return;
    }
    problems.push(`${key}: ${checked.refusal.message}`);
    log.warn({ key }, `The environment value of a setting is not usable and is ignored: ${checked.refusal.message}`);
  }

  function original(key: SettingKey): SettingValue {
    const given = fromEnvironment.get(key);
    return given === undefined ? definitionOf(key).default : given;
  }

  /** Keeps or drops the override; the effective value follows in `settle`. */
  function take(key: SettingKey, row: StoredSetting | null): void {
    overrides.delete(key);
    // An excluded key is given by the environment only: a row of that name is somebody's private row.
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
    log.warn({ key }, `The stored value of a setting is not usable and is ignored: ${checked.refusal.message}`);
  }

  function hasOverride(key: SettingKey): boolean {
    return overrides.has(key) && !fromEnvironment.has(key);
  }

  /** Brings the effective values up to date first and tells the listeners then, so that none of them sees a half-made change. */
  function settle(keys: readonly SettingKey[]): void {
    const told = new Map<SettingListener, SettingKey>();
    for (const key of keys) {
      const override = overrides.get(key);
      const value = hasOverride(key) && override !== undefined ? override : original(key);
      if (value === effective.get(key)) continue;
      effective.set(key, value);
      for (const listener of listeners.get(key) ?? []) if (!told.has(listener)) told.set(listener, key);
    }
    for (const [listener, key] of told) {
      try {
        listener(key);
      } catch (err) {
        log.error({ key, err }, 'A listener of a setting failed');
      }
    }
  }

  /** The one place where the type of a value is taken on trust: every value in the map went through the rules of its key. */
  function read<K extends keyof SettingTypes>(key: K): SettingTypes[K] {
    return effective.get(key) as SettingTypes[K];
  }

  return {
    problems,
    get: read,
    applyOverrides(rows) {
      const byKey = new Map(rows.map((row) => [row.key, row]));
      for (const key of settingKeys) take(key, byKey.get(key) ?? null);
      settle(settingKeys);
    },
    applyOne(key, row) {
      if (!isSettingKey(key)) return;
      take(key, row);
      settle([key]);
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
 * The store behind `app.settings`: readers see only `get`, the use cases of this module need the rest.
 * @throws Error when the app was put together with another reader
 */
export function storeOf(app: App): SettingsStore {
  const { settings } = app;
  if (!isStore(settings)) throw new Error('app.settings is not a settings store');
  return settings;
}

function isStore(settings: SettingsReader): settings is SettingsStore {
  return 'applyOne' in settings && 'describe' in settings;
}
