import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { startOfDay } from '../../../core/clock.ts';
import { offsetOf } from '../../../core/paging.ts';
import { kopeksForStarsFloor } from '../../payments/stars-rate.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { isActive } from '../../subscriptions/rules/status.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { readWheelFor } from './repo.ts';
import { availabilityOf, type SpinFacts } from './rules.ts';
import { listSpins, readSpinner } from './spin-repo.ts';
import type { Availability, SpinRecord, WheelConfig, WheelPrize } from './types.ts';

const MAX_PER_PAGE = 100;
const DEFAULT_PER_PAGE = 20;

/** Kopeks that one spin paid in stars takes from the balance. */
export function spinPriceKopeks(app: App, config: WheelConfig): number {
  return kopeksForStarsFloor(config.spinCostStars, app.settings.get('MESSENGER_STARS_RATE_RUB'));
}

/** The current data that decides whether a user may spin. */
export async function factsOf(
  app: App,
  user: { userId: number; balanceKopeks: number; subscription: Subscription | null },
): Promise<{ facts: SpinFacts; prizes: WheelPrize[] }> {
  const now = app.clock.now();
  const { config, prizes, spinsToday } = await readWheelFor(app.db, user.userId, { now, since: startOfDay(now) });
  const { balanceKopeks, subscription } = user;
  const requiredKopeks = spinPriceKopeks(app, config);
  return { facts: { config, activePrizes: prizes.length, spinsToday, balanceKopeks, subscription, requiredKopeks, now }, prizes };
}

export interface WheelView {
  config: WheelConfig;
  prizes: WheelPrize[];
  spinsToday: number;
  availability: Availability;
  hasSubscription: boolean;
}

/** The wheel as the user sees it (spec 04 sections 13.2 and 13.5). Changes nothing. */
export async function readWheel(app: App, { userId }: UserActor): Promise<WheelView> {
  const user = await readSpinner(app.db, userId);
  const subscription = (await readUserSubscription(app, userId))?.subscription ?? null;
  const { facts, prizes } = await factsOf(app, { userId, balanceKopeks: user?.balanceKopeks ?? 0, subscription });
  return {
    config: facts.config,
    prizes,
    spinsToday: facts.spinsToday,
    availability: availabilityOf(facts),
    hasSubscription: subscription !== null && isActive(subscription, facts.now),
  };
}

export interface SpinPage {
  items: SpinRecord[];
  total: number;
  page: number;
  perPage: number;
}

/** The user's spins, newest first; a page or size out of bounds becomes the default. */
export async function readSpinHistory(
  app: App,
  { userId }: UserActor,
  requested: { page: number; perPage: number },
): Promise<SpinPage> {
  const page = Math.max(1, requested.page);
  const perPage = requested.perPage >= 1 && requested.perPage <= MAX_PER_PAGE ? requested.perPage : DEFAULT_PER_PAGE;
  const window = { limit: perPage, offset: offsetOf(page, perPage) };
  const { items, total } = await listSpins(app.db, { userId, from: null, to: null }, window);
  return { items, total, page, perPage };
}
