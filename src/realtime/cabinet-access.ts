import type { App } from '../core/app.ts';
import { denialReason } from '../domain/access/permission-rules.ts';
import { isConfigAdmin, readActivePolicies, readEffectiveAccess } from '../domain/access/read-effective-access.ts';
import { readSessionUser, recheckSessions } from '../domain/identity/authenticate-user.ts';

/** Administrator by the configuration or by a role, and whether the user receives events for staff, which a role with `tickets:read` allows too. */
export interface CabinetAccess {
  isAdmin: boolean;
  receivesStaffEvents: boolean;
}

/**
 * What `/cabinet/ws` needs to know of a user (spec 05 section 12.2).
 * @param ip client address for policies, null = unknown
 */
export async function readCabinetAccess(app: App, userId: number, ip: string | null): Promise<CabinetAccess> {
  const user = await readSessionUser(app, userId);
  if (user !== null && isConfigAdmin(app, user)) return { isAdmin: true, receivesStaffEvents: true };
  const [access, policies] = await Promise.all([readEffectiveAccess(app, userId), readActivePolicies(app)]);
  // Roles make an administrator too (spec 01 H26), as `me/is-admin` says.
  return {
    isAdmin: access.level > 0,
    receivesStaffEvents: denialReason('tickets:read', access, policies, ip, app.clock.now()) === null,
  };
}

/**
 * Looks at the sessions of open sockets again: one statement for all of them, and the rights of those users who have a role (spec 10 U3).
 * @returns in the order of the sessions the access, or the refusal of `recheckSessions`
 */
export async function recheckCabinetAccess(
  app: App,
  open: readonly { userId: number; sessionId: string; ip: string | null }[],
): Promise<PromiseSettledResult<CabinetAccess>[]> {
  const sessions = await recheckSessions(app, open);
  return Promise.allSettled(
    sessions.map(async (session, index) => {
      if (session.status === 'rejected') throw session.reason;
      const isListed = isConfigAdmin(app, session.value);
      if (isListed || !session.value.hasRoles) return { isAdmin: isListed, receivesStaffEvents: isListed };
      return readCabinetAccess(app, session.value.id, open[index]!.ip);
    }),
  );
}
