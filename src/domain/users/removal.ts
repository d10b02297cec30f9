import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { isForeignKeyViolation } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError, refusal, rethrowUnavailable } from '../../core/errors.ts';
import { forgetAccess, isConfigAdmin } from '../access/effective-access.ts';
import { forgetSessionUser } from '../identity/authenticate.ts';
import { userNotFound } from '../identity/errors.ts';
import { guardTarget } from '../identity/find-user.ts';
import { closeAllSessions } from '../identity/sessions/sessions.ts';
import { postMovement } from '../ledger/post-movement.ts';
import { recordMonitoring } from '../monitoring/monitoring-log.ts';
import { requestPanelUserRemoval } from '../provisioning/request-provisioning.ts';
import { applyManualChange, lockUserSubscription, removeManually } from '../subscriptions/manual/manual-changes.ts';
import { ENDED_BY_DECISION, isActive } from '../subscriptions/rules/status.ts';
import type { Subscription } from '../subscriptions/types.ts';
import { applyStatus } from './account/change-account.ts';
import { lockUser } from './account/repo.ts';
import { attemptPush, attemptRemoval, NO_PANEL_SIDE, type PanelAttempt } from './panel/panel-user.ts';
import {
  anonymiseUser,
  cancelReserves,
  deleteRow,
  hasFinancialHistory,
  type InactivePosition,
  listInactiveUsers,
  lockRemovable,
  releaseUser,
} from './removal-repo.ts';

export const hasHistory = refusal(
  'user_has_history',
  409,
  'User has dependent records and cannot be deleted; use full deletion instead',
);

/**
 * Deletes the row of a user without any financial history, with all rows that belong to it; the panel user is removed by the queue as
 * `VPNPANEL_USER_DELETE_MODE` says (spec 01 section 11.2, H18).
 * @throws AppError 404 'User not found' | 403 (H5) | 409 with a financial history
 */
export async function deleteUserRow(app: App, actor: AdminActor, userId: number, reason: string | null): Promise<void> {
  await guardTarget(app, actor, userId, 'removal');
  try {
    await inTransaction(app, async (t) => {
      const user = await lockUser(t.db, userId);
      if (!user) throw userNotFound();
      if (await hasFinancialHistory(t.db, userId)) throw hasHistory();
      if (user.vpnpanelUuid !== null) await requestPanelUserRemoval(t, user.vpnpanelUuid);
      await deleteRow(t.db, userId);
      await forgetSessionUser(t, userId);
      t.audit?.record({ before: { status: user.status }, after: null });
    });
  } catch (error) {
    if (isForeignKeyViolation(error)) throw hasHistory();
    throw error;
  }
  app.log.info({ userId, byUserId: actor.userId, reason }, 'admin users: row deleted');
}

/**
 * Blocks a user, whose access at the panel ends, and switches the subscription off unless it is paid and running (spec 01 section 11.2);
 * that one has access again when the user is unblocked (08 P15). One that was switched off stays off: a daily subscription that stopped
 * for insufficient funds would otherwise be resumed automatically.
 * @throws AppError 404 'User not found' | 403 (spec 01 H5)
 */
export async function disableUser(app: App, actor: AdminActor, userId: number, reason: string | null) {
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
) {
  await guardTarget(app, actor, userId, 'removal');
  let before: { panelUuid: string | null; hadSubscription: boolean };
  try {
    before = await inTransaction(app, (t) => eraseInTransaction(t, userId, request));
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

/** The database's part of it, for who has more to erase in the same transaction. @throws AppError 404 'User not found' */
export async function eraseInTransaction(
  t: App,
  userId: number,
  request: { deletesFromPanel: boolean; reason: string | null },
): Promise<{ panelUuid: string | null; hadSubscription: boolean }> {
  const user = await lockUser(t.db, userId);
  if (!user) throw userNotFound();
  const hadSubscription = (await lockUserSubscription(t, userId)) != null;
  const balanceKopeks = await cancelReserves(t.db, userId, t.clock.now());
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

interface ResetSubscription {
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
 * paid and running stays.
 * @throws AppError 404 'User not found' | 403 (spec 01 H5)
 */
export function resetTrial(app: App, actor: AdminActor, userId: number, reason: string | null): Promise<ResetSubscription> {
  return reset(app, actor, userId, { sparesActivePaid: true, disablesInPanel: true, reason });
}

/**
 * Deletes a user's subscription, a paid one too. Payments stay in the history.
 * @throws AppError 404 'User not found' | 403 (spec 01 H5)
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

/** The hour (UTC) in which the job runs. */
const HOUR = 3;
const DAYS_A_MONTH = 30;
/** Users in one transaction: few, so that other transactions wait only shortly for their locks. */
const BATCH = 50;

/**
 * Marks users deleted who were not seen for `INACTIVE_USER_DELETE_MONTHS` × 30 days, as an administrator's soft deletion does
 * (spec 01 section 17). Not deleted (H22): users with balance, a subscription with time left, a gift or purchase that is not delivered, a
 * role or a partnership; and administrators of the configuration. 0 months = never.
 *
 * Reads page by page through an index; each page is a short transaction that checks the conditions again under lock, so that a user who
 * has returned since is not deleted. If it is stopped, the next night continues. Outside its hour it does nothing.
 * @returns how many were marked
 */
export async function deleteInactiveUsers(app: App, signal?: AbortSignal): Promise<number> {
  const months = app.settings.get('INACTIVE_USER_DELETE_MONTHS');
  if (months <= 0 || app.clock.now().getUTCHours() !== HOUR) return 0;
  const before = addDays(app.clock.now(), -months * DAYS_A_MONTH);
  let deleted = 0;
  for (let after: InactivePosition | null = null; !signal?.aborted; ) {
    const page: InactivePosition[] = await listInactiveUsers(app.db, { before, after, limit: BATCH });
    if (page.length > 0) deleted += await deletePage(app, page, before);
    if (page.length < BATCH) break;
    after = page.at(-1)!;
  }
  if (deleted > 0) app.log.info({ users: deleted, months }, 'inactive users were marked deleted');
  await recordMonitoring(app, 'inactive_users_cleanup', { deleted_count: deleted });
  return deleted;
}

function deletePage(app: App, page: readonly InactivePosition[], before: Date): Promise<number> {
  return inTransaction(app, async (t) => {
    const userIds = page.map((user) => user.userId);
    const removable = await lockRemovable(t.db, userIds, before, t.clock.now());
    const deleted = removable.filter((user) => !isConfigAdmin(t, user));
    for (const { id } of deleted) await applyStatus(t, id, 'active', 'deleted');
    return deleted.length;
  });
}

/** Paid for and running: such a subscription is not disabled or reset together with the account. */
function isActivePaid(subscription: Pick<Subscription, 'isTrial' | 'status' | 'endDate'>, now: Date): boolean {
  return !subscription.isTrial && isActive(subscription, now);
}
