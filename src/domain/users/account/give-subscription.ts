import type { TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { listTariffs } from '../../catalog/tariffs.ts';
import type { Tariff } from '../../catalog/types.ts';
import { requireUser } from '../../identity/find-user.ts';
import { findPrimaryPromoGroup } from '../../promo-groups/find-groups.ts';
import type { PromoGroup } from '../../promo-groups/types.ts';
import { awaitPush } from '../../subscription-state/provision-state.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { createWithoutWaiting, disableSubscription } from '../../subscriptions/web-subscriptions.ts';
import type { UserView } from '../types.ts';
import { readUserById, resolveUserId } from './read-user.ts';
import { lockUser as lockAccount } from './repo.ts';

export const subscriptionExists = refusal(
  'subscription_exists',
  400,
  'User already has a subscription. Use replace_existing=true to replace it',
);
export const noSubscription = refusal('no_subscription', 404, 'User has no subscription');

export interface GivenSubscription {
  isTrial: boolean;
  durationDays?: number | null | undefined;
  trafficLimitGb?: number | null | undefined;
  deviceLimit?: number | null | undefined;
  squadUuid?: string | null | undefined;
  connectedSquads?: string[] | null | undefined;
  replaceExisting: boolean;
}

/**
 * Grants a user a subscription without charging, or replaces the present one: the use case of `POST /subscriptions` with the
 * refusals of this group (spec 01 section 10). The answer waits briefly for the link (spec 08 P14). A traffic limit of 0 counts as absent.
 * @param number messenger id or internal id, see `readUser`
 * @throws AppError 404 'User not found' | 400 'User already has a subscription. Use replace_existing=true to replace it', and
 * what `createWithoutWaiting` refuses
 */
export async function giveSubscription(
  app: App,
  actor: TokenActor,
  number: number,
  request: GivenSubscription,
): Promise<UserView> {
  const given = await inTransaction(app, async (t) => {
    const user = await lockAndRead(t, number);
    if (user.subscription && !request.replaceExisting) throw subscriptionExists();
    await createWithoutWaiting(t, actor, {
      userId: user.id,
      isTrial: request.isTrial,
      durationDays: request.durationDays ?? null,
      trafficLimitGb: request.trafficLimitGb || null,
      deviceLimit: request.deviceLimit ?? null,
      squadUuid: request.squadUuid ?? null,
      connectedSquads: request.connectedSquads ?? null,
      replaceExisting: request.replaceExisting,
    });
    return readUserById(t, user.id);
  });
  return (await awaitPush(app, given.subscription!.id)) ? readUserById(app, given.id) : given;
}

/**
 * Switches the user's subscription off; the row stays, and the panel is updated after commit.
 * @throws AppError 404 'User not found' | 404 'User has no subscription'
 */
export async function withdrawSubscription(app: App, actor: TokenActor, number: number): Promise<UserView> {
  return inTransaction(app, async (t) => {
    const user = await lockAndRead(t, number);
    if (!user.subscription) throw noSubscription();
    await disableSubscription(t, actor, user.subscription.id);
    return readUserById(t, user.id);
  });
}

/** Locks the user, then reads it, so that two concurrent requests do not both find no subscription. */
async function lockAndRead(t: App, number: number): Promise<UserView> {
  const id = await resolveUserId(t, number);
  await lockAccount(t.db, id);
  return readUserById(t, id);
}

export interface AvailableTariffs {
  userId: number;
  promoGroup: PromoGroup | null;
  tariffs: { tariff: Tariff; isAvailable: boolean }[];
  current: { id: number; name: string | null } | null;
}

/**
 * Tariffs that an administrator may give a user, by (display order, tier level, id). One is marked available when it names no
 * group, the user has none, or the user's is named (spec 01 section 11.1).
 * @throws AppError 404 'User not found'
 */
export async function listAvailableTariffs(
  app: App,
  userId: number,
  options: { includeInactive: boolean },
): Promise<AvailableTariffs> {
  const user = await requireUser(app, userId);
  const [promoGroup, listed, subscribed] = await Promise.all([
    findPrimaryPromoGroup(app.db, user.id),
    listTariffs(app, { includeInactive: true }),
    readUserSubscription(app, user.id),
  ]);
  const all = listed.map(({ tariff }) => tariff);
  const currentId = subscribed?.subscription.tariffId ?? null;
  return {
    userId: user.id,
    promoGroup,
    tariffs: all
      .filter((tariff) => tariff.isActive || options.includeInactive)
      .toSorted((a, b) => a.displayOrder - b.displayOrder || a.tierLevel - b.tierLevel || a.id - b.id)
      .map((tariff) => ({ tariff, isAvailable: isAvailableTo(tariff, promoGroup) })),
    current: currentId === null ? null : { id: currentId, name: all.find((tariff) => tariff.id === currentId)?.name ?? null },
  };
}

/** Less strict than what the user may buy: to a user without a group every tariff may be given. */
function isAvailableTo(tariff: Tariff, promoGroup: PromoGroup | null): boolean {
  const { allowedPromoGroupIds: ids } = tariff;
  return ids.length === 0 || promoGroup === null || ids.includes(promoGroup.id);
}
