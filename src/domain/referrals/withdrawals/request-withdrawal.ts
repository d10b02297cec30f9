import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { userNotFound } from '../../identity/errors.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { requestRefused } from './errors.ts';
import { announceRequest } from './notices.ts';
import { insertRequest } from './repo.ts';
import { analyseRisk } from './risk-analysis.ts';
import { availableAmounts, refusalOfAmount, refusalOfRequest } from './rules.ts';
import { findWithdrawalSums, lockRequester } from './sums-repo.ts';
import { withdrawalTerms } from './terms.ts';

export interface WithdrawalOrder {
  amountKopeks: number;
  /** Where the money is to go, in the user's words. */
  paymentDetails: string;
}

export interface CreatedRequest {
  id: number;
  amountKopeks: number;
  status: 'pending';
}

/**
 * Requests a payout, with a risk analysis and a notice to the administrators' chat (spec 03 section 6). No money moves: the amount counts
 * as pending for further requests, and the approval compares it with the balance of its own moment. Under the user's lock, so that of
 * several concurrent requests one is stored. With an idempotency key the first answer is given again.
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
  const sums = user && (await findWithdrawalSums(t.db, userId));
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
  await announceRequest(t, request, user, risk);
  return { id: request.id, amountKopeks, status: 'pending' };
}
