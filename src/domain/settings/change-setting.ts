import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { type DeclaredRefusal, refusal } from '../../core/errors.ts';
import { isBackupLocation } from './backup-location.ts';
import { definitionOf, isSettingKey, type SettingKey, settingKeys } from './catalogue/catalogue.ts';
import { listChoices, viewSetting } from './list-settings.ts';
import { deleteSetting, lockOverride, upsertSetting } from './repo.ts';
import {
  type Checked,
  editProblem,
  isVisible,
  notAChoice,
  settingBadFormat,
  settingBadPlaceholder,
  settingGuarded,
  settingMaskedValue,
  settingNotAChoice,
  settingNotFound,
  settingOutOfBounds,
  settingReadOnly,
  settingValueRequired,
  settingWrongType,
  storedForm,
  validateValue,
} from './rules.ts';
import { refreshSetting, SETTING_CHANGED, storeOf } from './settings-store.ts';
import type { SettingEditor, SettingValue, SettingView, StoredSetting } from './types.ts';

const settingPathTaken = refusal('setting_path_taken', 400, 'Value must not be the path of YOOKASSA_WEBHOOK_PATH');

/** With what the reset of a setting is refused. */
export const SETTING_RESET_REFUSES: readonly DeclaredRefusal[] = [
  settingPathTaken,
  settingGuarded,
  settingReadOnly,
  settingNotFound,
];
/** With what a change of a setting is refused. */
export const SETTING_CHANGE_REFUSES: readonly DeclaredRefusal[] = [
  ...SETTING_RESET_REFUSES,
  ...[settingBadFormat, settingBadPlaceholder, settingOutOfBounds, settingMaskedValue],
  ...[settingNotAChoice, settingValueRequired, settingWrongType],
];

/**
 * Stores an override (spec 06 section 6.2). Every instance follows the event of the change; in this one it is in effect on return.
 * An override of a key that the environment sets is stored, too, but has no effect.
 * @throws AppError 404 unknown key, 403 read-only or not permitted to the editor, 400 value refused
 */
export async function putSetting(app: App, editor: SettingEditor, key: string, value: unknown): Promise<SettingView> {
  const known = editableKey(key, editor);
  const stored = storedForm(acceptedValue(app, known, value));
  await inTransaction(app, async (t) => {
    const before = await lockOverride(t.db, known);
    await upsertSetting(t.db, { key: known, value: stored }, t.clock.now());
    await t.events.emit(SETTING_CHANGED, { key: known }, { audience: 'instance' });
    t.audit?.record({ before: auditRecordOf(known, before), after: auditRecordOf(known, { key: known, value: stored }) });
  });
  return refreshedView(app, known);
}

/**
 * `putSetting` for several settings: all are stored, or none.
 * @throws AppError 404 unknown key, 403 read-only or not permitted to the editor, 400 value refused
 */
export async function putSettings(
  app: App,
  editor: SettingEditor,
  values: readonly (readonly [key: string, value: unknown])[],
): Promise<void> {
  await inTransaction(app, async (t) => {
    for (const [key, value] of values) await putSetting(t, editor, key, value);
  });
  if (app.db.begin !== null) for (const [key] of values) await refreshSetting(app, key);
}

/**
 * Removes the override: the value is the original again. Without an override nothing changes.
 * @throws AppError 404 unknown key, 403 read-only or not permitted to the editor, 400 the original path is taken by other callbacks now
 */
export async function resetSetting(app: App, editor: SettingEditor, key: string): Promise<SettingView> {
  const known = editableKey(key, editor);
  const { hasOverride, original } = storeOf(app).describe(known);
  // Other callbacks may have got the original path since.
  if (hasOverride) refuseTakenPath(app, known, original);
  await inTransaction(app, async (t) => {
    const before = await lockOverride(t.db, known);
    await deleteSetting(t.db, known);
    await t.events.emit(SETTING_CHANGED, { key: known }, { audience: 'instance' });
    t.audit?.record({ before: auditRecordOf(known, before), after: auditRecordOf(known, null) });
  });
  return refreshedView(app, known);
}

/** For the audit log, which masks the value of a secret setting. @param override null = the original value is in effect */
function auditRecordOf(key: SettingKey, override: StoredSetting | null) {
  return { key, overridden: override !== null, value: override?.value ?? null };
}

function editableKey(key: string, editor: SettingEditor): SettingKey {
  if (!isSettingKey(key) || !isVisible(definitionOf(key))) throw settingNotFound();
  const problem = editProblem(key, definitionOf(key), editor);
  if (problem !== null) throw problem;
  return key;
}

function acceptedValue(app: App, key: SettingKey, value: unknown): SettingValue {
  const checked = withinChoices(app, key, validateValue(definitionOf(key), value));
  if (!checked.ok) throw checked.refusal;
  refuseTakenPath(app, key, checked.value);
  const expected = valueProblem(app, key, checked.value);
  if (expected !== null) throw settingBadFormat({ detail: `Value must be ${expected}` });
  return checked.value;
}

function refuseTakenPath(app: App, key: SettingKey, value: SettingValue): void {
  const problem = callbackPathProblem(app, key, value);
  if (problem !== null) throw settingPathTaken({ detail: problem });
}

/** Choices that depend on other settings are checked on write only: a later change of those must not invalidate a stored value. */
function withinChoices(app: App, key: SettingKey, checked: Checked): Checked {
  if (!checked.ok || checked.value === null) return checked;
  const choices = listChoices(key, app.settings).map((choice) => choice.value);
  return choices.length === 0 || choices.includes(checked.value) ? checked : notAChoice(choices);
}

/** Inside a caller's transaction nothing is committed yet, so nothing is applied: the event does it on every instance. */
async function refreshedView(app: App, key: SettingKey): Promise<SettingView> {
  if (app.db.begin !== null) await refreshSetting(app, key);
  return viewSetting(app, key);
}

/** A language without its region, `ru` of `ru-RU`. */
const codeOf = (language: string) => language.trim().toLowerCase().split('-')[0] ?? '';
const codesOf = (list: string) => list.split(',').map(codeOf).filter(Boolean);

/**
 * What a value that is written must be besides its type and format (spec 10 O6 and O10). Rows that were stored earlier and the environment are
 * read leniently: a service that runs must go on running after an update.
 * @returns the text that completes "Value must be ..."; null when the value is accepted
 */
function valueProblem(app: App, key: SettingKey, value: unknown): string | null {
  if (typeof value !== 'string') return null;
  switch (key) {
    case 'VERSION_CHECK_REPO':
      return value === '' || /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(value)
        ? null
        : 'the owner and the name of a repository, owner/name';
    case 'AVAILABLE_LANGUAGES':
      return codesOf(value).length > 0 ? null : 'codes of languages separated by commas';
    case 'DEFAULT_LANGUAGE': {
      const offered = codesOf(app.settings.get('AVAILABLE_LANGUAGES'));
      return offered.length === 0 || offered.includes(codeOf(value)) ? null : `one of: ${offered.join(', ')}`;
    }
    case 'SMTP_FROM_NAME':
      return /\p{Cc}/u.test(value) ? 'a text without line breaks and control characters' : null;
    case 'BACKUP_LOCATION':
      return isBackupLocation(app, value) ? null : 'a folder in DATA_DIR or in a folder of BACKUP_ROOTS';
    default:
      return null;
  }
}

/** Settings that contain the path of callbacks. */
const pathKeys: readonly SettingKey[] = settingKeys.filter((key) => definitionOf(key).format === 'route-path');

/** A path without slashes at the end: both forms are the same path. */
export function barePath(path: string): string {
  return path.replace(/\/+$/, '') || '/';
}

/**
 * Why callbacks must not have this path (spec 06 section 17, hazard 13): it is the path of an operation or of other callbacks. The operation
 * would take precedence, so such a value is refused; otherwise the callbacks would never arrive.
 * @param value a value of this setting
 * @returns the text of the refusal; null when the path is free or the setting is not a path of callbacks
 */
function callbackPathProblem(app: App, key: SettingKey, value: unknown): string | null {
  if (!pathKeys.includes(key) || typeof value !== 'string') return null;
  const path = barePath(value);
  if (app.ports.routes.isTaken(path, key)) return 'Value must not be a path that the service itself answers';
  const other = pathKeys.find((each) => each !== key && barePath(String(app.settings.get(each))) === path);
  return other === undefined ? null : `Value must not be the path of ${other}`;
}

/** Problems of the paths in effect: values of the environment and rows stored earlier are not checked before they take effect. */
export function listCallbackPathProblems(app: App): { key: SettingKey; problem: string }[] {
  return pathKeys.flatMap((key) => {
    const problem = callbackPathProblem(app, key, app.settings.get(key));
    return problem === null ? [] : [{ key, problem }];
  });
}
