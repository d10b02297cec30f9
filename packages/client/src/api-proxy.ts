import type { ApiCaller, CallKind } from './api-caller.ts';
import type { CallOptions } from './procedure-types.ts';

const KINDS: Record<string, CallKind> = { query: 'query', mutate: 'mutation' };

/**
 * Turns `proxy.balance.get.query(input)` into a call of `<area>.balance.get`.
 * @typeParam Procedures groups of the area; types only
 */
export function apiProxy<Procedures>(caller: ApiCaller, area: string): Procedures {
  return level(caller, area) as Procedures;
}

function level(caller: ApiCaller, path: string): object {
  const known = new Map<string, unknown>();
  return new Proxy(Object.freeze({}), {
    get: (_target, name) => {
      // A proxy with a `then` would be treated as a promise by `await`.
      if (typeof name !== 'string' || name === 'then') return undefined;
      if (!known.has(name)) known.set(name, member(caller, path, name));
      return known.get(name);
    },
  });
}

function member(caller: ApiCaller, path: string, name: string): unknown {
  const kind = KINDS[name];
  if (!kind) return level(caller, `${path}.${name}`);
  return (input: unknown, options?: CallOptions) => caller.call(kind, path, input, options);
}
