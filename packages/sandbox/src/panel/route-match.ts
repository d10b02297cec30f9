import type { PanelRoute } from './panel-route.ts';

/** Finds the route of a path; routes without parameters come first in the table and have priority. */
export function findRoute(
  routes: readonly PanelRoute[],
  method: string,
  path: string,
): { route: PanelRoute; params: Record<string, string> } | null {
  const segments = path.replace(/\/+$/, '').split('/');
  for (const route of routes) {
    if (route.method !== method) continue;
    const params = matchSegments(route.path.split('/'), segments);
    if (params) return { route, params };
  }
  return null;
}

function matchSegments(pattern: string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (expected.startsWith(':')) params[expected.slice(1)] = decode(segment);
    else if (expected !== segment) return null;
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
