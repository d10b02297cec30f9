import type { AdminActor } from '../../core/actor.ts';
import { isSuperadmin } from '../../domain/access/permissions.ts';
import type { SettingEditor } from '../../domain/settings/types.ts';

/** An administrator as an editor of settings. */
export function editorOf(actor: AdminActor): SettingEditor {
  return { kind: actor.kind, isSuperadmin: isSuperadmin(actor) };
}
