import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { promoGroupNotFound } from './errors.ts';
import { type LoyaltyStatus, loyaltyStatus } from './loyalty-rules.ts';
import { findRecord, listRecords } from './record-repo.ts';
import { findTotalSpent, listTiers } from './repo.ts';
import type { PromoGroupRecord } from './types.ts';

/** One page of groups, highest priority first, then by name (spec 04 section 8.4). */
export function listPromoGroupRecords(
  app: App,
  page: { limit: number; offset: number },
): Promise<{ items: PromoGroupRecord[]; total: number }> {
  return listRecords(app.db, page);
}

/** @throws AppError 404 'Promo group not found' */
export async function readPromoGroup(app: App, groupId: number): Promise<PromoGroupRecord> {
  const group = await findRecord(app.db, groupId);
  if (!group) throw promoGroupNotFound();
  return group;
}

/** The groups that users get by spending, and the progress of this user (spec 04 section 9.5). */
export async function readLoyalty(app: App, actor: UserActor): Promise<LoyaltyStatus> {
  const [tiers, spentKopeks] = await Promise.all([listTiers(app.db), findTotalSpent(app.db, actor.userId)]);
  return loyaltyStatus(tiers, spentKopeks);
}
