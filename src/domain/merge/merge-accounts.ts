import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError, rethrowUnavailable } from '../../core/errors.ts';
import { moveOrDrop } from '../../core/short-lived.ts';
import { forgetAccess } from '../access/read-effective-access.ts';
import { keepContestWins } from '../engagement/daily-contests/keep-wins.ts';
import { forgetMutualContestEvents, renewContestAmounts } from '../engagement/referral-contests/score-referral.ts';
import { forgetSessionUser } from '../identity/authenticate-user.ts';
import { findUserById } from '../identity/find-user.ts';
import { isOfferVoid, recordFailedMerge, takeMergeToken } from '../identity/merge-tokens.ts';
import { secretHash } from '../identity/rules.ts';
import { openSession, type SignIn } from '../identity/sessions/open-session.ts';
import { closeAllSessions } from '../identity/sessions/refresh-session.ts';
import { postMovement } from '../ledger/post-movement.ts';
import './jobs.ts';
import { transferPanelUser } from '../provisioning/panel-user-transfer.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { recordRemoval } from '../provisioning/sync/removed-users.ts';
import { deleteMutualEarnings } from '../referrals/mutual-earnings.ts';
import { moveDebt } from '../referrals/take-back-rewards.ts';
import { deleteSubscription, moveSubscription } from '../subscriptions/change-owner.ts';
import { cartKey } from '../subscriptions/saved-cart.ts';
import { choosePromoGroup, closeSecondary, moveReferrals, updatePrimary } from '../users/merged-account.ts';
import {
  keptUserUnknown,
  mergedUserUnreadable,
  mergeFailed,
  mergeImpossible,
  mergeSessionFailed,
  mergeTokenUsed,
} from './errors.ts';
import { OWNED_COLUMNS } from './owned-columns.ts';
import * as repo from './repo.ts';
import { mergedFields, planSubscriptions, referrerCandidates } from './rules.ts';
import type { MergingUser, SubscriptionPlan } from './types.ts';

export interface MergeRequest {
  token: string;
  /** Id of the account whose subscription is retained when both have one. */
  keepSubscriptionFrom: number;
}

/**
 * Merges two accounts (spec 01 section 8). All rows of the secondary become the primary's in one transaction, in which the token is
 * used up as well: a failure rolls everything back, and the token can be used again (three times). Jobs update the panel after the
 * commit (H17). The sessions of both end; the primary gets a new one.
 * @throws AppError 404 for an unknown or used token | 400 for a foreign `keepSubscriptionFrom` or accounts that are not active | 500
 */
export async function mergeAccounts(app: App, request: MergeRequest): Promise<SignIn> {
  const primaryId = await mergeOrRestore(app, request);
  const merged = await findUserById(app, primaryId);
  if (!merged) throw mergedUserUnreadable();
  try {
    return await openSession(app, primaryId, { deviceInfo: 'merge' });
  } catch (error) {
    rethrowUnavailable(error);
    app.log.error({ err: error, userId: primaryId }, 'accounts were merged, but no session could be opened');
    throw mergeSessionFailed(error);
  }
}

async function mergeOrRestore(app: App, request: MergeRequest): Promise<number> {
  try {
    return await inTransaction(app, (t) => mergeInTransaction(t, request));
  } catch (error) {
    rethrowUnavailable(error);
    const isRefusal = isAppError(error);
    if (isRefusal && error.status === 404) throw error;
    // Any failure: the failure of the merge itself is answered.
    await recordFailedMerge(app, request.token).catch((failure: unknown) =>
      app.log.warn({ err: failure }, 'a failed merge was not counted'),
    );
    if (isRefusal && error.status === 400) throw error;
    app.log.error({ err: error }, 'an account merge failed and was rolled back');
    throw mergeFailed(error);
  }
}

async function mergeInTransaction(t: App, { token, keepSubscriptionFrom }: MergeRequest): Promise<number> {
  const offer = await takeMergeToken(t, token);
  if (!offer) throw mergeTokenUsed();
  const { primaryUserId, secondaryUserId } = offer;
  if (keepSubscriptionFrom !== primaryUserId && keepSubscriptionFrom !== secondaryUserId) throw keptUserUnknown();
  const users = await repo.lockUsers(t.db, [primaryUserId, secondaryUserId]);
  const primary = users.find((user) => user.id === primaryUserId);
  const secondary = users.find((user) => user.id === secondaryUserId);
  if (!primary || !secondary || primary === secondary) throw mergeImpossible();
  // A merge must not lift a block nor restore a deleted account (spec 01 H17).
  if (primary.status !== 'active' || secondary.status !== 'active') throw mergeImpossible();
  if (await isOfferVoid(t, offer, secondary)) throw mergeTokenUsed();

  const plan = await planOf(t, primary, secondary, keepSubscriptionFrom === secondary.id);
  const referredById = await referrerOf(t, primary, secondary);
  const moved: Record<string, number> = { transactions: await moveMoney(t, primary, secondary) };
  await moveSubscriptions(t, primary, secondary, plan);
  await moveDebt(t, secondary.id, primary.id);
  await deleteMutualEarnings(t.db, secondary.id, primary.id);
  await forgetMutualContestEvents(t, secondary.id, primary.id);
  await keepContestWins(t, secondary.id, primary.id);
  for (const owned of OWNED_COLUMNS) {
    const count = await repo.transferColumn(t.db, owned, secondary.id, primary.id);
    if (count > 0) moved[owned.table] = (moved[owned.table] ?? 0) + count;
  }
  await renewContestAmounts(t, primary.id);
  // In this order: a unique value must be free before it is used again, and no step may form a cycle of referrers.
  const fields = mergedFields(primary, secondary, { plan, referredById }, t.clock.now());
  await closeSecondary(t.db, secondary.id, t.clock.now());
  await updatePrimary(t.db, primary.id, fields, t.clock.now());
  moved.users = await moveReferrals(t.db, secondary.id, primary.id);
  await choosePromoGroup(t.db, primary.id);
  await closeSessions(t, [primary.id, secondary.id]);
  const mergeId = await repo.insertMerge(
    t.db,
    {
      tokenHash: secretHash(token),
      primaryUserId,
      secondaryUserId,
      retainedSubscriptionOf: plan.retainedSubscriptionId === null ? null : plan.isMoved ? secondary.id : primary.id,
      balanceMovedKopeks: secondary.balanceKopeks,
      moved,
      abandonedPanelUuid: plan.abandonedPanelUuid,
    },
    t.clock.now(),
  );
  if (mergeId === null) throw mergeTokenUsed();
  await requestPanelChanges(t, { mergeId, secondary, plan, messengerId: fields.messengerId });
  return primary.id;
}

/** The first candidate who was not invited by one of the two. */
async function referrerOf(t: App, primary: MergingUser, secondary: MergingUser): Promise<number | null> {
  for (const id of referrerCandidates(primary, secondary)) {
    if (!(await repo.isInvitedByEither(t.db, id, [primary.id, secondary.id]))) return id;
  }
  return null;
}

async function planOf(t: App, primary: MergingUser, secondary: MergingUser, keepsSecondary: boolean): Promise<SubscriptionPlan> {
  const subscriptions = await repo.lockSubscriptions(t.db, [primary.id, secondary.id]);
  const assetsOf = (user: MergingUser) => ({
    subscriptionId: subscriptions.find((subscription) => subscription.userId === user.id)?.id ?? null,
    panelUuid: user.vpnpanelUuid,
  });
  return planSubscriptions(assetsOf(primary), assetsOf(secondary), keepsSecondary);
}

/**
 * Moves the balance by two new movements, which lists do not show because nothing was earned or spent; then the history. `balance`
 * as payment method: neither a payment from outside nor a bonus (spec 04 section 0.2).
 */
async function moveMoney(t: App, primary: MergingUser, secondary: MergingUser): Promise<number> {
  const kopeks = secondary.balanceKopeks;
  if (kopeks > 0) {
    const common = { contra: { kind: 'account_merge' }, paymentMethod: 'balance', isInternal: true } as const;
    const movements = [
      {
        ...common,
        userId: secondary.id,
        type: 'withdrawal',
        amountKopeks: 0 - kopeks,
        description: `Merged into user ${primary.id}`,
      },
      { ...common, userId: primary.id, type: 'deposit', amountKopeks: kopeks, description: `Merged from user ${secondary.id}` },
    ] as const;
    for (const movement of movements) {
      const { outcome } = await postMovement(t, movement);
      if (outcome !== 'posted') throw new Error(`a movement of a merge was ${outcome}`);
    }
  }
  return repo.moveTransactions(t.db, secondary.id, primary.id);
}

async function moveSubscriptions(t: App, primary: MergingUser, secondary: MergingUser, plan: SubscriptionPlan): Promise<void> {
  if (plan.deletedSubscriptionId !== null) await deleteSubscription(t.db, plan.deletedSubscriptionId);
  if (plan.isMoved && plan.retainedSubscriptionId !== null) {
    await moveSubscription(t.db, plan.retainedSubscriptionId, primary.id, t.clock.now());
  }
  // The secondary's saved order is moved, unless the primary has one or it extends a subscription that was deleted.
  const carts = { from: cartKey(secondary.id), to: cartKey(primary.id) };
  await moveOrDrop(t, carts, { field: 'subscription_id', expected: plan.retainedSubscriptionId });
}

/** Makes every token of both accounts void and clears what instances have cached of them (spec 01 H8). */
async function closeSessions(t: App, userIds: readonly [number, number]): Promise<void> {
  for (const userId of userIds) {
    await closeAllSessions(t, userId);
    await forgetSessionUser(t, userId);
  }
  await forgetAccess(t, userIds);
}

interface PanelChanges {
  mergeId: number;
  secondary: MergingUser;
  plan: SubscriptionPlan;
  /** Of the merged account. */
  messengerId: number | null;
}

/** Sends the jobs that remove the panel user without an owner and update the retained one after the commit (spec 01 H17). */
async function requestPanelChanges(t: App, { mergeId, secondary, plan, messengerId }: PanelChanges): Promise<void> {
  if (plan.abandonedPanelUuid !== null) {
    await recordRemoval(t, plan.abandonedPanelUuid);
    await t.jobs.send('merge.panel', { mergeId });
  }
  const former = secondary.messengerId;
  if (plan.panelFrom === 'secondary' && secondary.vpnpanelUuid !== null && former !== null && former !== messengerId) {
    await transferPanelUser(t, secondary.vpnpanelUuid, former);
  }
  if (plan.retainedSubscriptionId === null) return;
  const options = { resetTraffic: plan.isPanelReused, resetDevices: plan.isPanelReused };
  await requestProvisioning(t, plan.retainedSubscriptionId, options);
}
