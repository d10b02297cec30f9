import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { userNotFound } from '../../identity/errors.ts';
import { type BuyerDetails, findBuyerDetails } from './repo.ts';

/** The user of a request with promo group and subscription, without a lock. @throws AppError 404 'User not found' */
export async function requireBuyerDetails(app: App, actor: UserActor): Promise<BuyerDetails> {
  const found = await findBuyerDetails(app.db, actor.userId);
  if (!found) throw userNotFound();
  return found;
}
