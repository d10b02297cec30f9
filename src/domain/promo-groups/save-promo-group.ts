import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { checkBounds } from '../../core/field-bounds.ts';
import { promoGroupNameTaken, promoGroupNotFound } from './errors.ts';
import {
  findOldestOther,
  findRecord,
  insertGroup,
  isNameTaken,
  lockGroupChanges,
  markDefault,
  unmarkDefault,
  updateGroup,
} from './record-repo.ts';
import { findDefaultGroup } from './repo.ts';
import { clampPercent, periodDiscountsOf, thresholdOf } from './rules.ts';
import type { PromoGroupRecord, PromoGroupValues } from './types.ts';

const MAX_NAME_LENGTH = 255;

export interface PromoGroupRequest extends PromoGroupValues {
  isDefault: boolean;
}

/**
 * Creates a promo group (spec 04 section 8.4). The first one, and one that asks for it, becomes the default in the place of another.
 * @throws AppError 400 'Promo group with this name already exists'; ValidationError 422 for an empty or too long name and for
 * periods that are no days
 */
export function createPromoGroup(app: App, _actor: Actor, request: PromoGroupRequest): Promise<PromoGroupRecord> {
  const values = cleaned(request);
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockGroupChanges(t.db);
    const isDefault = request.isDefault || (await findDefaultGroup(t.db)) === null;
    if (isDefault) await unmarkDefault(t.db, now);
    const id = await insertGroup(t.db, values, isDefault, now);
    if (id === null) throw promoGroupNameTaken();
    const group = (await findRecord(t.db, id))!;
    t.audit?.note({ resourceId: id, before: null, after: group });
    return group;
  });
}

/**
 * Changes what is given; undefined keeps what is stored, a threshold of 0 clears it, empty `periodDiscounts` too. The default group
 * hands its mark to the oldest other one when it is to be default no longer; alone, it keeps it.
 * @throws AppError 404 'Promo group not found', 400 as for creation; ValidationError as for creation
 */
export function changePromoGroup(
  app: App,
  _actor: Actor,
  groupId: number,
  request: Partial<PromoGroupRequest>,
): Promise<PromoGroupRecord> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockGroupChanges(t.db);
    const before = await findRecord(t.db, groupId);
    if (!before) throw promoGroupNotFound();
    const { isDefault, ...changes } = request;
    const values = cleaned({ ...before, ...given(changes) });
    if (await isNameTaken(t.db, values.name, before.id)) throw promoGroupNameTaken();
    await updateGroup(t.db, before.id, values, now);
    const heir = isDefault === undefined || isDefault === before.isDefault ? null : await heirOf(t, before.id, isDefault);
    if (heir !== null) {
      await unmarkDefault(t.db, now);
      await markDefault(t.db, heir, now);
    }
    const group = (await findRecord(t.db, before.id))!;
    t.audit?.note({ resourceId: before.id, before, after: group });
    return group;
  });
}

/** Who has the mark after the change; null = nothing moves. */
async function heirOf(t: App, groupId: number, isDefault: boolean): Promise<number | null> {
  return isDefault ? groupId : findOldestOther(t.db, groupId);
}

function given<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
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
