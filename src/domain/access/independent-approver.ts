import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { listUnconditionalPolicies } from './effective-access.ts';
import { accessOf, denialReason, isDenialOf } from './permissions.ts';
import { listAccountsOf, listLiftedDenials, listRightsSources } from './rights-sources.ts';
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
 * through others, and are older than what is decided, so that nobody is made an approver for it. So it is with
 * denials that were lifted, by a policy or with a role. Administrators of ADMIN_IDS and ADMIN_EMAILS
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
  const requesters = requesterId === null ? [] : await listAccountsOf(t.db, requesterId);
  const sources = await listRightsSources(t.db, actor.userId);
  if (sources.some((id) => requesters.includes(id))) throw approverDependent();
  const now = t.clock.now();
  const denials = (await listLiftedDenials(t.db, actor.userId, now)).filter((denial) => isDenialOf(denial, permission));
  if (denials.some(({ sources }) => sources.some((id) => requesters.includes(id)))) throw approverDependent();
  if (denials.some(({ liftedAt }) => liftedAt > requestedAt)) throw approverRightsTooNew();
  const access = accessOf(await listRolesSince(t.db, actor.userId, now, requestedAt));
  if (denialReason(permission, access, await listUnconditionalPolicies(t), null, now) !== null) throw approverRightsTooNew();
}
