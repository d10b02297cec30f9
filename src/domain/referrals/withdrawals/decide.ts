import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { csvLine } from '../../../core/csv.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { requireIndependentApprover } from '../../access/independent-approver.ts';
import { fullName } from '../../identity/rules.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { notifyUser, recipientOf, sendMessage } from '../../messaging/send-message.ts';
import { htmlText, shorten, type TextKey, type TextParams, text } from '../../messaging/texts.ts';
import { findReferralUser } from '../repo.ts';
import { takeBackTitles } from '../rewards.ts';
import {
  decidedWithdrawalNotFound,
  refusedToAdmin,
  withdrawalBalanceLow,
  withdrawalNotApproved,
  withdrawalNotFound,
  withdrawalProcessed,
  withdrawalSecondApprover,
  withdrawalUserMissing,
} from './errors.ts';
import {
  endPending,
  findRequester,
  listPayouts,
  lockRequest,
  lockRequester,
  type Payout,
  type Requester,
  recordFirstApproval,
  updateRequest,
  type WithdrawalRequest,
} from './repo.ts';
import { analysisIn, parseAnalysis, type RiskLevel, riskLevel } from './risk-analysis.ts';
import { needsSecondApproval } from './rules.ts';
import type { PayoutFilter, WithdrawalStatus } from './types.ts';

/** Decisions of administrators on withdrawal requests. Each locks the user, then the request. */

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
 * holds nothing (spec 10 M5) is taken from the balance. Above
 * REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS the first approval is only recorded, and another administrator, whose rights do not come from the
 * first, has to approve within APPROVAL_EXPIRY_HOURS; later it is a first approval again (spec 01 section 4.8). With an idempotency key the first answer is given again.
 * @throws AppError 400 not found | already processed | user deleted | balance too low | a second administrator is needed | 403 approver_dependent,
 * approver_rights_too_new
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
    const { firstApprovedBy: requesterId, firstApprovedAt: requestedAt } = request;
    if (
      requesterId !== null &&
      requestedAt !== null &&
      requestedAt > addMs(now, -t.settings.get('APPROVAL_EXPIRY_HOURS') * HOUR_MS)
    ) {
      if (requesterId === actor.userId) throw await refusedToAdmin(t, actor, withdrawalSecondApprover);
      await requireIndependentApprover(t, actor, { requesterId, requestedAt, permission: 'withdrawals:approve' });
    } else {
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

type WithLevel<Row> = Row & { riskLevel: RiskLevel };

/** Requests of all users, newest first. What is pending is counted whatever the filter. */
export async function listWithdrawals(
  app: App,
  { status = null, ...slice }: { status?: WithdrawalStatus | null | undefined; limit: number; offset: number },
): Promise<RequestTotals & { items: WithLevel<ListedRequest>[] }> {
  const [items, totals] = await Promise.all([listRequests(app.db, status, slice), countRequests(app.db, status)]);
  return { ...totals, items: items.map((item) => ({ ...item, riskLevel: riskLevel(item.riskScore) })) };
}

/** One request with its analysis. @throws AppError 404 */
export async function readWithdrawal(app: App, actor: AdminActor, id: number) {
  const found = await findRequestDetail(app.db, id);
  if (!found) throw await refusedToAdmin(app, actor, withdrawalNotFound);
  const analysis = parseAnalysis(found.riskAnalysis);
  const reader = await findReferralUser(app.db, actor.userId);
  const language = reader?.language ?? app.settings.get('DEFAULT_LANGUAGE');
  return { ...found, riskLevel: riskLevel(found.riskScore), riskAnalysis: analysis && analysisIn(language, analysis) };
}

const PAGE = 500;

const COLUMNS = [
  ...['request_id', 'status', 'amount_kopeks', 'amount_rubles', 'payment_details', 'user_id', 'messenger_id', 'username'],
  ...['first_name', 'last_name', 'email', 'risk_score', 'created_at', 'processed_at', 'first_approved_by', 'processed_by'],
  ...['admin_comment', 'transaction_id', 'payout_transaction_id'],
];

/**
 * Writes approved and completed requests as CSV, page by page, of one snapshot of the database: a request that is
 * completed meanwhile is neither missing nor written twice.
 * @param write gets the header first, then pages of lines
 * @returns number and sum of the payouts
 */
export function exportPayouts(
  app: App,
  filter: PayoutFilter,
  write: (csv: string) => Promise<void> | void,
): Promise<{ payouts: number; amountKopeks: number }> {
  return inTransaction(app, async (t) => {
    await t.db.sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await write(csvLine(COLUMNS));
    let [payouts, amountKopeks] = [0, 0];
    let last: Payout | null = null;
    do {
      const page: Payout[] = await listPayouts(t.db, filter, last, PAGE);
      if (page.length > 0) await write(page.map(lineOf).join(''));
      payouts += page.length;
      amountKopeks = page.reduce((sum, payout) => sum + payout.amountKopeks, amountKopeks);
      last = page.length < PAGE ? null : page.at(-1)!;
    } while (last !== null);
    return { payouts, amountKopeks };
  });
}

function lineOf(payout: Payout): string {
  return csvLine([
    ...[payout.id, payout.status, payout.amountKopeks, rublesOf(payout.amountKopeks).toFixed(2), payout.paymentDetails],
    ...[payout.userId, payout.messengerId, payout.username, payout.firstName, payout.lastName, payout.email],
    ...[payout.riskScore, payout.createdAt.toISOString(), payout.processedAt.toISOString()],
    ...[payout.firstApprovedBy, payout.processedBy, payout.adminComment, payout.transactionId, payout.payoutTransactionId],
  ]);
}

// Messages about withdrawals; all are queued in the caller's transaction. Everything that users wrote is escaped.

const DETAILS_IN_NOTICE = 200;

const label = (t: App, kopeks: number) => formatPrice(kopeks, t.settings.get('PRICE_ROUNDING_ENABLED'));

/** Descriptions of what the end of a request that was not approved moves. */
export function endTexts(language: string | null, requestId: number) {
  const description = text(language, 'withdrawals.transaction', { request_id: requestId });
  return { description, debtTitles: takeBackTitles('transaction_debt') };
}

/** A new request, for the administrators' chat. */
export async function announceRequest(
  t: App,
  request: WithdrawalRequest,
  user: Requester,
  risk: { score: number; level: RiskLevel },
): Promise<void> {
  const language = t.settings.get('DEFAULT_LANGUAGE');
  await notifyAdmins(t, 'withdrawals.admin_request', request, user, {
    balance: label(t, user.balanceKopeks),
    details: shorten(request.paymentDetails ?? '—', DETAILS_IN_NOTICE),
    risk_score: risk.score,
    risk_level: text(language, `withdrawals.risk_${risk.level}` satisfies TextKey),
  });
}

/** One administrator has approved, and another one has to. */
async function announceFirstApproval(t: App, request: WithdrawalRequest, user: Requester, adminId: number): Promise<void> {
  await notifyAdmins(t, 'withdrawals.admin_second_approval', request, user, { admin_id: adminId });
}

async function notifyAdmins(
  t: App,
  key: TextKey,
  request: WithdrawalRequest,
  user: Requester,
  params: TextParams,
): Promise<void> {
  const chat = adminChat(t, 'REFERRAL_WITHDRAWAL_NOTIFICATIONS_TOPIC_ID');
  if (chat === null) return;
  const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), key, {
    request_id: request.id,
    name: shorten(fullName(user), 100),
    contact: user.messengerId ?? user.email ?? `#${user.id}`,
    amount: label(t, request.amountKopeks),
    ...params,
  });
  await sendMessage(t, { ...chat, html });
}

/** The decision, for the user: in the messenger, else by mail. The comment of an approval, the reason of a rejection. */
async function announceDecision(
  t: App,
  user: Requester,
  decision: { status: 'approved' | 'rejected'; amountKopeks: number; comment: string | null },
): Promise<void> {
  const { status, amountKopeks, comment } = decision;
  const { language } = user;
  const amount = label(t, amountKopeks);
  const write = (key: TextKey, params: TextParams) => htmlText(language, key, params);
  const html =
    write(`withdrawals.message_${status}`, { amount }) +
    (comment === null ? '' : write(`withdrawals.message_${status}_comment`, { comment }));
  const context = { amount_kopeks: amountKopeks, amount_rubles: rublesOf(amountKopeks), formatted_amount: amount, comment };
  await notifyUser(t, recipientOf(user), {
    html,
    mail: `withdrawal_${status}`,
    mailParams: { amount_rubles: context.amount_rubles, formatted_amount: amount, comment: comment ?? '—' },
    event: `notification.withdrawal_${status}`,
    context,
  });
}

const REQUEST = columns('WithdrawalRequest', [
  ...(['id', 'userId', 'amountKopeks', 'status', 'riskScore', 'paymentDetails', 'adminComment'] as const),
  ...(['createdAt', 'processedAt'] as const),
]);
const USER = columns('User', ['username', 'firstName', 'messengerId']);

/** A request in the administrators' list. */
type ListedRequest = RowOf<typeof REQUEST> & RowOf<typeof USER>;

/** A page of requests, newest first. The page is taken from the index alone, so that a page far down reads only its own rows. */
export function listRequests(
  db: Db,
  status: WithdrawalStatus | null,
  slice: { limit: number; offset: number },
): Promise<ListedRequest[]> {
  const condition = status === null ? '$1::text IS NULL' : 'q.status = $1::text';
  return db.sql<ListedRequest>(
    `WITH page AS MATERIALIZED (
       SELECT q.id, q.created_at FROM withdrawal_requests q WHERE ${condition}
       ORDER BY q.created_at DESC, q.id DESC LIMIT $2::int OFFSET $3::bigint)
     SELECT ${REQUEST.of('w')}, ${USER.of('u')}
     FROM page p JOIN withdrawal_requests w ON w.id = p.id LEFT JOIN users u ON u.id = w.user_id
     ORDER BY p.created_at DESC, p.id DESC`,
    [status, slice.limit, slice.offset],
  );
}

/** Numbers of requests; kopeks. */
interface RequestTotals {
  total: number;
  pendingCount: number;
  pendingTotalKopeks: number;
}

/** @param status null = `total` counts every request; the pending ones are counted in any case */
async function countRequests(db: Db, status: WithdrawalStatus | null): Promise<RequestTotals> {
  const [row] = await db.sql<RequestTotals>(
    `SELECT coalesce(sum(requests) FILTER (WHERE $1::text IS NULL OR status = $1::text), 0)::int AS total,
       coalesce(sum(requests) FILTER (WHERE status = 'pending'), 0)::int AS pending_count,
       coalesce(sum(amount_kopeks) FILTER (WHERE status = 'pending'), 0)::bigint AS pending_total_kopeks
     FROM withdrawal_counters`,
    [status],
  );
  return row!;
}

/** A request with its analysis, and the user's referrals and earnings; kopeks. */
type RequestDetail = ListedRequest & {
  /** JSON. */
  riskAnalysis: string | null;
  balanceKopeks: number;
  totalReferrals: number;
  totalEarningsKopeks: number;
  /** Earnings that were taken back after they had been spent or withdrawn; later ones pay it first. */
  referralDebtKopeks: number;
};

async function findRequestDetail(db: Db, id: number): Promise<RequestDetail | null> {
  const [row] = await db.sql<RequestDetail>(
    `SELECT ${REQUEST.of('w')}, ${USER.of('u')}, w.risk_analysis, coalesce(u.balance_kopeks, 0)::bigint AS balance_kopeks,
       coalesce(f.referrals, 0) AS total_referrals, coalesce(f.earned_kopeks, 0)::bigint AS total_earnings_kopeks,
       coalesce((SELECT d.kopeks FROM referral_debts d WHERE d.user_id = w.user_id), 0)::bigint AS referral_debt_kopeks
     FROM withdrawal_requests w LEFT JOIN users u ON u.id = w.user_id LEFT JOIN referrer_stats f ON f.user_id = w.user_id
     WHERE w.id = $1::bigint`,
    [id],
  );
  return row ?? null;
}
