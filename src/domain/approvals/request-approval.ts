import { type Actor, type AdminActor, actorKey, type TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS } from '../../core/clock.ts';
import { isUniqueViolation } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { userNotFound } from '../identity/errors.ts';
import { guardTarget } from '../identity/find-user.ts';
import { runOnce } from '../ledger/run-once.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { type RefundOrder, requestRefund } from '../payments/refunds.ts';
import {
  adjustBalance,
  amountZero,
  type BalanceAdjustment,
  type BalanceChange,
  type BalanceRequest,
  balanceTooLow,
  changeUserBalance,
  postUserBalance,
} from '../users/account/change-balance.ts';
import type { UserView } from '../users/types.ts';
import {
  type ApprovalKind,
  insertApproval,
  lockBalance,
  type NewApproval,
  readRequestedRefund,
  reserveForApproval,
  sumWithoutApproval,
} from './repo.ts';

/** What the requester gets instead of the result. */
interface WaitingApproval {
  id: number;
  expiresAt: Date;
}

/** Changes of one requester within this time are summed, so that nobody stays below an amount by splitting. */
const SUM_MS = DAY_MS;

/** The amount above which a second administrator decides, in kopeks; 0 = none is needed. */
function limitOf({ settings }: App, kind: ApprovalKind): number {
  return settings.get(kind === 'balance_change' ? 'APPROVAL_BALANCE_CHANGE_KOPEKS' : 'APPROVAL_REFUND_KOPEKS');
}

/**
 * `changeUserBalance`, above APPROVAL_BALANCE_CHANGE_KOPEKS only after a second administrator has approved it (spec 01 section 4.8): then what it
 * would take is held, and `approval` says what waits.
 * @throws AppError 404 | 403 (spec 01 H5) | 400 the balance does not cover it
 */
export async function changeBalance(
  app: App,
  actor: AdminActor,
  request: BalanceRequest,
  idempotencyKey: string | null,
): Promise<BalanceChange & { approval: WaitingApproval | null }> {
  if (limitOf(app, 'balance_change') === 0)
    return { approval: null, ...(await changeUserBalance(app, actor, request, idempotencyKey)) };
  await guardTarget(app, actor, request.userId, 'change');
  const once = { key: idempotencyKey, operation: 'admin.users.change-balance', input: request };
  const { userId, amountKopeks, description, isShown } = request;
  const done = await runOnce<BalanceChange & { approval?: WaitingApproval | null }>(app, actor, once, async (t) => {
    const change = { kind: 'balance_change', userId, paymentId: null, amountKopeks, description, isShown } as const;
    if (await isWithinLimit(t, actor, change)) return postUserBalance(t, actor, request, null);
    const balance = await lockBalance(t.db, userId);
    if (!balance) throw userNotFound();
    const reserved = Math.max(0, -amountKopeks);
    if (reserved > balance.balanceKopeks) throw balanceTooLow(balance.balanceKopeks, amountKopeks);
    const approval = await openApproval(t, actor, change, reserved);
    t.audit?.record({ before: null, after: { approvalId: approval.id, status: 'waiting', amountKopeks } });
    return { oldBalanceKopeks: balance.balanceKopeks, newBalanceKopeks: balance.balanceKopeks - reserved, approval };
  });
  return { approval: null, ...done };
}

export const approvalRequired = refusal(
  'approval_required',
  403,
  'Above the amount that the operator has set, a second administrator has to approve this: change it in the cabinet',
);

/**
 * `adjustBalance`, refused above the amount: an API token is nobody who could wait for an approval.
 * @throws AppError 400 | 404 | 403 approval_required
 */
export async function adjustBalanceByToken(
  app: App,
  actor: TokenActor,
  adjustment: BalanceAdjustment,
  idempotencyKey: string | null,
): Promise<UserView> {
  if (limitOf(app, 'balance_change') === 0) return adjustBalance(app, actor, adjustment, idempotencyKey);
  const { amountKopeks, description, isShown } = adjustment;
  if (amountKopeks === 0) throw amountZero();
  const once = { key: idempotencyKey, operation: 'users.adjust-balance', input: adjustment };
  const done = await runOnce<UserView | undefined>(app, actor, once, async (t) => {
    const view = await adjustBalance(t, actor, adjustment, null);
    const change = { kind: 'balance_change', userId: view.id, paymentId: null, amountKopeks, description, isShown } as const;
    if (!(await isWithinLimit(t, actor, change))) throw approvalRequired();
    return view;
  });
  // The key has an answer of a time without an amount, which has another form.
  return done ?? adjustBalance(app, actor, adjustment, idempotencyKey);
}

const approvalWaiting = refusal('approval_waiting', 409, 'A refund of this payment waits for an approval');

/**
 * `requestRefund`, above APPROVAL_REFUND_KOPEKS only after an administrator has approved it: until then what the refund would take of the
 * balance is held.
 * @throws AppError what `requestRefund` throws | 409 approval_waiting
 */
export async function refundPayment(
  app: App,
  actor: Actor,
  order: RefundOrder,
): Promise<{ refundId: number; debitedKopeks: number } | { approval: WaitingApproval }> {
  if (limitOf(app, 'payment_refund') === 0) return requestRefund(app, order);
  try {
    return await inTransaction(app, async (t) => {
      const made = await requestRefund(t, order);
      const refund = await readRequestedRefund(t.db, made.refundId);
      const change = { ...refund, kind: 'payment_refund', description: order.reason, isShown: true } as const;
      if (await isWithinLimit(t, actor, change)) return made;
      // Rolled back: it can be made, and has shown what it takes.
      throw new AboveLimit(change);
    });
  } catch (error) {
    if (!(error instanceof AboveLimit)) throw error;
    return { approval: await openRefund(app, actor, error.change) };
  }
}

class AboveLimit extends Error {
  readonly change: Change;

  constructor(change: Change) {
    super('a second administrator is needed');
    this.change = change;
  }
}

/** @throws AppError 409 approval_waiting */
async function openRefund(app: App, actor: Actor, change: Change): Promise<WaitingApproval> {
  try {
    return await inTransaction(app, async (t) => {
      const { userId, amountKopeks } = change;
      const balance = userId === null ? null : await lockBalance(t.db, userId);
      return openApproval(t, actor, change, Math.min(balance?.balanceKopeks ?? 0, -amountKopeks));
    });
  } catch (error) {
    if (isUniqueViolation(error, 'approvals_waiting_refund')) throw approvalWaiting();
    throw error;
  }
}

type Change = Pick<NewApproval, 'kind' | 'userId' | 'paymentId' | 'amountKopeks' | 'description' | 'isShown'>;

/** Whether the requester may make the change alone; then it is recorded for the sum of the day. */
async function isWithinLimit(t: App, actor: Actor, change: Change): Promise<boolean> {
  const now = t.clock.now();
  const requestedBy = actorKey(actor);
  const sum = await sumWithoutApproval(t.db, requestedBy, change.kind, addMs(now, -SUM_MS));
  if (sum + Math.abs(change.amountKopeks) > limitOf(t, change.kind)) return false;
  if (change.amountKopeks === 0) return true;
  await insertApproval(t.db, { ...change, ...requesterOf(actor), status: 'exempt', createdAt: now, expiresAt: null });
  return true;
}

function requesterOf(actor: Actor): Pick<NewApproval, 'requestedBy' | 'requesterId'> {
  return { requestedBy: actorKey(actor), requesterId: actor.kind === 'admin' ? actor.userId : null };
}

/** @param reservedKopeks what of the locked user's balance must not be spent meanwhile */
async function openApproval(t: App, actor: Actor, change: Change, reservedKopeks: number): Promise<WaitingApproval> {
  const now = t.clock.now();
  const expiresAt = addMs(now, t.settings.get('APPROVAL_EXPIRY_HOURS') * HOUR_MS);
  const id = await insertApproval(t.db, { ...change, ...requesterOf(actor), status: 'waiting', createdAt: now, expiresAt });
  if (reservedKopeks > 0 && !(await reserveForApproval(t.db, id, reservedKopeks, now))) {
    throw new Error(`the balance of a locked user did not cover approval ${id}`);
  }
  const { kind, userId, amountKopeks } = change;
  const event = { approval_id: id, kind, user_id: userId, amount_kopeks: amountKopeks, expires_at: expiresAt.toISOString() };
  await t.events.emit('approval.requested', event, { audience: 'feed' });
  await announce(t, id, actor, change);
  return { id, expiresAt };
}

async function announce(t: App, id: number, actor: Actor, { kind, userId, amountKopeks, description }: Change): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_BALANCE_TOPIC_ID');
  if (chat === null) return;
  const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), `payments.admin_approval_${kind}`, {
    approval_id: id,
    user_id: userId ?? '–',
    amount: formatPrice(amountKopeks, false),
    requested_by: actorKey(actor),
    description: description ?? '–',
  });
  await sendMessage(t, { ...chat, html });
}
