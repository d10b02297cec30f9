import type { App } from '../../core/app.ts';
import { SUPERADMIN_LEVEL, SYSTEM_ROLES } from './permission-catalogue.ts';
import { configAdmins, forgetAccess } from './read-effective-access.ts';
import { findSeededRole, grantToConfigAdmins, insertSystemRole, lockSeeding } from './role-repo.ts';

/**
 * Assigns Superadmin to the registered owner of a verified e-mail, in the caller's transaction (spec 01 section 12).
 * @param user `email` in lower case
 * @returns `isLasting` false: ADMIN_IDS or ADMIN_EMAILS name others only, so the next start revokes the role
 */
export async function grantSuperadmin(
  t: App,
  user: { messengerId: number | null; email: string },
): Promise<{ isLasting: boolean }> {
  const role = SYSTEM_ROLES.find((candidate) => candidate.level === SUPERADMIN_LEVEL);
  if (!role) throw new Error('the catalogue has no superadmin role');
  await lockSeeding(t.db);
  const found = await findSeededRole(t.db, role);
  const roleId = found?.id ?? (await insertSystemRole(t.db, role, t.clock.now()));
  await forgetAccess(t, await grantToConfigAdmins(t.db, roleId, [], [user.email], t.clock.now()));
  const { messengerIds, emails } = configAdmins(t);
  const isListed = emails.has(user.email) || (user.messengerId !== null && messengerIds.has(user.messengerId));
  return { isLasting: isListed || messengerIds.size + emails.size === 0 };
}
