import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { partnerRefusal } from './errors.ts';
import { lockApplicant, setPartnerStatus } from './repo.ts';

/**
 * Sets the commission of a partner, under the user's lock (spec 04 section 3.4).
 * @param percent 1..100, kept to two decimals
 * @returns what is stored
 * @throws AppError 404 no such user | 400 no partner
 */
export async function changePartnerCommission(
  app: App,
  _actor: AdminActor,
  userId: number,
  percent: number,
): Promise<{ commissionPercent: number }> {
  const commissionPercent = Math.round(percent * 100) / 100;
  return inTransaction(app, async (t) => {
    const user = await lockApplicant(t.db, userId);
    if (!user) throw partnerRefusal(t, 404, 'user_missing');
    if (user.partnerStatus !== 'approved') throw partnerRefusal(t, 400, 'not_partner');
    await setPartnerStatus(t.db, userId, 'approved', commissionPercent, t.clock.now());
    t.audit?.note({ before: { commissionPercent: user.commissionPercent }, after: { commissionPercent } });
    return { commissionPercent };
  });
}
