import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError, refusal, rethrowUnavailable } from '../../core/errors.ts';
import { moveOrDrop } from '../../core/short-lived.ts';
import { forgetAccess } from '../access/effective-access.ts';
import { keepContestWins } from '../engagement/daily-contests/play-contest.ts';
import { forgetMutualContestEvents, renewContestAmounts } from '../engagement/referral-contests/scores.ts';
import { forgetSessionUser } from '../identity/authenticate.ts';
import { findUserById } from '../identity/find-user.ts';
import { isOfferVoid, MERGE_TOKEN_SECONDS, peekMergeToken, recordFailedMerge, takeMergeToken } from '../identity/merge-tokens.ts';
import { authMethods, secretHash } from '../identity/rules.ts';
import { closeAllSessions, openSession, type SignIn } from '../identity/sessions/sessions.ts';
import { postMovement } from '../ledger/post-movement.ts';
import './jobs.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { readMethods, secondFactorRequired } from '../identity/second-factor/policy.ts';
import type { UserRecord } from '../identity/types.ts';
import { transferPanelUser } from '../provisioning/panel-user.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { recordRemoval } from '../provisioning/sync/treat-absent.ts';
import { deleteMutualEarnings } from '../referrals/register-referral.ts';
import { moveDebt } from '../referrals/rewards.ts';
import { deleteSubscription, moveSubscription } from '../subscriptions/expire-subscriptions.ts';
import { actualStatus } from '../subscriptions/rules/status.ts';
import { cartKey } from '../subscriptions/saved-cart.ts';
import { choosePromoGroup, closeSecondary, moveReferrals, updatePrimary } from '../users/merged-account.ts';
import { OWNED_COLUMNS } from './owned-columns.ts';
import * as repo from './repo.ts';
import { findPreviewSubscription } from './repo.ts';
import type { MergedFields, MergePreview, MergePreviewUser, MergingUser, PanelAssets, SubscriptionPlan } from './types.ts';

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
    return await openSession(app, primaryId, { deviceInfo: 'merge', provedAt: null });
  } catch (error) {
    rethrowUnavailable(error);
    // The accounts are merged; the session begins with the second factor.
    if (isAppError(error) && error.code === secondFactorRequired.code) throw error;
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
  // A merge asks for the first part of the other account's sign-in only.
  if ((await readMethods(t, secondary.id)).length > 0) throw mergeNeedsFactorRemoved();

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
      formerMessengerId: secondary.messengerId,
      formerEmails: [secondary.email, secondary.emailChangeNew].flatMap((email) => (email === null ? [] : [email.toLowerCase()])),
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
 * as payment method: neither a payment from outside nor a bonus.
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

/**
 * Both accounts of a merge offer, and how long it may still be confirmed. Uses nothing up.
 * @throws AppError 404 'Merge token is invalid or expired' | 404 'One or both users not found'
 */
export async function previewMerge(app: App, token: string): Promise<MergePreview> {
  const merge = await peekMergeToken(app, token);
  if (!merge) throw mergeTokenUnknown();
  const [primary, secondary] = await Promise.all([
    findUserById(app, merge.primaryUserId),
    findUserById(app, merge.secondaryUserId),
  ]);
  if (!primary || !secondary) throw mergeUsersUnknown();
  if (await isOfferVoid(app, merge, secondary)) throw mergeTokenUnknown();
  const ageSeconds = Math.floor((app.clock.now().getTime() - merge.createdAt.getTime()) / SECOND_MS);
  return {
    primary: await previewUser(app, primary),
    secondary: await previewUser(app, secondary),
    expiresInSeconds: Math.max(0, MERGE_TOKEN_SECONDS - ageSeconds),
  };
}

async function previewUser(app: App, user: UserRecord): Promise<MergePreviewUser> {
  const subscription = await findPreviewSubscription(app.db, user.id);
  return {
    id: user.id,
    username: user.username,
    firstName: user.firstName,
    email: user.email,
    authMethods: authMethods(user),
    balanceKopeks: user.balanceKopeks,
    subscription: subscription && { ...subscription, status: actualStatus(subscription, app.clock.now()) },
    createdAt: user.createdAt,
  };
}

export const mergeTokenUnknown = refusal('merge_token_invalid', 404, 'Merge token is invalid or expired');

export const mergeTokenUsed = refusal('merge_token_used', 404, 'Merge token is invalid, expired, or already consumed');

export const mergeUsersUnknown = refusal('merge_users_not_found', 404, 'One or both users not found');

export const keptUserUnknown = refusal(
  'merge_keep_invalid',
  400,
  'keep_subscription_from must be one of the two user IDs being merged',
);

export const mergeImpossible = refusal(
  'merge_impossible',
  400,
  'Account merge cannot be completed. The accounts may have already been merged or deleted.',
);

export const mergeNeedsFactorRemoved = refusal(
  'merge_second_factor',
  400,
  'The other account has a second factor: sign in to it and remove the factor first',
);

const mergeFailed = refusal('merge_failed', 500, 'Account merge failed due to an internal error', (cause: unknown) => ({
  cause,
}));

const mergedUserUnreadable = refusal('merged_user_unreadable', 500, 'Failed to load merged user');

const mergeSessionFailed = refusal(
  'merge_session_failed',
  500,
  'Merge succeeded but failed to create new session',
  (cause: unknown) => ({ cause }),
);

// Pure rules of the account merge.

/** Ascending (spec 01 section 8, partner_status). */
const PARTNER_RANKS: readonly MergingUser['partnerStatus'][] = ['none', 'rejected', 'pending', 'approved'];

/**
 * The fields of the primary account after the merge. Identities fill empty fields only; the secondary's e-mail comes together with its
 * password and its verification, or not at all; a flag is set when one of the two has it.
 */
function mergedFields(
  primary: MergingUser,
  secondary: MergingUser,
  decided: { plan: SubscriptionPlan; referredById: number | null },
  now: Date,
): MergedFields {
  const { plan, referredById } = decided;
  const email = primary.email === null ? secondary : primary;
  const messenger = primary.messengerId === null ? secondary : primary;
  const offer = isActiveOffer(primary, now) ? primary : secondary;
  const panel = plan.panelFrom === null ? null : plan.panelFrom === 'primary' ? primary : secondary;
  return {
    messengerId: messenger.messengerId,
    // The pinned message is in the chat of that messenger account.
    lastPinnedMessageId: messenger.lastPinnedMessageId,
    googleId: primary.googleId ?? secondary.googleId,
    yandexId: primary.yandexId ?? secondary.yandexId,
    discordId: primary.discordId ?? secondary.discordId,
    vkId: primary.vkId ?? secondary.vkId,
    email: email.email,
    emailVerified: email.emailVerified,
    emailVerifiedAt: email.emailVerifiedAt,
    passwordHash: email.passwordHash,
    referredById,
    referralCommissionPercent: primary.referralCommissionPercent ?? secondary.referralCommissionPercent,
    partnerStatus: higherPartnerStatus(primary.partnerStatus, secondary.partnerStatus),
    restrictionTopup: primary.restrictionTopup || secondary.restrictionTopup,
    restrictionSubscription: primary.restrictionSubscription || secondary.restrictionSubscription,
    restrictionReason: primary.restrictionReason || secondary.restrictionReason,
    hasHadPaidSubscription: primary.hasHadPaidSubscription || secondary.hasHadPaidSubscription,
    hasMadeFirstTopup: primary.hasMadeFirstTopup || secondary.hasMadeFirstTopup,
    usedPromocodes: primary.usedPromocodes + secondary.usedPromocodes,
    autoPromoGroupAssigned: primary.autoPromoGroupAssigned || secondary.autoPromoGroupAssigned,
    autoPromoGroupThresholdKopeks: Math.max(primary.autoPromoGroupThresholdKopeks, secondary.autoPromoGroupThresholdKopeks),
    promoOfferDiscountPercent: offer.promoOfferDiscountPercent,
    promoOfferDiscountSource: offer.promoOfferDiscountSource,
    promoOfferDiscountExpiresAt: offer.promoOfferDiscountExpiresAt,
    lifetimeUsedTrafficBytes: primary.lifetimeUsedTrafficBytes + secondary.lifetimeUsedTrafficBytes,
    vpnpanelUuid: panel?.vpnpanelUuid ?? null,
    trojanPassword: panel?.trojanPassword ?? null,
    vlessUuid: panel?.vlessUuid ?? null,
    ssPassword: panel?.ssPassword ?? null,
    lastVpnpanelSync: panel?.lastVpnpanelSync ?? null,
  };
}

/**
 * The possible referrers of the merged account, in order of preference: the primary's, then the secondary's; never one of the two. Whether
 * a candidate was invited by one of them, which would form a cycle, the caller checks in the database.
 */
export function referrerCandidates(primary: MergingUser, secondary: MergingUser): number[] {
  const candidates = [primary.referredById, secondary.referredById];
  return candidates.filter((id): id is number => id !== null && id !== primary.id && id !== secondary.id);
}

/** The later in the order none, rejected, pending, approved. */
export function higherPartnerStatus(one: MergingUser['partnerStatus'], other: MergingUser['partnerStatus']) {
  return PARTNER_RANKS.indexOf(one) >= PARTNER_RANKS.indexOf(other) ? one : other;
}

function isActiveOffer(user: MergingUser, now: Date): boolean {
  const { promoOfferDiscountPercent: percent, promoOfferDiscountExpiresAt: expiresAt } = user;
  return percent > 0 && (expiresAt === null || expiresAt > now);
}

/**
 * Decides which subscription and which panel user stay. An account has one panel user: that of the retained subscription, else (it was
 * not provisioned yet) the other one, so that no push can find by name a panel user that is being deleted.
 * @param keepsSecondary decides only where both have a subscription
 */
export function planSubscriptions(primary: PanelAssets, secondary: PanelAssets, keepsSecondary: boolean): SubscriptionPlan {
  const isMoved = secondary.subscriptionId !== null && (primary.subscriptionId === null || keepsSecondary);
  const [retained, other] = isMoved ? [secondary, primary] : [primary, secondary];
  const [retainedName, otherName] = isMoved ? (['secondary', 'primary'] as const) : (['primary', 'secondary'] as const);
  const panelFrom = retained.panelUuid !== null ? retainedName : other.panelUuid !== null ? otherName : null;
  return {
    retainedSubscriptionId: retained.subscriptionId,
    deletedSubscriptionId: other.subscriptionId,
    isMoved,
    panelFrom,
    isPanelReused: panelFrom === otherName,
    abandonedPanelUuid: panelFrom === retainedName ? other.panelUuid : null,
  };
}
