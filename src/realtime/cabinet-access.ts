import type { App } from '../core/app.ts';
import { denialReason } from '../domain/access/permission-rules.ts';
import { isConfigAdmin, readActivePolicies, readEffectiveAccess } from '../domain/access/read-effective-access.ts';
import { readSessionUser } from '../domain/identity/authenticate-user.ts';

/**
 * What `/cabinet/ws` needs to know of a user (spec 05 section 12.2): administrator by the configuration or by a role, and whether
 * the user receives events for staff, which a role with `tickets:read` allows too.
 * @param ip client address for policies, null = unknown
 */
export async function readCabinetAccess(
  app: App,
  userId: number,
  ip: string | null,
): Promise<{ isAdmin: boolean; receivesStaffEvents: boolean }> {
  const user = await readSessionUser(app, userId);
  if (user !== null && isConfigAdmin(app, user)) return { isAdmin: true, receivesStaffEvents: true };
  const [access, policies] = await Promise.all([readEffectiveAccess(app, userId), readActivePolicies(app)]);
  // Roles make an administrator too (spec 01 H26), as `me/is-admin` says.
  return {
    isAdmin: access.level > 0,
    receivesStaffEvents: denialReason('tickets:read', access, policies, ip, app.clock.now()) === null,
  };
}
