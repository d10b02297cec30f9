import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refuse } from '../../core/errors.ts';
import { createWebSubscription, type WebSubscriptionRequest } from '../subscriptions/create-web-subscription.ts';
import { disableSubscription } from '../subscriptions/web-subscriptions.ts';
import { readUserById, resolveUserId } from './read-user.ts';
import { lockUserStatus } from './repo.ts';
import type { UserView } from './types.ts';

/**
 * Gives a user a subscription without charging, or writes over the one there is: the use case of `POST /subscriptions` with the
 * words of this group (spec 01 section 10). A traffic limit of 0 counts as absent.
 * @param number messenger id or internal id, see `readUser`
 * @throws AppError 404 'User not found' | 400 'User already has a subscription. Use replace_existing=true to replace it', and
 * what `createWebSubscription` refuses
 */
export async function giveSubscription(
  app: App,
  actor: TokenActor,
  number: number,
  request: Omit<WebSubscriptionRequest, 'userId'>,
): Promise<UserView> {
  return inTransaction(app, async (t) => {
    const user = await lockUser(t, number);
    if (user.subscription && !request.replaceExisting) {
      throw refuse('subscription_exists', 400, 'User already has a subscription. Use replace_existing=true to replace it');
    }
    await createWebSubscription(t, actor, { ...request, userId: user.id, trafficLimitGb: request.trafficLimitGb || null });
    return readUserById(t, user.id);
  });
}

/**
 * Switches the user's subscription off; the row stays, and the panel follows after commit (spec 01 section 10).
 * @throws AppError 404 'User not found' | 404 'User has no subscription'
 */
export async function withdrawSubscription(app: App, actor: TokenActor, number: number): Promise<UserView> {
  return inTransaction(app, async (t) => {
    const user = await lockUser(t, number);
    if (!user.subscription) throw refuse('no_subscription', 404, 'User has no subscription');
    await disableSubscription(t, actor, user.subscription.id);
    return readUserById(t, user.id);
  });
}

/** The user as it stands once the row is ours, so that two requests at once do not both find no subscription. */
async function lockUser(t: App, number: number): Promise<UserView> {
  const id = await resolveUserId(t, number);
  await lockUserStatus(t.db, id);
  return readUserById(t, id);
}
