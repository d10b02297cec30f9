import type { SettingView } from '../domain/settings/types.ts';

/** A setting as both doors show it (spec 06 section 6). */
export function toSettingAnswer(setting: SettingView) {
  return {
    key: setting.key,
    name: setting.name,
    category: setting.category,
    type: setting.type,
    is_optional: setting.isOptional,
    current: setting.current,
    original: setting.original,
    has_override: setting.hasOverride,
    read_only: setting.readOnly,
    choices: setting.choices,
  };
}
