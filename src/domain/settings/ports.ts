import type { SettingKey } from './types.ts';

/** The paths that this process answers at; told where routes are registered, asked before a callback is given a path. */
export interface ReservedRoutesPort {
  /**
   * @param url the route as registered: `:name` is a parameter, `*` the rest
   * @param callbackOf the setting by which the callbacks of this route may be given another path as well
   */
  add(url: string, callbackOf?: SettingKey): void;
  /**
   * Does an operation of our own answer at this path, with any method? Until routes are registered nothing is taken.
   * @param path without query
   * @param forKey a path setting: the fixed route of its own callbacks does not count
   */
  isTaken(path: string, forKey?: SettingKey): boolean;
}

declare module '../../core/app.ts' {
  interface Ports {
    reservedRoutes: ReservedRoutesPort;
  }
}
