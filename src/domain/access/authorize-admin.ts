import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { adminLevel, denialReason } from './permission-rules.ts';
import { isConfigAdmin, readActivePolicies, readEffectiveAccess } from './read-effective-access.ts';

export const permissionDenied = refusal('permission_denied', 403, 'Permission denied: No active roles assigned');

/**
 * Decides one permission of a signed-in user (spec 01 section 4.5).
 * @param permission `section:action`
 * @param ip client address for policies, null = unknown
 * @throws AppError 403 'Permission denied: {reason}'
 */
export async function authorizeAdmin(
  app: App,
  user: { id: number; messengerId: number | null; email: string | null; emailVerified: boolean },
  permission: string,
  ip: string | null,
): Promise<AdminActor> {
  const isListed = isConfigAdmin(app, user);
  const access = await readEffectiveAccess(app, user.id);
  if (!isListed) {
    const reason = denialReason(permission, access, await readActivePolicies(app), ip, app.clock.now());
    if (reason !== null) throw permissionDenied({ detail: `Permission denied: ${reason}` });
  }
  return { kind: 'admin', userId: user.id, level: adminLevel(access, isListed), isConfigAdmin: isListed };
}
