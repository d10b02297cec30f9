import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { findTotalSpent, listTiers } from './loyalty-repo.ts';
import { type LoyaltyStanding, loyaltyStanding } from './loyalty-rules.ts';

/** The groups that the user's spending earns, and how far it has come (spec 04 section 9.5). */
export async function readLoyalty(app: App, actor: UserActor): Promise<LoyaltyStanding> {
  const [tiers, spentKopeks] = await Promise.all([listTiers(app.db), findTotalSpent(app.db, actor.userId)]);
  return loyaltyStanding(tiers, spentKopeks);
}
