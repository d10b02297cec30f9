import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { startOfDay } from '../../../core/clock.ts';
import { offsetOf } from '../../../core/paging.ts';
import { kopeksForStarsFloor } from '../../payments/stars-rate.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { isActive } from '../../subscriptions/rules/status.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { readWheelFor, type WheelFor } from './repo.ts';
import { availabilityOf, type SpinFacts } from './rules.ts';
import { listSpins, readSpinner } from './spin-repo.ts';
import type { Availability, SpinRecord, WheelConfig, WheelPrize } from './types.ts';

const MAX_PER_PAGE = 100;
const DEFAULT_PER_PAGE = 20;

/** Kopeks that one spin paid in stars takes from the balance. */
export function spinPriceKopeks(app: App, config: WheelConfig): number {
  return kopeksForStarsFloor(config.spinCostStars, app.settings.get('MESSENGER_STARS_RATE_RUB'));
}

/** The data that decides whether a user may spin. */
export function factsOf(
  app: App,
  { config, prizes, spinsToday }: WheelFor,
  user: { balanceKopeks: number; subscription: Subscription | null; now: Date },
): SpinFacts {
  return { config, activePrizes: prizes.length, spinsToday, requiredKopeks: spinPriceKopeks(app, config), ...user };
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
  const now = app.clock.now();
  const wheel = await readWheelFor(app.db, userId, { now, since: startOfDay(now) });
  const facts = factsOf(app, wheel, { balanceKopeks: user?.balanceKopeks ?? 0, subscription, now });
  return {
    config: facts.config,
    prizes: wheel.prizes,
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
