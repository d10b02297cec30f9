import type { Catalogue, SettingKey } from './catalogue/catalogue.ts';

export type { SettingKey } from './catalogue/catalogue.ts';

/** Any value a setting can take. */
export type SettingValue = string | number | boolean | null;

interface ValueOfType {
  bool: boolean;
  int: number;
  float: number;
  str: string;
}

/** A choice where there are choices, else what the type says; null where nothing need be given. */
type ValueOf<D> =
  | (D extends { choices: readonly (infer C)[] }
      ? C
      : D extends { type: infer T extends keyof ValueOfType }
        ? ValueOfType[T]
        : never)
  | (D extends { optional: true } | { default: null } ? null : never);

/** Value type of every key, derived from the catalogue. */
export type SettingValues = { [K in SettingKey]: ValueOf<Catalogue[K]> };

declare module '../../core/app.ts' {
  interface SettingTypes extends SettingValues {}
}

/** A row of `system_settings`: an override, or a private row of another feature. */
export interface StoredSetting {
  key: string;
  /** Stored form; null is a stored null, not the lack of an override. */
  value: string | null;
}

/** Where the value of a setting comes from (spec 06 section 6.1). Values are in clear: for use inside the service only. */
export interface SettingState {
  /** Value at process start: environment or default. */
  original: SettingValue;
  /** Effective value. */
  current: SettingValue;
  /** A stored override is in effect. */
  hasOverride: boolean;
  /** Given by the environment: a stored override has no effect. */
  fromEnvironment: boolean;
}

export interface SettingChoice {
  value: SettingValue;
  label: string;
  description: string | null;
}

export interface SettingHint {
  description: string;
  format: string;
  example: string;
  warning: string;
}

/** A category as the endpoints list it. */
export interface SettingCategory {
  key: string;
  label: string;
  description: string;
  /** Number of settings in it. */
  items: number;
}

/** A setting as the endpoints show it: secrets are masked already. */
export interface SettingView {
  key: string;
  name: string;
  category: { key: string; label: string };
  /** `bool`, `int`, `float` or `str`, as `optional[...]` where null is allowed. */
  type: string;
  isOptional: boolean;
  current: SettingValue;
  original: SettingValue;
  hasOverride: boolean;
  readOnly: boolean;
  choices: SettingChoice[];
  hint: SettingHint;
}

/**
 * Who changes a setting. Structural, so that `settings`, the first module, needs none of the later ones.
 * `system` is the service itself, `token` the holder of a Web API token, any other kind an administrator.
 */
export interface SettingEditor {
  readonly kind: string;
  readonly isSuperadmin?: boolean;
}
