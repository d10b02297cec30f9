import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { userNotFound } from '../../identity/errors.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { findReferralUser } from '../repo.ts';
import { announceRequest, endTexts } from './decide.ts';
import { describeRefusal, requestRefused, withdrawalNotFound, withdrawalNotPending } from './errors.ts';
import {
  endPending,
  findRequester,
  findWithdrawalSums,
  insertRequest,
  listMyRequests,
  lockRequester,
  type MyRequest,
  reserveAmount,
} from './repo.ts';
import { analyseRisk } from './risk-analysis.ts';
import { availableAmounts, refusalOfAmount, refusalOfRequest } from './rules.ts';
import type { AvailableAmounts, WithdrawalTerms } from './types.ts';

const HISTORY_LENGTH = 50;

/** What a user may withdraw; kopeks. */
export interface MyWithdrawalBalance extends AvailableAmounts {
  earnedKopeks: number;
  referralSpentKopeks: number;
  withdrawnKopeks: number;
  pendingKopeks: number;
  isReferralOnly: boolean;
  minAmountKopeks: number;
  isEnabled: boolean;
  canRequest: boolean;
  /** The first refusal that a request would get, in the user's language; null when it would get none. */
  refusal: string | null;
  requisitesText: string;
}

const NOTHING = {
  ...{ earnedKopeks: 0, referralSpentKopeks: 0, withdrawnKopeks: 0, pendingKopeks: 0 },
  ...{ availableReferralKopeks: 0, availableTotalKopeks: 0 },
};

/** The withdrawal page (spec 03 section 6). While withdrawals are off all amounts of the user are 0 (spec 10 X22). @throws AppError 404 for a deleted account */
export async function readMyWithdrawalBalance(app: App, actor: UserActor): Promise<MyWithdrawalBalance> {
  const terms = withdrawalTerms(app);
  const { isEnabled, isReferralOnly, minAmountKopeks } = terms;
  const requisitesText = app.settings.get('REFERRAL_WITHDRAWAL_REQUISITES_TEXT');
  if (!isEnabled) {
    const user = await findReferralUser(app.db, actor.userId);
    if (!user) throw userNotFound();
    const refusal = describeRefusal(app, user.language, { reason: 'withdrawal_off' });
    return { ...NOTHING, isEnabled, isReferralOnly, minAmountKopeks, requisitesText, canRequest: false, refusal };
  }
  const sums = await findWithdrawalSums(app.db, actor.userId, maturedBefore(app));
  if (!sums) throw userNotFound();
  const { language, last, balanceKopeks: _balance, maturingKopeks: _maturing, ...shown } = sums;
  const available = availableAmounts(sums, isReferralOnly);
  const { availableTotalKopeks } = available;
  const refusal = refusalOfRequest({ terms, availableTotalKopeks, last, now: app.clock.now() });
  return {
    ...shown,
    ...available,
    ...{ isEnabled, isReferralOnly, minAmountKopeks, requisitesText },
    canRequest: refusal === null,
    refusal: refusal && describeRefusal(app, language, refusal),
  };
}

/** The newest 50 requests of the user, with the number of all; also while withdrawals are off. */
export function listMyWithdrawals(app: App, actor: UserActor): Promise<{ items: MyRequest[]; total: number }> {
  return listMyRequests(app.db, actor.userId, HISTORY_LENGTH);
}

/**
 * Cancels a pending request of the user; what it holds goes back to the balance. Of a cancellation and a decision at once, one takes effect. With an idempotency
 * key the first answer is given again.
 * @throws AppError 404 no own request with this id | 400 not pending
 */
export function cancelMyWithdrawal(
  app: App,
  actor: UserActor,
  id: number,
  idempotencyKey: string | null,
): Promise<{ success: true }> {
  const once = { key: idempotencyKey, operation: 'withdrawals.cancel', input: { id } };
  return runOnce(app, actor, once, async (t) => {
    const user = await lockRequester(t.db, actor.userId);
    const language = user?.language ?? null;
    const request = { id, userId: actor.userId, status: 'cancelled' } as const;
    if (await endPending(t.db, request, endTexts(language, id), t.clock.now())) return { success: true as const };
    const isMine = (await findRequester(t.db, id)) === actor.userId;
    throw isMine ? withdrawalNotPending(language) : withdrawalNotFound(language);
  });
}

interface WithdrawalOrder {
  amountKopeks: number;
  /** Where the money is to go, in the user's words. */
  paymentDetails: string;
}

interface CreatedRequest {
  id: number;
  amountKopeks: number;
  status: 'pending';
}

/**
 * Requests a payout, with a risk analysis and a notice to the administrators' chat. The amount is held: it leaves the
 * balance for an account of the request, so that it cannot be spent meanwhile (spec 10 M5). Under the user's lock, so that of several
 * concurrent requests one is stored. With an idempotency key the first answer is given again.
 * @throws AppError 400 withdrawals are off | too little is available | too early after the last request | one is pending | the amount is
 * below the minimum or above what is available; in the user's language
 */
export function requestWithdrawal(
  app: App,
  actor: UserActor,
  order: WithdrawalOrder,
  idempotencyKey: string | null,
): Promise<CreatedRequest> {
  const once = { key: idempotencyKey, operation: 'withdrawals.create', input: order };
  return runOnce(app, actor, once, (t) => createRequest(t, actor.userId, order));
}

async function createRequest(t: App, userId: number, { amountKopeks, paymentDetails }: WithdrawalOrder): Promise<CreatedRequest> {
  const user = await lockRequester(t.db, userId);
  const sums = user && (await findWithdrawalSums(t.db, userId, maturedBefore(t)));
  if (!sums) throw userNotFound();
  const terms = withdrawalTerms(t);
  const now = t.clock.now();
  const available = availableAmounts(sums, terms.isReferralOnly);
  const { availableTotalKopeks } = available;
  const refusal =
    refusalOfRequest({ terms, availableTotalKopeks, last: sums.last, now }) ??
    refusalOfAmount(amountKopeks, sums, available, terms);
  if (refusal) throw requestRefused(t, user.language, refusal);
  const { risk, json } = await analyseRisk(t, userId, sums, { ...available, isReferralOnly: terms.isReferralOnly });
  const request = await insertRequest(t.db, {
    ...{ userId, amountKopeks, paymentDetails, createdAt: now },
    ...{ riskScore: risk.score, riskAnalysis: json },
  });
  // Of merged accounts the earnings may be on hold for another request.
  if (!(await reserveAmount(t.db, request.id, text(user.language, 'withdrawals.transaction', { request_id: request.id }), now))) {
    const { balanceKopeks: availableKopeks } = user;
    throw requestRefused(t, user.language, { reason: 'withdrawal_exceeds_available', availableKopeks });
  }
  await announceRequest(t, request, user, risk);
  return { id: request.id, amountKopeks, status: 'pending' };
}

/** The settings in effect. Withdrawals need both the referral programme and their own switch. */
function withdrawalTerms({ settings }: App): WithdrawalTerms {
  return {
    isEnabled: settings.get('REFERRAL_PROGRAM_ENABLED') && settings.get('REFERRAL_WITHDRAWAL_ENABLED'),
    isReferralOnly: settings.get('REFERRAL_WITHDRAWAL_ONLY_REFERRAL_BALANCE'),
    minAmountKopeks: settings.get('REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS'),
    cooldownDays: settings.get('REFERRAL_WITHDRAWAL_COOLDOWN_DAYS'),
    isTestMode: settings.get('REFERRAL_WITHDRAWAL_TEST_MODE'),
  };
}

/** Earnings after this time cannot be withdrawn yet, so that a refund of the payment can take them back (spec 10 M4); null = all can. */
export function maturedBefore({ settings, clock }: App): Date | null {
  const days = settings.get('REFERRAL_EARNINGS_HOLD_DAYS');
  return days > 0 ? addDays(clock.now(), -days) : null;
}
