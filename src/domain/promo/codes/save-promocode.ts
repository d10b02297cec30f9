import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { type BoundField, checkBounds } from '../../../core/field-bounds.ts';
import { userNotFound } from '../../identity/errors.ts';
import { lockPromoGroupForShare } from '../../promo-groups/memberships.ts';
import { codeTaken, limitBelowUses, promocodeNotFound, promoGroupUnknown, tooManyHolders, valuesRefused } from './errors.ts';
import { lockHolders, renameSource } from './redeem-repo.ts';
import { deleteCode, findCodeById, holdUser, insertCode, lockCode, updateCode } from './repo.ts';
import { discountSource, normaliseCode, storedMaxUses, valueRefusal } from './rules.ts';
import type { Promocode, PromocodeValues } from './types.ts';

const MAX_CODE_LENGTH = 50;
/** A hundred years; days, and for a discount hours, beyond it lead to dates that no calendar holds. */
const MAX_DAYS = 36_500;
/** Renaming writes the row of every user who holds a discount of the code now: so many fit well into one transaction. */
const MAX_HOLDERS_RENAMED = 10_000;

export interface NewPromocode extends Omit<PromocodeValues, 'validFrom'> {
  /** null = now. */
  validFrom: Date | null;
  createdBy: number | null;
}

/**
 * Creates a promo code; it is stored trimmed and in upper case (spec 04 section 7.4).
 * @throws AppError 400 with the texts of section 7.4 | 404 'Promo group not found' | 404 'User not found' (`createdBy`);
 * ValidationError 422 for a code of more than 50 characters and numbers out of bounds
 */
export async function createPromocode(app: App, _actor: Actor, request: NewPromocode): Promise<Promocode> {
  const { createdBy, ...given } = request;
  const values = checked({ ...given, validFrom: request.validFrom ?? app.clock.now() });
  return inTransaction(app, async (t) => {
    if (createdBy !== null && !(await holdUser(t.db, createdBy))) throw userNotFound();
    await holdGroupOf(t, values);
    const saved = await insertCode(t.db, values, createdBy, t.clock.now());
    if (!saved) throw codeTaken();
    t.audit?.note({ resourceId: saved.id, before: null, after: saved });
    return saved;
  });
}

/**
 * Changes what is given; undefined keeps what is stored. The same rules hold for what comes out (spec 04 section 7.4). Discounts that a
 * renamed code gave follow its name, by which they are given back (section 7.3).
 * @throws AppError 404 'Promo code not found' | 400 'max_uses cannot be less than current uses' | 400 for a new name when more than
 * 10,000 users hold a discount of the code; the rest as for creation
 */
export async function changePromocode(
  app: App,
  _actor: Actor,
  promocodeId: number,
  changes: Partial<PromocodeValues>,
): Promise<Promocode> {
  try {
    return await inTransaction(app, async (t) => {
      await lockHoldersOf(t, promocodeId, changes.code);
      const before = await lockCode(t.db, promocodeId);
      if (!before) throw promocodeNotFound();
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const values = checked({ ...before, ...given });
      if (values.maxUses < before.currentUses) throw limitBelowUses();
      await holdGroupOf(t, values);
      const now = t.clock.now();
      const saved = await updateCode(t.db, before.id, values, now);
      if (saved.code !== before.code) {
        const [from, to] = [discountSource(before.code), discountSource(saved.code)];
        await renameSource(t.db, saved.id, { from, to, now });
      }
      t.audit?.note({ resourceId: saved.id, before, after: saved });
      return saved;
    });
  } catch (error) {
    if (isUniqueViolation(error, 'code')) throw codeTaken();
    throw error;
  }
}

/**
 * Of a code that is to be renamed. Users come before codes in the order of locks (spec 00, Consistency): without this the rename would
 * wait for somebody who is giving the discount back and waits for the code. Whoever gets the discount between this and the lock of the
 * code is renamed, too; only there can the two still meet, and run anew.
 */
async function lockHoldersOf(t: App, promocodeId: number, newCode: string | undefined): Promise<void> {
  if (newCode === undefined) return;
  const code = await findCodeById(t.db, promocodeId);
  if (!code || code.code === normaliseCode(newCode)) return;
  const holders = await lockHolders(t.db, code.id, discountSource(code.code), MAX_HOLDERS_RENAMED + 1);
  if (holders > MAX_HOLDERS_RENAMED) throw tooManyHolders();
}

/**
 * Deletes a code and its use rows. The log of activations stays, so that the daily limit holds; so does the spin of the wheel that won
 * the code, without it (spec 04 sections 13.7 and 18, before 7.4).
 * @throws AppError 404 'Promo code not found'
 */
export function deletePromocode(app: App, _actor: Actor, promocodeId: number): Promise<void> {
  return inTransaction(app, async (t) => {
    const promocode = await lockCode(t.db, promocodeId);
    if (!promocode) throw promocodeNotFound();
    await deleteCode(t.db, promocode.id);
    t.audit?.note({ resourceId: promocode.id, before: promocode, after: null });
  });
}

async function holdGroupOf(t: App, { promoGroupId }: PromocodeValues): Promise<void> {
  if (promoGroupId !== null && !(await lockPromoGroupForShare(t, promoGroupId))) throw promoGroupUnknown();
}

function checked(request: PromocodeValues): PromocodeValues {
  const values = { ...request, code: normaliseCode(request.code), maxUses: storedMaxUses(request.maxUses) };
  const reason = valueRefusal(values);
  if (reason) throw valuesRefused(reason);
  checkBounds(boundsOf(values));
  return values;
}

function boundsOf(values: PromocodeValues): BoundField[] {
  const maxDuration = values.type === 'discount' ? MAX_DAYS * 24 : MAX_DAYS;
  return [
    { name: 'code', value: values.code, maxLength: MAX_CODE_LENGTH },
    { name: 'balance_bonus_kopeks', value: values.balanceBonusKopeks, min: 0 },
    { name: 'subscription_days', value: values.subscriptionDays, min: 0, max: maxDuration },
    { name: 'max_uses', value: values.maxUses, min: 0 },
  ];
}
