import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { userNotFound } from '../../identity/errors.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { findReferralUser } from '../repo.ts';
import { describeRefusal, withdrawalNotFound, withdrawalNotPending } from './errors.ts';
import { endTexts } from './notices.ts';
import { endPending, findRequester, listMyRequests, type MyRequest } from './repo.ts';
import { availableAmounts, refusalOfRequest } from './rules.ts';
import { findWithdrawalSums, lockRequester } from './sums-repo.ts';
import { maturedBefore, withdrawalTerms } from './terms.ts';
import type { AvailableAmounts } from './types.ts';

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
