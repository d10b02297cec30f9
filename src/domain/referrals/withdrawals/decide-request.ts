import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import {
  decidedWithdrawalNotFound,
  refusedToAdmin,
  withdrawalBalanceLow,
  withdrawalNotApproved,
  withdrawalProcessed,
  withdrawalSecondApprover,
  withdrawalUserMissing,
} from './errors.ts';
import { announceDecision, announceFirstApproval, endTexts } from './notices.ts';
import { endPending, findRequester, lockRequest, recordFirstApproval, updateRequest, type WithdrawalRequest } from './repo.ts';
import { needsSecondApproval } from './rules.ts';
import { lockRequester, type Requester } from './sums-repo.ts';

/** Decisions of administrators on withdrawal requests (spec 03 section 6). Each locks the user, then the request. */

export interface Decision {
  id: number;
  comment?: string | null | undefined;
}

interface Done {
  success: true;
}

const DONE: Done = { success: true };

/**
 * Approves a pending request: what it holds goes on to the account `withdrawal_payable`, and the user is notified. A request of before that
 * holds nothing (spec 10 M5) is taken from the balance. Above the
 * amount of REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS the first approval is only recorded, and another administrator has to approve too.
 * With an idempotency key the first answer is given again.
 * @throws AppError 400 not found | already processed | user deleted | balance too low | a second administrator is needed
 */
export function approveWithdrawal(app: App, actor: AdminActor, decision: Decision, idempotencyKey: string | null): Promise<Done> {
  const once = { key: idempotencyKey, operation: 'admin.withdrawals.approve', input: decision };
  return runOnce(app, actor, once, (t) => approve(t, actor, decision.id, decision.comment ?? null));
}

async function approve(t: App, actor: AdminActor, id: number, comment: string | null): Promise<Done> {
  const { request, user } = await lockForDecision(t, actor, id);
  const { amountKopeks } = request;
  if (request.status !== 'pending') throw await refusedToAdmin(t, actor, withdrawalProcessed);
  if (user.status === 'deleted') throw await refusedToAdmin(t, actor, withdrawalUserMissing);
  const isReserved = request.reserveTransactionId !== null;
  if (!isReserved && user.balanceKopeks < amountKopeks) throw await refusedToAdmin(t, actor, withdrawalBalanceLow);
  const now = t.clock.now();
  if (needsSecondApproval(amountKopeks, t.settings.get('REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS'))) {
    if (request.firstApprovedBy === actor.userId) throw await refusedToAdmin(t, actor, withdrawalSecondApprover);
    if (request.firstApprovedBy === null) {
      await recordFirstApproval(t.db, id, { adminId: actor.userId, comment, now });
      t.audit?.record({
        before: { status: 'pending', firstApprovedBy: null },
        after: { status: 'pending', firstApprovedBy: actor.userId },
      });
      await announceFirstApproval(t, request, user, actor.userId);
      return DONE;
    }
  }
  const posting = await postMovement(t, {
    userId: user.id,
    type: 'withdrawal',
    amountKopeks: -amountKopeks,
    ...(isReserved ? { insteadOfWallet: { kind: 'withdrawal_hold', requestId: id } } : {}),
    contra: { kind: 'withdrawal_payable' },
    paymentMethod: null,
    description: text(user.language, 'withdrawals.transaction', { request_id: id }),
  });
  if (posting.outcome !== 'posted') throw new Error(`an approved withdrawal was ${posting.outcome}`);
  const adminComment = comment ?? request.firstComment;
  const { transactionId, balanceKopeks } = posting;
  await updateRequest(t.db, id, {
    status: 'approved',
    processedBy: actor.userId,
    processedAt: now,
    adminComment,
    transactionId,
  });
  t.audit?.record({
    before: { status: 'pending', balanceKopeks: user.balanceKopeks },
    after: { status: 'approved', balanceKopeks, transactionId },
  });
  await announceDecision(t, user, { status: 'approved', amountKopeks, comment: adminComment });
  return DONE;
}

/**
 * Rejects a pending request: what it holds goes back to the balance, and the user is notified. With an idempotency key the first answer is given again.
 * @throws AppError 400 not found | already processed
 */
export function rejectWithdrawal(app: App, actor: AdminActor, decision: Decision, idempotencyKey: string | null): Promise<Done> {
  const once = { key: idempotencyKey, operation: 'admin.withdrawals.reject', input: decision };
  return runOnce(app, actor, once, async (t) => {
    const { id, comment: adminComment = null } = decision;
    const { request, user } = await lockForDecision(t, actor, id);
    if (request.status !== 'pending') throw await refusedToAdmin(t, actor, withdrawalProcessed);
    const processedAt = t.clock.now();
    await endPending(t.db, { id, userId: user.id, status: 'rejected' }, endTexts(user.language, id), processedAt);
    await updateRequest(t.db, id, { processedBy: actor.userId, processedAt, adminComment });
    t.audit?.record({ before: { status: 'pending' }, after: { status: 'rejected' } });
    await announceDecision(t, user, { status: 'rejected', amountKopeks: request.amountKopeks, comment: adminComment });
    return DONE;
  });
}

/**
 * Records that an approved request was paid out: the amount leaves `withdrawal_payable` by a movement that lists do not show, because the
 * approval has taken it from the balance. With an idempotency key the first answer is given again.
 * @throws AppError 400 not found | already processed | not approved
 */
export function completeWithdrawal(app: App, actor: AdminActor, id: number, idempotencyKey: string | null): Promise<Done> {
  const once = { key: idempotencyKey, operation: 'admin.withdrawals.complete', input: { id } };
  return runOnce(app, actor, once, async (t) => {
    const { request, user } = await lockForDecision(t, actor, id);
    if (request.status === 'completed') throw await refusedToAdmin(t, actor, withdrawalProcessed);
    if (request.status !== 'approved') throw await refusedToAdmin(t, actor, withdrawalNotApproved);
    const posting = await postMovement(t, {
      userId: user.id,
      type: 'withdrawal',
      amountKopeks: -request.amountKopeks,
      insteadOfWallet: { kind: 'withdrawal_payable' },
      contra: { kind: 'withdrawal_payout' },
      // Unique together with the id, so that a request is paid out once.
      paymentMethod: 'payout',
      externalId: `withdrawal:${id}`,
      description: text(user.language, 'withdrawals.transaction', { request_id: id }),
      isInternal: true,
    });
    if (posting.outcome !== 'posted') throw new Error(`the payout of a withdrawal was ${posting.outcome}`);
    await updateRequest(t.db, id, {
      status: 'completed',
      processedBy: actor.userId,
      processedAt: t.clock.now(),
      payoutTransactionId: posting.transactionId,
      // Retained until now for the payout; everything else personal went with the account (spec 01 H18).
      ...(user.status === 'deleted' ? { paymentDetails: null } : {}),
    });
    t.audit?.record({
      before: { status: 'approved' },
      after: { status: 'completed', payoutTransactionId: posting.transactionId },
    });
    return DONE;
  });
}

async function lockForDecision(t: App, actor: AdminActor, id: number): Promise<{ request: WithdrawalRequest; user: Requester }> {
  const userId = await findRequester(t.db, id);
  if (userId === null) throw await refusedToAdmin(t, actor, decidedWithdrawalNotFound);
  const user = await lockRequester(t.db, userId);
  const request = user && (await lockRequest(t.db, id, userId));
  // The accounts were merged since it was read; the request is the other user's now.
  if (!request) throw await refusedToAdmin(t, actor, withdrawalUserMissing);
  return { request, user };
}
