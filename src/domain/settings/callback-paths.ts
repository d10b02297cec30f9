import type { App } from '../../core/app.ts';
import { definitionOf, type SettingKey, settingKeys } from './catalogue/catalogue.ts';

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
export function callbackPathProblem(app: App, key: SettingKey, value: unknown): string | null {
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
