import type { Actor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { type Changes, givenFields } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { checkBounds } from '../../core/field-bounds.ts';
import { syncPrimaryGroups } from '../identity/promo-account.ts';
import { text } from '../messaging/texts.ts';
import {
  deleteGroup,
  findDefaultGroup,
  findOldestOther,
  findRecord,
  findTotalSpent,
  hasMembers,
  insertGroup,
  isNameTaken,
  listRecords,
  listTiers,
  lockAgainstJoining,
  lockGroupChanges,
  lockNextMembers,
  markDefault,
  moveMembers,
  moveOnlyServers,
  nameFirstGroup,
  unmarkDefault,
  updateGroup,
} from './repo.ts';
import type { PromoGroup, PromoGroupRecord, PromoGroupValues } from './types.ts';

const MAX_NAME_LENGTH = 255;

export interface NewPromoGroup extends Omit<PromoGroupValues, 'periodDiscounts' | 'autoAssignTotalSpentKopeks'> {
  isDefault: boolean;
  /** Null and absent = none. */
  periodDiscounts?: PromoGroupValues['periodDiscounts'] | null | undefined;
  autoAssignTotalSpentKopeks?: number | null | undefined;
}

/**
 * Creates a promo group (spec 04 section 8.4). The first group, and one with `isDefault`, becomes the default group instead of the current one.
 * @throws AppError 400 'Promo group with this name already exists'; ValidationError 422 for an empty or too long name and for
 * periods that are not days
 */
export function createPromoGroup(app: App, _actor: Actor, request: NewPromoGroup): Promise<PromoGroupRecord> {
  const { periodDiscounts, autoAssignTotalSpentKopeks, ...rest } = request;
  const values = cleaned({
    ...rest,
    periodDiscounts: periodDiscounts ?? {},
    autoAssignTotalSpentKopeks: autoAssignTotalSpentKopeks ?? null,
  });
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockGroupChanges(t.db);
    const isDefault = request.isDefault || (await findDefaultGroup(t.db)) === null;
    if (isDefault) await unmarkDefault(t.db, now);
    const id = await insertGroup(t.db, values, isDefault, now);
    if (id === null) throw promoGroupNameTaken();
    const group = (await findRecord(t.db, id))!;
    t.audit?.record({ resourceId: id, before: null, after: group });
    return group;
  });
}

/**
 * Changes the given fields; undefined and null keep what is stored, a threshold of 0 clears it, empty `periodDiscounts` too. When the
 * default group loses the flag, the oldest other group becomes the default; the only group stays the default.
 * @throws AppError 404 'Promo group not found', 400 as for creation; ValidationError as for creation
 */
export function changePromoGroup(
  app: App,
  _actor: Actor,
  groupId: number,
  request: Changes<PromoGroupValues & { isDefault: boolean }>,
): Promise<PromoGroupRecord> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockGroupChanges(t.db);
    const before = await findRecord(t.db, groupId);
    if (!before) throw promoGroupNotFound();
    const { isDefault, ...changes } = givenFields(request);
    const values = cleaned({ ...before, ...changes });
    if (await isNameTaken(t.db, values.name, before.id)) throw promoGroupNameTaken();
    await updateGroup(t.db, before.id, values, now);
    const newDefault =
      isDefault === undefined || isDefault === before.isDefault ? null : await newDefaultOf(t, before.id, isDefault);
    if (newDefault !== null) {
      await unmarkDefault(t.db, now);
      await markDefault(t.db, newDefault, now);
    }
    const group = (await findRecord(t.db, before.id))!;
    t.audit?.record({ resourceId: before.id, before, after: group });
    return group;
  });
}

/** The default group after the change; null = it stays. */
async function newDefaultOf(t: App, groupId: number, isDefault: boolean): Promise<number | null> {
  return isDefault ? groupId : findOldestOther(t.db, groupId);
}

function cleaned(values: PromoGroupValues): PromoGroupValues {
  const name = values.name.trim();
  checkBounds([{ name: 'name', value: name, minLength: 1, maxLength: MAX_NAME_LENGTH }]);
  return {
    name,
    serverDiscountPercent: clampPercent(values.serverDiscountPercent),
    trafficDiscountPercent: clampPercent(values.trafficDiscountPercent),
    deviceDiscountPercent: clampPercent(values.deviceDiscountPercent),
    periodDiscounts: periodDiscountsOf(values.periodDiscounts),
    autoAssignTotalSpentKopeks: thresholdOf(values.autoAssignTotalSpentKopeks),
    applyDiscountsToAddons: values.applyDiscountsToAddons,
  };
}

/**
 * Names the promo group of a new service in its first language (spec 10 R5): migrations do not know the settings. A service with users, or
 * a group that was changed, keeps its name.
 */
export function nameFirstPromoGroup(app: App): Promise<void> {
  return nameFirstGroup(app.db, text(app.settings.get('DEFAULT_LANGUAGE'), 'promo.first_group'));
}

/** Members moved by one transaction; their rows stay locked until its end, so it must be short. */
const BATCH = 500;
/** Rounds over the members; each later round moves only users who joined the group during the previous one. */
const MAX_ROUNDS = 10;

/**
 * Deletes a promo group; its members move to the default group. One transaction moves one batch, so that even a
 * million members block others no longer than one batch. The group is deleted after its last member, and the call is answered after
 * that. An interrupted call leaves a group with fewer members, and the next call continues.
 * @throws AppError 404 'Promo group not found' | 400 'Cannot delete default promo group'
 */
export async function deletePromoGroup(app: App, _actor: Actor, groupId: number): Promise<void> {
  const before = await findRecord(app.db, groupId);
  if (!before) throw promoGroupNotFound();
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    await emptyGroup(app, before.id);
    if (await inTransaction(app, (t) => deleteEmptied(t, before.id, before.membersCount))) return;
  }
  throw new Error(`users keep joining promo group ${groupId}`);
}

/** Moves all current members to the default group. Parallel calls run one after the other. */
async function emptyGroup(app: App, groupId: number): Promise<void> {
  let afterId: number | null = 0;
  while (afterId !== null) {
    const from: number = afterId;
    afterId = await inTransaction(app, (t) => moveBatch(t, groupId, from));
  }
}

/** @returns the last member that was moved; null = there were no members after `afterId` */
async function moveBatch(t: App, groupId: number, afterId: number): Promise<number | null> {
  const { targetId } = await lockDeletableGroup(t, groupId);
  const now = t.clock.now();
  const members = await lockNextMembers(t.db, groupId, afterId, BATCH);
  const last = members.at(-1);
  if (last === undefined) return null;
  await moveMembers(t.db, members, { fromId: groupId, toId: targetId, now });
  await syncPrimaryGroups(t.db, members, groupId, now);
  return last;
}

/**
 * @param membersCount for the audit log: the members before the deletion
 * @returns false when a user has joined the group since; then nothing is changed
 */
async function deleteEmptied(t: App, groupId: number, membersCount: number): Promise<boolean> {
  const { group, targetId } = await lockDeletableGroup(t, groupId);
  // User rows are never locked after the group's row (spec 00, lock order): members who joined since are moved by the next round.
  await lockAgainstJoining(t.db, group.id);
  if (await hasMembers(t.db, group.id)) return false;
  await moveOnlyServers(t.db, group.id, targetId);
  await deleteGroup(t.db, group.id);
  t.audit?.record({ resourceId: group.id, before: { ...group, membersCount }, after: null });
  return true;
}

/** Serializes changes of groups. Members and servers move to the default group. @throws AppError 404 | 400 */
async function lockDeletableGroup(t: App, groupId: number): Promise<{ group: PromoGroupRecord; targetId: number }> {
  await lockGroupChanges(t.db);
  const group = await findRecord(t.db, groupId);
  if (!group) throw promoGroupNotFound();
  const target = await findDefaultGroup(t.db);
  if (group.isDefault || !target) throw defaultGroupNotDeletable();
  return { group, targetId: target.id };
}

/** One page of groups, highest priority first, then by name. */
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

/** Percentages outside of 0..100 become the nearer bound. */
function clampPercent(percent: number): number {
  return Math.min(100, Math.max(0, percent));
}

/** Kopeks; a threshold of 0 or less means none: null. */
export function thresholdOf(kopeks: number | null): number | null {
  return kopeks !== null && kopeks > 0 ? kopeks : null;
}

/**
 * Discounts by period in days (spec 04 section 8.2); percentages are clamped.
 * @throws ValidationError 422 for a key that is not a whole number of days above 0
 */
export function periodDiscountsOf(discounts: Readonly<Record<string, number>>): Record<string, number> {
  const wrong = Object.keys(discounts).filter((days) => !/^[1-9]\d{0,5}$/.test(days));
  if (wrong.length > 0) {
    const msg = 'Input should be a valid integer, unable to parse string as an integer';
    throw new ValidationError(
      wrong.map((days) => ({ loc: ['body', 'period_discounts', days], type: 'int_parsing', msg, input: days })),
    );
  }
  return Object.fromEntries(Object.entries(discounts).map(([days, percent]) => [days, clampPercent(percent)]));
}

export const promoGroupNotFound = refusal('promo_group_not_found', 404, 'Promo group not found');

export const promoGroupNameTaken = refusal('promo_group_name_taken', 400, 'Promo group with this name already exists');

export const defaultGroupNotDeletable = refusal('promo_group_is_default', 400, 'Cannot delete default promo group');

/** A promo group that users get by their total spending. */
interface LoyaltyTier {
  group: PromoGroup;
  thresholdKopeks: number;
}

export interface LoyaltyStatus {
  tiers: (LoyaltyTier & { isAchieved: boolean; isCurrent: boolean })[];
  spentKopeks: number;
  current: LoyaltyTier | null;
  next: LoyaltyTier | null;
  /** 0 to 100, two decimals. */
  progressPercent: number;
}

/**
 * Progress of a user, by spending and not by membership: current = the highest tier reached, next = the first
 * one that is not.
 * @param tiers by threshold, lowest first
 */
export function loyaltyStatus(tiers: readonly LoyaltyTier[], spentKopeks: number): LoyaltyStatus {
  const reached = tiers.filter((tier) => spentKopeks >= tier.thresholdKopeks);
  const current = reached.at(-1) ?? null;
  const next = tiers.find((tier) => spentKopeks < tier.thresholdKopeks) ?? null;
  return {
    tiers: tiers.map((tier) => ({ ...tier, isAchieved: reached.includes(tier), isCurrent: tier === current })),
    spentKopeks,
    current,
    next,
    progressPercent: progressOf(tiers, next, spentKopeks),
  };
}

function progressOf(tiers: readonly LoyaltyTier[], next: LoyaltyTier | null, spentKopeks: number): number {
  if (tiers.length === 0) return 0;
  if (next === null) return 100;
  return Math.min(100, Math.floor((spentKopeks * 10_000) / next.thresholdKopeks) / 100);
}
