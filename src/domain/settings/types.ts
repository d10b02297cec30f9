import type { Rows } from '../../core/db/columns.ts';
import type { Catalogue, SettingKey } from './catalogue/catalogue.ts';

export type { SettingKey } from './catalogue/catalogue.ts';

export type SettingValue = string | number | boolean | null;

interface ValueOfType {
  bool: boolean;
  int: number;
  float: number;
  str: string;
}

/** A choice where there are choices, else a value of the type; null where the setting is optional. */
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

/** A row of `system_settings`: an override, or a private row of another feature. A null value is a stored null, not a missing override. */
export type StoredSetting = Pick<Rows['SystemSetting'], 'key' | 'value'>;

/** Where the value of a setting comes from (spec 06 section 6.1). Values are not masked: for use inside the service only. */
export interface SettingState {
  /** Value at process start: environment or default. */
  original: SettingValue;
  /** Effective value. */
  current: SettingValue;
  /** A stored override is in effect. */
  hasOverride: boolean;
  /** Given by the environment: a stored override has no effect, unless the setting is `storedFirst`. */
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

/** A category in answers. */
export interface SettingCategory {
  key: string;
  label: string;
  description: string;
  items: number;
}

/** A setting in answers; secrets are masked. */
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
 * Who changes a setting. A structural type, because `settings` is the first module and imports none of the others.
 * `system` is the service itself, `token` the holder of a Web API token, any other kind an administrator.
 */
export interface SettingEditor {
  readonly kind: string;
  readonly isSuperadmin?: boolean;
  /** Of a token that may do only some things. */
  readonly limits?: { readonly scopes: readonly string[] | null };
}
