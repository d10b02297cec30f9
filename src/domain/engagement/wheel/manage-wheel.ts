import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { offsetOf } from '../../../core/paging.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { expectedRtp, probabilitiesOf } from './odds.ts';
import { deletePrize, insertPrize, lockPrize, reorderPrizes, updatePrize } from './prize-repo.ts';
import { spinPriceKopeks } from './read-wheel.ts';
import { listPrizes, lockConfig, readConfig, updateConfig } from './repo.ts';
import { hasCodeValue, MAX_PRIZE_DAYS } from './rules.ts';
import { listSpins, readStatistics } from './spin-repo.ts';
import type { Period, PrizeFields, SpinRecord, WheelConfig, WheelConfigChanges, WheelPrize, WheelStatistics } from './types.ts';

export const prizeNotFound = refusal('prize_not_found', 404, 'Prize not found');
export const noFields = refusal('no_fields', 400, 'No fields to update');

export interface WheelForm {
  config: WheelConfig;
  /** Inactive ones too. */
  prizes: WheelPrize[];
  /** Average payout of a spin paid in stars, in percent; null without active prizes (spec 04 section 13.3). */
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
 * Changes the given fields of a prize; null changes nothing, except that a null `manualProbability` clears it (spec 04 section 13.6).
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

/** @throws ValidationError 422 for the prize `promocode` with neither days nor bonus; the text is that of promo codes (spec 04 section 7.4) */
function checkCode(prize: PrizeFields): void {
  if (prize.prizeType !== 'promocode' || hasCodeValue(prize)) return;
  const loc = ['body', 'promo_balance_bonus_kopeks'];
  const error = 'Value error, Balance bonus must be positive for balance promo codes';
  throw new ValidationError([validationIssue('value_error', loc, prize.promoBalanceBonusKopeks, { error })]);
}

/** Deletes a prize; its spins stay (spec 04 section 13.6). @throws AppError 404 */
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
