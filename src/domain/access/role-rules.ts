import { PERMISSION_CATALOGUE } from './permission-catalogue.ts';

const REGISTRY: readonly string[] = Object.entries(PERMISSION_CATALOGUE).flatMap(([section, actions]) =>
  actions.map((action) => `${section}:${action}`),
);
const KNOWN: ReadonlySet<string> = new Set([
  ...REGISTRY,
  ...Object.keys(PERMISSION_CATALOGUE).map((section) => `${section}:*`),
  '*:*',
]);
/** Stands for sections and actions that a later release may add: a wildcard grants those, too. */
const FUTURE = 'of-a-later-release';

/** What a role may not hold: neither a registered permission, nor `section:*`, nor `*:*` (spec 01 section 12). */
export function unknownPermissions(permissions: readonly string[]): string[] {
  return permissions.filter((permission) => !KNOWN.has(permission));
}

/**
 * Which of these permissions go beyond the giver's own (spec 01 H4). A wildcard is covered by a wildcard only: whoever holds every
 * action of a section today must not give away what the section gains tomorrow.
 * @param holds does the giver hold this `section:action`?
 * @param granted known permissions (`unknownPermissions` is empty)
 */
export function permissionsBeyond(holds: (permission: string) => boolean, granted: readonly string[]): string[] {
  return granted.filter((permission) => !instancesOf(permission).every(holds));
}

/** Every permission that a known pattern stands for, present and future. */
function instancesOf(permission: string): string[] {
  const [section = '', action = ''] = permission.split(':');
  if (permission === '*:*') return [...REGISTRY, `${FUTURE}:${FUTURE}`];
  if (action !== '*') return [permission];
  return [...REGISTRY.filter((known) => known.startsWith(`${section}:`)), `${section}:${FUTURE}`];
}
