/** Distinguishes 405 from 404: fastify answers 404 for a known path with another method. */
import type { RestRoute } from './route-table.ts';

/**
 * Compiles a look-up of the methods of a path. It is used only where no route matched, so a loop over the routes
 * with the same number of segments is fast enough.
 * @returns a function from a path (with or without trailing slash, no query) to the methods in the order of the `Allow` header
 */
export function methodFinder(routes: readonly RestRoute[]): (path: string) => string[] {
  const byLength = new Map<number, { segments: string[]; method: string }[]>();
  for (const route of routes) {
    const segments = split(route.path);
    const group = byLength.get(segments.length) ?? [];
    group.push({ segments, method: route.method });
    byLength.set(segments.length, group);
  }
  return (path) => {
    const wanted = split(path);
    const methods = new Set<string>();
    for (const { segments, method } of byLength.get(wanted.length) ?? []) {
      if (segments.every((segment, i) => matches(segment, wanted[i]!))) methods.add(method);
    }
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  };
}

function split(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

/** A parameter may be a part of a segment (`{name}.csv`). */
function matches(segment: string, text: string): boolean {
  const open = segment.indexOf('{');
  if (open < 0) return segment === text;
  const end = segment.slice(segment.lastIndexOf('}') + 1);
  return text.length > open + end.length && text.startsWith(segment.slice(0, open)) && text.endsWith(end);
}
