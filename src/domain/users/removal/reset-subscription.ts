import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { requestPanelUserRemoval } from '../../provisioning/request-provisioning.ts';
import { lockUserSubscription, removeManually } from '../../subscriptions/manual/manual-changes.ts';
import { lockUser } from '../account/repo.ts';
import { attemptRemoval, NO_PANEL_SIDE, type PanelAttempt } from '../panel/attempt-now.ts';
import { isActivePaid } from './rules.ts';

export interface ResetSubscription {
  isDeleted: boolean;
  panel: PanelAttempt;
}

interface ResetRequest {
  /** A paid and running one stays. */
  sparesActivePaid: boolean;
  disablesInPanel: boolean;
  reason: string | null;
}

/**
 * Deletes a user's trial or ended subscription and disables the panel user, so that a trial can be taken again; a subscription that is
 * paid and running stays (spec 01 section 11.2).
 * @throws AppError 404 'User not found' | 403 (H5)
 */
export function resetTrial(app: App, actor: AdminActor, userId: number, reason: string | null): Promise<ResetSubscription> {
  return reset(app, actor, userId, { sparesActivePaid: true, disablesInPanel: true, reason });
}

/**
 * Deletes a user's subscription, a paid one too (spec 01 section 11.2). Payments stay in the history.
 * @throws AppError 404 'User not found' | 403 (H5)
 */
export function resetSubscription(
  app: App,
  actor: AdminActor,
  userId: number,
  request: { disablesInPanel: boolean; reason: string | null },
): Promise<ResetSubscription> {
  return reset(app, actor, userId, { ...request, sparesActivePaid: false });
}

async function reset(app: App, actor: AdminActor, userId: number, request: ResetRequest): Promise<ResetSubscription> {
  await guardTarget(app, actor, userId, 'change');
  const outcome = await inTransaction(app, async (t) => {
    const user = await lockUser(t.db, userId);
    if (!user) throw userNotFound();
    const subscription = (await lockUserSubscription(t, userId)) ?? null;
    if (!subscription || (request.sparesActivePaid && isActivePaid(subscription, t.clock.now()))) return null;
    await removeManually(t, userId);
    const { status, isTrial, endDate } = subscription;
    t.audit?.record({ before: { status, isTrial, endDate: endDate.toISOString() }, after: null });
    if (!request.disablesInPanel || user.vpnpanelUuid === null) return { panelUuid: null };
    await requestPanelUserRemoval(t, user.vpnpanelUuid, 'disable');
    return { panelUuid: user.vpnpanelUuid };
  });
  const panelUuid = outcome?.panelUuid ?? null;
  const panel = panelUuid === null ? NO_PANEL_SIDE : await attemptRemoval(app, panelUuid, 'disable');
  return { isDeleted: outcome !== null, panel };
}
