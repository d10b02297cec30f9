import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { applyManualChange, lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { ENDED_BY_DECISION } from '../../subscriptions/rules/status.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { applyStatus } from '../account/change-status.ts';
import { lockUser } from '../account/repo.ts';
import { attemptPush, NO_PANEL_SIDE, type PanelAttempt } from '../panel/attempt-now.ts';
import { isActivePaid } from './rules.ts';

export interface DisabledUser {
  isSubscriptionDisabled: boolean;
  panel: PanelAttempt;
}

/**
 * Blocks a user, whose access at the panel ends, and switches the subscription off unless it is paid and running (spec 01 section 11.2);
 * that one has access again when the user is unblocked (08 P15). One that was switched off stays off: a daily subscription that stopped
 * for insufficient funds would otherwise be resumed automatically.
 * @throws AppError 404 'User not found' | 403 (spec 01 H5)
 */
export async function disableUser(app: App, actor: AdminActor, userId: number, reason: string | null): Promise<DisabledUser> {
  await guardTarget(app, actor, userId, 'removal');
  const { disabledId, pushedId } = await inTransaction(app, async (t) => {
    const user = await lockUser(t.db, userId);
    if (!user) throw userNotFound();
    const subscription = (await lockUserSubscription(t, userId)) ?? null;
    const isSpared = subscription === null || isActivePaid(subscription, t.clock.now());
    if (!isSpared) await applyManualChange(t, subscription.id, { changes: { status: 'disabled', ...ENDED_BY_DECISION } });
    await applyStatus(t, userId, user.status, 'blocked', reason);
    const before = subscription && auditView(subscription);
    const after = isSpared ? before : { subscription: 'disabled', ...ENDED_BY_DECISION };
    t.audit?.record({
      before: { status: user.status, ...(before ?? { subscription: null }) },
      after: { status: 'blocked', ...(after ?? { subscription: null }), reason },
    });
    return { disabledId: isSpared ? null : subscription.id, pushedId: subscription?.id ?? null };
  });
  const panel = pushedId === null ? NO_PANEL_SIDE : await attemptPush(app, pushedId);
  return { isSubscriptionDisabled: disabledId !== null, panel };
}

/** The fields of a subscription that blocking may change. */
function auditView({ status, autopayEnabled, isDailyPaused }: Subscription) {
  return { subscription: status, autopayEnabled, isDailyPaused };
}
