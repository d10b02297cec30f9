import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { startOfDay } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { offsetOf } from '../../../core/paging.ts';
import type { Random } from '../../../core/random.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { kopeksForStarsFloor } from '../../payments/stars-invoices.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { isActive } from '../../subscriptions/rules/status.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import {
  deletePrize,
  insertPrize,
  listPrizes,
  listSpins,
  lockConfig,
  lockPrize,
  readConfig,
  readSpinner,
  readStatistics,
  readWheelFor,
  reorderPrizes,
  updateConfig,
  updatePrize,
  type WheelFor,
} from './repo.ts';
import { availabilityOf, hasCodeValue, MAX_PRIZE_DAYS, type SpinFacts } from './rules.ts';
import type {
  Availability,
  Period,
  PrizeFields,
  SpinRecord,
  WheelConfig,
  WheelConfigChanges,
  WheelPrize,
  WheelStatistics,
} from './types.ts';

export const prizeNotFound = refusal('prize_not_found', 404, 'Prize not found');
export const noFields = refusal('no_fields', 400, 'No fields to update');

export interface WheelForm {
  config: WheelConfig;
  /** Inactive ones too. */
  prizes: WheelPrize[];
  /** Average payout of a spin paid in stars, in percent; null without active prizes. */
  expectedRtpPercent: number | null;
}

/** The wheel as an administrator sees it (spec 04 section 13.6). */
export async function readWheelForm(app: App): Promise<WheelForm> {
  const config = await readConfig(app.db, app.clock.now());
  const prizes = await listPrizes(app.db, { activeOnly: false });
  return { config, prizes, expectedRtpPercent: expectedOf(app, config, prizes) };
}

function expectedOf(app: App, config: WheelConfig, prizes: readonly WheelPrize[]): number | null {
  const active = prizes.filter((prize) => prize.isActive);
  const price = spinPriceKopeks(app, config);
  if (active.length === 0) return null;
  const percent = expectedRtp(active, probabilitiesOf(active, price, config.rtpPercent), price);
  return Math.round(percent * 100) / 100;
}

/** Changes the given settings of the wheel. @throws AppError 400 for a request without any field */
export async function changeWheel(app: App, changes: WheelConfigChanges): Promise<WheelForm> {
  if (Object.keys(changes).length === 0) throw noFields();
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    const before = await lockConfig(t.db, now);
    const after = await updateConfig(t.db, changes, now);
    app.audit?.record({ resourceId: after.id, before, after });
    return readWheelForm(t);
  });
}

/** @returns all prizes in the order of the wheel */
export function listWheelPrizes(app: App): Promise<WheelPrize[]> {
  return listPrizes(app.db, { activeOnly: false });
}

export interface NewPrize extends Omit<PrizeFields, 'manualProbability'> {
  /** Null and absent = computed. */
  manualProbability?: number | null | undefined;
}

/** @throws ValidationError 422 for numbers out of bounds, and for a promo code that would give nothing */
export async function createPrize(app: App, { manualProbability = null, ...request }: NewPrize): Promise<WheelPrize> {
  const fields = { ...request, manualProbability };
  checkColumns(fields);
  checkCode(fields);
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await readConfig(t.db, now);
    const after = await insertPrize(t.db, fields, now);
    app.audit?.record({ resourceId: after.id, before: null, after });
    return after;
  });
}

/**
 * Changes the given fields of a prize; null changes nothing, except that a null `manualProbability` clears it.
 * @throws AppError 400 for a request without any field | 404; ValidationError 422 as for creation, checked for the changed prize
 */
export async function changePrize(app: App, id: number, request: Changes<PrizeFields>): Promise<WheelPrize> {
  // Before the look-up, so that an empty request for an unknown prize is 400 too (spec 10 R4).
  if (Object.keys(request).length === 0) throw noFields();
  return inTransaction(app, async (t) => {
    const before = await lockPrize(t.db, id);
    if (!before) throw prizeNotFound();
    const clears = request.manualProbability === null ? { manualProbability: null } : {};
    const changes: Partial<PrizeFields> = { ...givenFields(request), ...clears };
    checkColumns(changes);
    if (CODE_FIELDS.some((field) => field in changes)) checkCode({ ...before, ...changes });
    const after = await updatePrize(t.db, id, changes, t.clock.now());
    app.audit?.record({ resourceId: id, before, after });
    return after;
  });
}

/** Amounts too: larger balances and sums of spins would exceed the exact range of numbers. */
function checkColumns(fields: Partial<PrizeFields>): void {
  checkBounds([
    { name: 'prize_value', value: fields.prizeValue },
    { name: 'prize_value_kopeks', value: fields.prizeValueKopeks },
    { name: 'promo_balance_bonus_kopeks', value: fields.promoBalanceBonusKopeks },
    { name: 'sort_order', value: fields.sortOrder },
    { name: 'promo_subscription_days', value: fields.promoSubscriptionDays, max: MAX_PRIZE_DAYS },
    { name: 'promo_traffic_gb', value: fields.promoTrafficGb },
  ]);
}

/** The value of a code depends on these; a stored prize without value can still be renamed and deactivated. */
const CODE_FIELDS = ['prizeType', 'promoBalanceBonusKopeks', 'promoSubscriptionDays'] as const;

/** @throws ValidationError 422 for the prize `promocode` with neither days nor bonus; the text is that of promo codes */
function checkCode(prize: PrizeFields): void {
  if (prize.prizeType !== 'promocode' || hasCodeValue(prize)) return;
  const loc = ['body', 'promo_balance_bonus_kopeks'];
  const error = 'Value error, Balance bonus must be positive for balance promo codes';
  throw new ValidationError([validationIssue('value_error', loc, prize.promoBalanceBonusKopeks, { error })]);
}

/** Deletes a prize; its spins stay. @throws AppError 404 */
export async function removePrize(app: App, id: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await lockPrize(t.db, id);
    if (!before) throw prizeNotFound();
    await deletePrize(t.db, id);
    app.audit?.record({ resourceId: id, before, after: null });
  });
}

/** Sets the order of the prizes. */
export async function orderPrizes(app: App, ids: readonly number[]): Promise<void> {
  await inTransaction(app, async (t) => {
    const order = async () => (await listPrizes(t.db, { activeOnly: false })).map((prize) => prize.id);
    const before = await order();
    await reorderPrizes(t.db, ids, t.clock.now());
    t.audit?.record({ before: { prize_ids: before }, after: { prize_ids: await order() } });
  });
}

/** Spins of all users or of one, newest first; both bounds of the period are included. */
export function listWheelSpins(
  app: App,
  filter: Period & { userId: number | null },
  { page, perPage }: { page: number; perPage: number },
): Promise<{ items: SpinRecord[]; total: number }> {
  return listSpins(app.db, filter, { limit: perPage, offset: offsetOf(page, perPage) });
}

/** Sums of a period, with the actual and the configured payout ratio. */
export async function readWheelStatistics(
  app: App,
  period: Period,
): Promise<WheelStatistics & { actualRtpPercent: number; configuredRtpPercent: number }> {
  const statistics = await readStatistics(app.db, period);
  const { rtpPercent } = await readConfig(app.db, app.clock.now());
  const { totalRevenueKopeks: revenue, totalPayoutKopeks: payout } = statistics;
  const actualRtpPercent = revenue === 0 ? 0 : Math.round((payout / revenue) * 10_000) / 100;
  return { ...statistics, actualRtpPercent, configuredRtpPercent: rtpPercent };
}

const MAX_PER_PAGE = 100;
const DEFAULT_PER_PAGE = 20;

/** Kopeks that one spin paid in stars takes from the balance. */
function spinPriceKopeks(app: App, config: WheelConfig): number {
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

/** The user's spins, newest first; a page or size out of bounds becomes the default. */
export async function readSpinHistory(app: App, { userId }: UserActor, requested: { page: number; perPage: number }) {
  const page = Math.max(1, requested.page);
  const perPage = requested.perPage >= 1 && requested.perPage <= MAX_PER_PAGE ? requested.perPage : DEFAULT_PER_PAGE;
  const window = { limit: perPage, offset: offsetOf(page, perPage) };
  const { items, total } = await listSpins(app.db, { userId, from: null, to: null }, window);
  return { items, total, page, perPage };
}

// The chances of the wheel, pure.

export interface OddsPrize {
  prizeValueKopeks: number;
  manualProbability: number | null;
}

const MIN_WEIGHT = 0.01;
/** Steps of a draw: the precision of a double, within the range of the random source. */
const DRAW_STEPS = 2 ** 47;

const isManual = (prize: OddsPrize) => prize.manualProbability !== null && prize.manualProbability > 0;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/**
 * The chance of each prize, in the order given; they sum to 1. Manual chances stay; the rest is distributed by weight; where that
 * would pay out more than `rtpPercent` and a prize without value can take the difference, the prizes with value are scaled down.
 * @param spinKopeks value of the payment
 * @throws RangeError without prizes
 */
export function probabilitiesOf(prizes: readonly OddsPrize[], spinKopeks: number, rtpPercent: number): number[] {
  if (prizes.length === 0) throw new RangeError('A wheel without prizes has no chances');
  const target = (spinKopeks * rtpPercent) / 100;
  const manual = prizes.map((prize) => (isManual(prize) ? prize.manualProbability! : 0));
  const manualSum = sum(manual);
  const rest = Math.max(0, 1 - manualSum);
  const weights = prizes.map((prize) => (isManual(prize) ? 0 : weightOf(prize, target)));
  const weightSum = sum(weights);
  if (weightSum === 0 || rest === 0) return manual.map((chance) => chance / manualSum);
  const chances = prizes.map((_, index) => manual[index]! + (weights[index]! / weightSum) * rest);
  return scaleToTarget(prizes, normalise(chances), target);
}

function weightOf({ prizeValueKopeks }: OddsPrize, target: number): number {
  return prizeValueKopeks > 0 ? Math.max(target / prizeValueKopeks, MIN_WEIGHT) : 1;
}

function normalise(chances: readonly number[]): number[] {
  const total = sum(chances);
  return chances.map((chance) => chance / total);
}

function scaleToTarget(prizes: readonly OddsPrize[], chances: number[], target: number): number[] {
  const paidBy = (takes: (prize: OddsPrize) => boolean) =>
    sum(prizes.map((prize, index) => (takes(prize) ? chances[index]! * prize.prizeValueKopeks : 0)));
  const isBlank = (prize: OddsPrize) => !isManual(prize) && prize.prizeValueKopeks === 0;
  const blanks = prizes.filter(isBlank).length;
  const automatic = paidBy((prize) => !isManual(prize));
  const fixed = paidBy(isManual);
  if (fixed + automatic <= target || blanks === 0 || automatic === 0) return chances;
  const scale = Math.max(0, target - fixed) / automatic;
  const scaled = prizes.map((prize, index) => (isManual(prize) || isBlank(prize) ? chances[index]! : chances[index]! * scale));
  const freed = 1 - sum(scaled);
  return prizes.map((prize, index) => scaled[index]! + (isBlank(prize) ? freed / blanks : 0));
}

/** Average payout of these chances, in percent of the price of the spin; 0 for a free spin. */
export function expectedRtp(prizes: readonly OddsPrize[], chances: readonly number[], spinKopeks: number): number {
  const paid = sum(prizes.map((prize, index) => chances[index]! * prize.prizeValueKopeks));
  return spinKopeks > 0 ? (paid / spinKopeks) * 100 : 0;
}

/** Index of the drawn prize: the first whose cumulated chance reaches a uniform number above 0 and up to 1. */
export function draw(chances: readonly number[], random: Random): number {
  const threshold = (random.int(0, DRAW_STEPS) + 1) / DRAW_STEPS;
  let cumulated = 0;
  for (const [index, chance] of chances.entries()) {
    cumulated += chance;
    if (cumulated >= threshold) return index;
  }
  // Rounding can make the sum of the chances slightly less than 1.
  return chances.findLastIndex((chance) => chance > 0);
}

/** Rotation that stops at prize `index` of `count`: 5 to 8 whole turns, then into its sector. */
export function rotationDegrees(index: number, count: number, random: Random): number {
  const sector = 360 / count;
  const jitter = (random.int(-300, 301) / 1_000) * sector;
  return 360 * random.int(5, 9) + 360 - (index + 0.5) * sector + jitter;
}
