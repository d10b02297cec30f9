import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { type LoyaltyStatus, loyaltyStatus } from './loyalty-rules.ts';
import { findTotalSpent, listTiers } from './repo.ts';

/** The groups that users get by spending, and the progress of this user (spec 04 section 9.5). */
export async function readLoyalty(app: App, actor: UserActor): Promise<LoyaltyStatus> {
  const [tiers, spentKopeks] = await Promise.all([listTiers(app.db), findTotalSpent(app.db, actor.userId)]);
  return loyaltyStatus(tiers, spentKopeks);
}
