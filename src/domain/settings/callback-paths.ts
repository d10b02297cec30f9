import type { App } from '../../core/app.ts';
import { definitionOf, type SettingKey, settingKeys } from './catalogue/catalogue.ts';

/** Settings that say at which path somebody outside calls us. */
const pathKeys: readonly SettingKey[] = settingKeys.filter((key) => definitionOf(key).format === 'route-path');

/** Both forms of a path, with and without a slash at the end, are one. */
export function barePath(path: string): string {
  return path.replace(/\/+$/, '') || '/';
}

/**
 * Why callbacks must not be given this path (spec 06 section 17, hazard 13): an operation of our own answers there, or other callbacks do.
 * Whatever is set, the operation wins; a refusal says so to the one who sets it, instead of callbacks that never arrive.
 * @param value a value of this setting
 * @returns a sentence for the refusal, null when all is well or the setting is no such path
 */
export function callbackPathProblem(app: App, key: SettingKey, value: unknown): string | null {
  if (!pathKeys.includes(key) || typeof value !== 'string') return null;
  const path = barePath(value);
  if (app.ports.reservedRoutes.isTaken(path, key)) return 'Value must not be a path that the service itself answers';
  const other = pathKeys.find((each) => each !== key && barePath(String(app.settings.get(each))) === path);
  return other === undefined ? null : `Value must not be the path of ${other}`;
}

/** What is wrong with the paths in effect: the environment and older rows are not asked before they count. */
export function listCallbackPathProblems(app: App): { key: SettingKey; problem: string }[] {
  return pathKeys.flatMap((key) => {
    const problem = callbackPathProblem(app, key, app.settings.get(key));
    return problem === null ? [] : [{ key, problem }];
  });
}
