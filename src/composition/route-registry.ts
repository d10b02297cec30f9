import { barePath } from '../domain/settings/callback-paths.ts';
import type { RouteRegistryPort } from '../domain/settings/ports.ts';
import type { SettingKey } from '../domain/settings/types.ts';

/** The routes of this process, collected while they are registered, so that a new one cannot be forgotten. */
export class RouteRegistry implements RouteRegistryPort {
  /** Routes without parameters, with the path setting of their callbacks; null = an operation. */
  readonly #paths = new Map<string, SettingKey | null>();
  readonly #patterns = new Map<string, RegExp>();

  add(url: string, callbackOf?: SettingKey): void {
    if (/[:*]/.test(url)) this.#patterns.set(url, patternOf(url));
    else this.#paths.set(barePath(url), callbackOf ?? null);
  }

  isTaken(path: string, forKey?: SettingKey): boolean {
    const wanted = barePath(path);
    const owner = this.#paths.get(wanted);
    if (owner !== undefined) return owner === null || owner !== forKey;
    return [...this.#patterns.values()].some((pattern) => pattern.test(wanted));
  }
}

/** A route in fastify's notation: `:name` is a parameter, `::` a colon, `*` the rest. */
function patternOf(url: string): RegExp {
  const source = barePath(url).replace(/::|:\w+|\*|[\\^$.+?()[\]{}|]/g, (part) => {
    if (part === '::') return ':';
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : `\\${part}`;
  });
  return new RegExp(`^${source}$`);
}
