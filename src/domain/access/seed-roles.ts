import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { SUPERADMIN_LEVEL, SYSTEM_ROLES } from './permission-catalogue.ts';
import { configAdmins, forgetAccess, forgetRole } from './read-effective-access.ts';
import {
  countActiveAssignments,
  findSeededRole,
  grantToConfigAdmins,
  insertSystemRole,
  lockSeeding,
  revokeFromOthers,
  setRolePermissions,
} from './role-repo.ts';

/**
 * Makes sure that the system roles exist, with every preset permission and those added by hand, and that exactly the registered
 * config admins are Superadmin (spec 01 section 12). Runs at start; its failure is logged and stops nothing.
 */
export async function seedRoles(app: App): Promise<void> {
  try {
    const superadmins = await inTransaction(app, async (t) => {
      await lockSeeding(t.db);
      const superadminRoleId = await ensureSystemRoles(t);
      await syncSuperadmins(t, superadminRoleId);
      return countActiveAssignments(t.db, superadminRoleId);
    });
    const admins = configAdmins(app);
    if (superadmins === 0 && admins.messengerIds.size + admins.emails.size > 0) {
      app.log.warn('no user of ADMIN_IDS or ADMIN_EMAILS has registered yet');
    } else if (superadmins === 0) {
      app.log.warn('there is no superadmin: run `npm run cli -- admin create you@example.com`, or set ADMIN_IDS or ADMIN_EMAILS');
    }
  } catch (error) {
    // Any failure: must not prevent the start (spec 01 section 12); the next start repeats it.
    app.log.error({ err: error }, 'system roles could not be updated');
  }
}

async function ensureSystemRoles(t: App): Promise<number> {
  let superadminRoleId = 0;
  for (const role of SYSTEM_ROLES) {
    const found = await findSeededRole(t.db, role);
    const id = found?.id ?? (await insertSystemRole(t.db, role, t.clock.now()));
    if (role.level === SUPERADMIN_LEVEL) superadminRoleId = id;
    const missing = found ? role.permissions.filter((permission) => !found.permissions.includes(permission)) : [];
    if (!found || missing.length === 0) continue;
    await setRolePermissions(t.db, id, [...found.permissions, ...missing], t.clock.now());
    await forgetRole(t, id);
  }
  return superadminRoleId;
}

async function syncSuperadmins(t: App, roleId: number): Promise<void> {
  const admins = configAdmins(t);
  const [ids, emails] = [[...admins.messengerIds], [...admins.emails]];
  // Two empty lists mean that none are configured here: assignments stay.
  if (ids.length + emails.length === 0) return;
  const gained = await grantToConfigAdmins(t.db, roleId, ids, emails, t.clock.now());
  const lost = await revokeFromOthers(t.db, roleId, ids, emails);
  await forgetAccess(t, [...gained, ...lost]);
}
