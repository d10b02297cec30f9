import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { userNotFound } from '../../identity/errors.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { requestRefused } from './errors.ts';
import { announceRequest } from './notices.ts';
import { insertRequest, reserveAmount } from './repo.ts';
import { analyseRisk } from './risk-analysis.ts';
import { availableAmounts, refusalOfAmount, refusalOfRequest } from './rules.ts';
import { findWithdrawalSums, lockRequester } from './sums-repo.ts';
import { maturedBefore, withdrawalTerms } from './terms.ts';

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
 * Requests a payout, with a risk analysis and a notice to the administrators' chat (spec 03 section 6). The amount is held: it leaves the
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
