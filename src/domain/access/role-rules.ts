import { PERMISSION_CATALOGUE } from './permissions.ts';

const REGISTRY: readonly string[] = Object.entries(PERMISSION_CATALOGUE).flatMap(([section, actions]) =>
  actions.map((action) => `${section}:${action}`),
);
const KNOWN: ReadonlySet<string> = new Set([
  ...REGISTRY,
  ...Object.keys(PERMISSION_CATALOGUE).map((section) => `${section}:*`),
  '*:*',
]);
/** A section or action that a later release may add: a wildcard grants those, too. */
const FUTURE = 'of-a-later-release';

/** Those that are neither a registered permission, nor `section:*`, nor `*:*` (spec 01 section 12). */
export function unknownPermissions(permissions: readonly string[]): string[] {
  return permissions.filter((permission) => !KNOWN.has(permission));
}

/**
 * Which of these permissions go beyond the grantor's own (spec 01 H4). A wildcard needs a wildcard: a grantor with every
 * action of a section today must not grant the actions that a later release adds to it.
 * @param isGranted does the grantor have this `section:action`?
 * @param granted known permissions (`unknownPermissions` is empty)
 */
export function permissionsBeyond(isGranted: (permission: string) => boolean, granted: readonly string[]): string[] {
  return granted.filter((permission) => !instancesOf(permission).every(isGranted));
}

/** Every permission that a known pattern matches, present and future. */
function instancesOf(permission: string): string[] {
  const [section = '', action = ''] = permission.split(':');
  if (permission === '*:*') return [...REGISTRY, `${FUTURE}:${FUTURE}`];
  if (action !== '*') return [permission];
  return [...REGISTRY.filter((known) => known.startsWith(`${section}:`)), `${section}:${FUTURE}`];
}
