import type { TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { lockUser, setCommission } from '../admin/changes/repo.ts';
import { resolveUserId } from '../read-user.ts';
import { type Referrer, readReferrer } from './read-referrers.ts';

/**
 * Sets what a user earns of what referrals pay, partner or not (spec 04 section 4).
 * @param number messenger id, else internal id
 * @param percent 0..100; null = the service-wide one
 * @throws AppError 404 'User not found'
 */
export async function changeReferrerCommission(
  app: App,
  _actor: TokenActor,
  number: number,
  percent: number | null,
): Promise<Referrer> {
  await inTransaction(app, async (t) => {
    const userId = await resolveUserId(t, number);
    const user = await lockUser(t.db, userId);
    if (!user) throw userNotFound();
    await setCommission(t.db, userId, percent, t.clock.now());
    t.audit?.note({
      resourceId: userId,
      before: { commissionPercent: user.commissionPercent },
      after: { commissionPercent: percent },
    });
  });
  return readReferrer(app, number);
}
