import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, DAY_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError, refusal } from '../../core/errors.ts';
import { recordCommand } from '../access/audit-log.ts';
import { requireIndependentApprover } from '../access/independent-approver.ts';
import { listAccountsOf } from '../access/rights-sources.ts';
import { guardTarget } from '../identity/find-user.ts';
import { requestRefund } from '../payments/refunds.ts';
import { postUserBalance } from '../users/account/change-balance.ts';
import {
  type ApprovalEnd,
  type ApprovalFilter,
  type ApprovalKind,
  deleteExempt,
  endApproval,
  findApproval,
  type ListedApproval,
  listApprovals,
  listOverdue,
  lockBalance,
} from './repo.ts';

export const approvalNotFound = refusal('approval_not_found', 404, 'Approval not found');
export const approvalDecided = refusal('approval_decided', 409, 'This was decided already');
export const approvalExpired = refusal('approval_expired', 409, 'The time to approve this is over');
export const approvalOfRequester = refusal(
  'approval_of_requester',
  403,
  'You asked for this: another administrator has to decide',
);
export const approvalImpossible = refusal('approval_impossible', 409, 'It cannot be carried out: The payment was never credited');
export const approvalOfOthers = refusal('approval_of_others', 403, 'Only who asked for this can withdraw it');

/** What an approver must have been allowed to do when it was requested. */
const ACTION_PERMISSION: Record<ApprovalKind, string> = { balance_change: 'users:balance', payment_refund: 'payments:edit' };

/** Newest first. */
export function readApprovals(app: App, filter: ApprovalFilter): Promise<{ items: ListedApproval[]; total: number }> {
  return listApprovals(app.db, filter);
}

/** @throws AppError 404 */
export async function readApproval(app: App, id: number): Promise<ListedApproval> {
  const found = await findApproval(app.db, id);
  if (!found) throw approvalNotFound();
  return found;
}

/**
 * Approves a waiting change and carries it out in the same transaction (spec 01 section 4.8). Of two approvers at once, one does it.
 * @throws AppError 404 | 409 decided, expired | 403 the requester, somebody whose rights come from the requester or are newer than the request |
 * 409 approval_impossible: the change itself was refused, and goes on waiting
 */
export async function approve(app: App, actor: AdminActor, id: number): Promise<ListedApproval> {
  const { userId, kind } = await readApproval(app, id);
  if (kind === 'balance_change') await guardTarget(app, actor, userId!, 'change');
  return inTransaction(app, async (t) => {
    const found = await lockWaiting(t, id);
    if (found.expiresAt! <= t.clock.now()) throw approvalExpired();
    const { createdAt: requestedAt } = found;
    const requesterId = requesterIdOf(found);
    if (requesterId !== null && (await listAccountsOf(t.db, actor.userId)).includes(requesterId)) throw approvalOfRequester();
    await requireIndependentApprover(t, actor, { requesterId, requestedAt, permission: ACTION_PERMISSION[found.kind] });
    await end(t, found, { status: 'approved', decidedBy: actor.userId, reason: null });
    try {
      await carryOut(t, actor, found);
    } catch (error) {
      // Any failure: a refusal of the change goes to the caller as one of the approval, everything else as it is; both roll back.
      throw isAppError(error)
        ? approvalImpossible({ detail: `It cannot be carried out: ${error.message}`, cause: error })
        : error;
    }
    return readApproval(t, id);
  });
}

/** Also of an account that was erased since: who depends on it still does. */
function requesterIdOf({ requesterId, requestedBy }: ListedApproval): number | null {
  const [, id] = /^admin:(\d+)$/.exec(requestedBy) ?? [];
  return requesterId ?? (id === undefined ? null : Number(id));
}

async function carryOut(t: App, actor: AdminActor, approval: ListedApproval): Promise<void> {
  const { id, userId, paymentId, amountKopeks, description, isShown, requestedBy } = approval;
  if (approval.kind === 'balance_change') {
    const change = await postUserBalance(t, actor, { userId: userId!, amountKopeks, description, isShown }, null);
    t.audit?.record({
      before: { status: 'waiting', requestedBy, balanceKopeks: change.oldBalanceKopeks },
      after: { status: 'approved', approvalId: id, balanceKopeks: change.newBalanceKopeks },
    });
    return;
  }
  const by = `${requestedBy}, approved by administrator ${actor.userId}`;
  const order = { paymentId: paymentId!, amountKopeks: -amountKopeks, reason: description ?? '', requestedBy: by };
  const { refundId, debitedKopeks } = await requestRefund(t, order);
  t.audit?.record({
    before: { status: 'waiting', requestedBy },
    after: { status: 'approved', approvalId: id, refundId, debitedKopeks },
  });
}

/**
 * Refuses a waiting change: nothing is carried out, and what it holds goes back to the balance.
 * @throws AppError 404 | 409 decided
 */
export function refuse(app: App, actor: AdminActor, id: number, reason: string): Promise<ListedApproval> {
  return endByAdmin(app, id, { status: 'refused', decidedBy: actor.userId, reason });
}

/** The same for the operator's command, with its row in the audit log. @throws AppError 404 | 409 */
export function refuseByCommand(app: App, operatorName: string, id: number, reason: string): Promise<ListedApproval> {
  return inTransaction(app, async (t) => {
    await end(t, await lockWaiting(t, id), { status: 'refused', decidedBy: null, reason });
    await recordCommand(t, operatorName, {
      ...{ command: `approvals refuse ${id}`, permission: 'approvals:decide', resourceId: `approval ${id}` },
      ...{ before: { status: 'waiting' }, after: { status: 'refused', reason } },
    });
    return readApproval(t, id);
  });
}

/** Withdraws what the administrator requested. @throws AppError 404 | 409 decided | 403 somebody else's */
export async function withdraw(app: App, actor: AdminActor, id: number): Promise<ListedApproval> {
  const { requesterId } = await readApproval(app, id);
  if (requesterId !== actor.userId) throw approvalOfOthers();
  return endByAdmin(app, id, { status: 'withdrawn', decidedBy: actor.userId, reason: null });
}

function endByAdmin(app: App, id: number, decision: ApprovalEnd): Promise<ListedApproval> {
  return inTransaction(app, async (t) => {
    await end(t, await lockWaiting(t, id), decision);
    t.audit?.record({ before: { status: 'waiting' }, after: { status: decision.status, reason: decision.reason } });
    return readApproval(t, id);
  });
}

/** Locks the user, then looks. @throws AppError 404 | 409 decided */
async function lockWaiting(t: App, id: number): Promise<ListedApproval> {
  const found = await lockIfWaiting(t, id);
  if (!found) throw approvalDecided();
  return found;
}

/** @returns null when it does not wait any more. @throws AppError 404 */
async function lockIfWaiting(t: App, id: number): Promise<ListedApproval | null> {
  const { userId } = await readApproval(t, id);
  if (userId !== null) await lockBalance(t.db, userId);
  const found = await readApproval(t, id);
  // Of accounts that were merged since, the next attempt locks the other user.
  return found.status === 'waiting' && found.userId === userId ? found : null;
}

/** @throws AppError 409 of two decisions at once, for the second */
async function end(t: App, { id, kind, userId, amountKopeks }: ListedApproval, decision: ApprovalEnd): Promise<void> {
  if (!(await endApproval(t.db, id, decision, t.clock.now()))) throw approvalDecided();
  const event = { approval_id: id, kind, user_id: userId, amount_kopeks: amountKopeks, status: decision.status };
  await t.events.emit('approval.decided', event, { audience: 'feed' });
}

const ENDED_AT_ONCE = 100;
/** Longer than the sums of the requests look back. */
const EXEMPT_MS = 2 * DAY_MS;

/** Ends what nobody has decided in time, and deletes what no sum reads any more. */
export async function endOverdueApprovals(app: App): Promise<void> {
  const now = app.clock.now();
  for (const id of await listOverdue(app.db, now, ENDED_AT_ONCE)) {
    await inTransaction(app, async (t) => {
      const found = await lockIfWaiting(t, id);
      if (found) await end(t, found, { status: 'expired', decidedBy: null, reason: null });
    });
  }
  await deleteExempt(app.db, addMs(now, -EXEMPT_MS));
}
