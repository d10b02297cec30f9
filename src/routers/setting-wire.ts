import type { AdminActor } from '../core/actor.ts';
import { SUPERADMIN_LEVEL } from '../domain/access/permission-catalogue.ts';
import type { SettingEditor, SettingView } from '../domain/settings/types.ts';

/** An administrator as an editor of settings. */
export function editorOf(actor: AdminActor): SettingEditor {
  return { kind: actor.kind, isSuperadmin: actor.isConfigAdmin || actor.level >= SUPERADMIN_LEVEL };
}

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
