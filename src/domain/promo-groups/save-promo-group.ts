import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { type Changes, givenFields } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { checkBounds } from '../../core/field-bounds.ts';
import { text } from '../messaging/texts.ts';
import { promoGroupNameTaken, promoGroupNotFound } from './errors.ts';
import {
  findOldestOther,
  findRecord,
  insertGroup,
  isNameTaken,
  lockGroupChanges,
  markDefault,
  nameFirstGroup,
  unmarkDefault,
  updateGroup,
} from './record-repo.ts';
import { findDefaultGroup } from './repo.ts';
import { clampPercent, periodDiscountsOf, thresholdOf } from './rules.ts';
import type { PromoGroupRecord, PromoGroupValues } from './types.ts';

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
 * Names the promo group of a new shop in its first language (spec 10 R5): migrations do not know the settings. A shop with users, or a group
 * that was changed, keeps its name.
 */
export function nameFirstPromoGroup(app: App): Promise<void> {
  return nameFirstGroup(app.db, text(app.settings.get('DEFAULT_LANGUAGE'), 'promo.first_group'));
}
