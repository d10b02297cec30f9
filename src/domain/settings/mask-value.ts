import type { SettingDefinition } from './catalogue/definition.ts';
import type { SettingValue } from './types.ts';

/** What is shown instead of a secret (spec 06 section 6.4); the same for every secret, so that it does not reveal the length. */
export const SECRET_MASK = '••••••••';

/** The value for answers: an unset secret is null, a set one the fixed mask. */
export function maskedValue(definition: SettingDefinition, value: SettingValue): SettingValue {
  if (!definition.secret) return value;
  return value === null || value === '' ? null : SECRET_MASK;
}
