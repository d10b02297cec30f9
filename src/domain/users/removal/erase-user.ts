import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, rethrowUnavailable } from '../../../core/errors.ts';
import { forgetAccess } from '../../access/read-effective-access.ts';
import { forgetSessionUser } from '../../identity/authenticate-user.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { closeAllSessions } from '../../identity/sessions/refresh-session.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { requestPanelUserRemoval } from '../../provisioning/request-provisioning.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { lockUser } from '../account/repo.ts';
import { attemptRemoval, NO_PANEL_SIDE, type PanelAttempt } from '../panel/attempt-now.ts';
import { anonymiseUser, cancelWithdrawals, releaseUser } from './repo.ts';

export interface ErasedUser {
  isErased: boolean;
  panel: PanelAttempt;
  /** The panel user is still to be deleted by the queue. */
  isPanelPending: boolean;
}

/**
 * Erases an account (spec 01 section 11.2, H18): all personal data is deleted, transactions, payments and ledger remain with an
 * anonymised user, and the remaining balance, with what pending withdrawal requests held, is written off by a movement. All or nothing in the database; if requested, the panel user is
 * deleted by the queue after commit.
 * @returns `isErased` false when the database refused; nothing has changed then
 * @throws AppError 404 'User not found' | 403 (H5)
 */
export async function eraseUser(
  app: App,
  actor: AdminActor,
  userId: number,
  request: { deletesFromPanel: boolean; reason: string | null },
): Promise<ErasedUser> {
  await guardTarget(app, actor, userId, 'removal');
  let before: { panelUuid: string | null; hadSubscription: boolean };
  try {
    before = await inTransaction(app, (t) => erase(t, userId, request));
  } catch (error) {
    if (isAppError(error)) throw error;
    rethrowUnavailable(error);
    app.log.error({ err: error, userId }, 'admin users: full deletion failed and was rolled back');
    return { isErased: false, panel: NO_PANEL_SIDE, isPanelPending: false };
  }
  const { panelUuid, hadSubscription } = before;
  if (!request.deletesFromPanel) return { isErased: true, panel: NO_PANEL_SIDE, isPanelPending: false };
  // A subscription without a panel user: its first push may be under way, and will remove what it creates.
  if (panelUuid === null) return { isErased: true, panel: NO_PANEL_SIDE, isPanelPending: hadSubscription };
  const panel = await attemptRemoval(app, panelUuid, 'delete');
  return { isErased: true, panel, isPanelPending: !panel.isDone };
}

async function erase(
  t: App,
  userId: number,
  request: { deletesFromPanel: boolean; reason: string | null },
): Promise<{ panelUuid: string | null; hadSubscription: boolean }> {
  const user = await lockUser(t.db, userId);
  if (!user) throw userNotFound();
  const hadSubscription = (await lockUserSubscription(t, userId)) != null;
  const balanceKopeks = await cancelWithdrawals(t.db, userId, t.clock.now());
  if (balanceKopeks > 0) {
    await postMovement(t, {
      userId,
      type: 'withdrawal',
      amountKopeks: -balanceKopeks,
      contra: { kind: 'manual_adjustment' },
      paymentMethod: 'manual',
      description: 'Balance written off: account deleted',
    });
  }
  await closeAllSessions(t, userId);
  await releaseUser(t.db, userId);
  await anonymiseUser(t.db, userId, t.clock.now());
  await forgetSessionUser(t, userId);
  await forgetAccess(t, [userId]);
  if (request.deletesFromPanel && user.vpnpanelUuid !== null) await requestPanelUserRemoval(t, user.vpnpanelUuid, 'delete');
  t.audit?.record({ before: { status: user.status, balanceKopeks }, after: null });
  return { panelUuid: user.vpnpanelUuid, hadSubscription };
}
