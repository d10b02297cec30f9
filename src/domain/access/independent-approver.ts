import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { listUnconditionalPolicies } from './effective-access.ts';
import { accessOf, denialReason } from './permissions.ts';
import { listAccountsOf, listRightsSources } from './rights-sources.ts';
import { listRolesSince } from './role-repo.ts';

export const approverDependent = refusal(
  'approver_dependent',
  403,
  'Your rights come from the administrator who asks for this: somebody else has to decide',
);
export const approverRightsTooNew = refusal(
  'approver_rights_too_new',
  403,
  'You had no right to this when it was asked for: somebody else has to decide',
);

/**
 * Requires that an administrator can be the second one of two (spec 01 section 4.8): the rights do not come from the first, directly or
 * through others, and are older than what is decided, so that nobody is made an approver for it. Administrators of ADMIN_IDS and ADMIN_EMAILS
 * have their rights from the configuration.
 * @param request who asked, null = no administrator; when; the permission that the action needs
 * @throws AppError 403 approver_dependent | 403 approver_rights_too_new
 */
export async function requireIndependentApprover(
  t: App,
  actor: AdminActor,
  request: { requesterId: number | null; requestedAt: Date; permission: string },
): Promise<void> {
  if (actor.isConfigAdmin) return;
  const { requesterId, requestedAt, permission } = request;
  if (requesterId !== null) {
    const requesters = await listAccountsOf(t.db, requesterId);
    const sources = await listRightsSources(t.db, actor.userId);
    if (sources.some((id) => requesters.includes(id))) throw approverDependent();
  }
  const now = t.clock.now();
  const access = accessOf(await listRolesSince(t.db, actor.userId, now, requestedAt));
  if (denialReason(permission, access, await listUnconditionalPolicies(t), null, now) !== null) throw approverRightsTooNew();
}
