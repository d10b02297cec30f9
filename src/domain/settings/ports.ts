import type { SettingKey } from './types.ts';

/** The routes of this process; filled when routes are registered, read before a path of callbacks is changed. */
export interface RouteRegistryPort {
  /**
   * @param url the route as registered: `:name` is a parameter, `*` the rest
   * @param callbackOf the setting that may give the callbacks of this route another path as well
   */
  add(url: string, callbackOf?: SettingKey): void;
  /**
   * Whether the service serves this path, with any method. Until routes are registered no path is taken.
   * @param path without query
   * @param forKey a path setting: the fixed route of the same callbacks does not count
   */
  isTaken(path: string, forKey?: SettingKey): boolean;
}

declare module '../../core/app.ts' {
  interface Ports {
    routes: RouteRegistryPort;
  }
}
