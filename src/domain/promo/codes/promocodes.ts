import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { startOfDay } from '../../../core/clock.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { type BoundField, checkBounds } from '../../../core/field-bounds.ts';
import { userNotFound } from '../../identity/errors.ts';
import { lockPromoGroupForShare } from '../../promo-groups/memberships.ts';
import { codeTaken, limitBelowUses, promocodeNotFound, promoGroupUnknown, tooManyDiscounts, VALUE_REFUSALS } from './errors.ts';
import {
  deleteCode,
  findCodeById,
  findCodeByText,
  insertCode,
  listCodes,
  lockCode,
  lockDiscountedUsers,
  lockUserForShare,
  type PromocodeFilter,
  readUses,
  renameSource,
  updateCode,
} from './repo.ts';
import type { PersonalDiscount, Promocode, PromocodeDetails, PromocodeValues, RedeemerFacts } from './types.ts';

const MAX_CODE_LENGTH = 50;
/** A hundred years; more days (hours of a discount) lead to dates outside of the calendar. */
const MAX_DAYS = 36_500;
/** Renaming updates the row of every user with a discount of the code; one transaction can update this many. */
const MAX_RENAMED_DISCOUNTS = 10_000;

export interface NewPromocode extends Omit<PromocodeValues, 'validFrom'> {
  /** Null = now. */
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
    if (createdBy !== null && !(await lockUserForShare(t.db, createdBy))) throw userNotFound();
    await lockGroupOf(t, values);
    const saved = await insertCode(t.db, values, createdBy, t.clock.now());
    if (!saved) throw codeTaken();
    t.audit?.record({ resourceId: saved.id, before: null, after: saved });
    return saved;
  });
}

/**
 * Changes the given fields; undefined and null keep what is stored. The result must pass the same checks as a new code (spec 04
 * section 7.4). Discounts from a renamed code get the new name, which deactivation needs (section 7.3).
 * @throws AppError 404 'Promo code not found' | 400 'max_uses cannot be less than current uses' | 400 for a new name when more than
 * 10,000 users have a discount of the code; the rest as for creation
 */
export async function changePromocode(
  app: App,
  _actor: Actor,
  promocodeId: number,
  changes: Changes<PromocodeValues>,
): Promise<Promocode> {
  try {
    return await inTransaction(app, async (t) => {
      await lockDiscountedUsersOf(t, promocodeId, changes.code);
      const before = await lockCode(t.db, promocodeId);
      if (!before) throw promocodeNotFound();
      const values = checked({ ...before, ...givenFields(changes) });
      if (values.maxUses < before.currentUses) throw limitBelowUses();
      await lockGroupOf(t, values);
      const now = t.clock.now();
      const saved = await updateCode(t.db, before.id, values, now);
      if (saved.code !== before.code) {
        const [from, to] = [discountSource(before.code), discountSource(saved.code)];
        await renameSource(t.db, saved.id, { from, to, now });
      }
      t.audit?.record({ resourceId: saved.id, before, after: saved });
      return saved;
    });
  } catch (error) {
    if (isUniqueViolation(error, 'code')) throw codeTaken();
    throw error;
  }
}

/**
 * Locks the users with a discount of a code that is to be renamed. Users are locked before codes (spec 00, Consistency): otherwise the
 * rename could deadlock with a user who deactivates the discount. Discounts given between this and the lock of the code are renamed
 * too; only for those a deadlock is still possible, after which the transaction is run again.
 */
async function lockDiscountedUsersOf(t: App, promocodeId: number, newCode: string | null | undefined): Promise<void> {
  if (newCode === undefined || newCode === null) return;
  const code = await findCodeById(t.db, promocodeId);
  if (!code || code.code === normaliseCode(newCode)) return;
  const users = await lockDiscountedUsers(t.db, code.id, discountSource(code.code), MAX_RENAMED_DISCOUNTS + 1);
  if (users > MAX_RENAMED_DISCOUNTS) throw tooManyDiscounts();
}

/**
 * Deletes a code and its use rows. The log of activations stays, so that the daily limit still counts them; a spin of the wheel that
 * won the code stays without it (spec 04 sections 13.7 and 18, before 7.4).
 * @throws AppError 404 'Promo code not found'
 */
export function deletePromocode(app: App, _actor: Actor, promocodeId: number): Promise<void> {
  return inTransaction(app, async (t) => {
    const promocode = await lockCode(t.db, promocodeId);
    if (!promocode) throw promocodeNotFound();
    await deleteCode(t.db, promocode.id);
    t.audit?.record({ resourceId: promocode.id, before: promocode, after: null });
  });
}

async function lockGroupOf(t: App, { promoGroupId }: PromocodeValues): Promise<void> {
  if (promoGroupId !== null && !(await lockPromoGroupForShare(t, promoGroupId))) throw promoGroupUnknown();
}

function checked(request: PromocodeValues): PromocodeValues {
  const values = { ...request, code: normaliseCode(request.code), maxUses: storedMaxUses(request.maxUses) };
  const reason = valueRefusal(values);
  if (reason) throw VALUE_REFUSALS[reason]();
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

/** One page of codes, newest first. */
export function listPromocodes(app: App, filter: PromocodeFilter): Promise<{ items: Promocode[]; total: number }> {
  return listCodes(app.db, filter);
}

/** A code with its last uses. @throws AppError 404 'Promo code not found' */
export async function readPromocode(app: App, promocodeId: number): Promise<PromocodeDetails> {
  const promocode = await findCodeById(app.db, promocodeId);
  if (!promocode) throw promocodeNotFound();
  return { promocode, ...(await readUses(app.db, promocode.id, startOfDay(app.clock.now()))) };
}

/** A code by its text, regardless of case; null when there is none. */
export function findPromocode(app: App, code: string): Promise<Promocode | null> {
  return findCodeByText(app.db, normaliseCode(code));
}

interface IssuedCode {
  /** As `normaliseCode` returns it. */
  code: string;
  balanceBonusKopeks: number;
  /** 0 = a code for money. */
  subscriptionDays: number;
  validUntil: Date;
  /** The user it is issued to; anyone may use it. */
  createdBy: number;
}

/** Issues a code that can be used once, in the caller's transaction. @returns its id; null when the text is taken */
export async function issuePromocode(t: App, { createdBy, ...code }: IssuedCode): Promise<number | null> {
  const now = t.clock.now();
  const type = code.subscriptionDays > 0 ? ('subscription_days' as const) : ('balance' as const);
  const rest = { maxUses: 1, validFrom: now, isActive: true, firstPurchaseOnly: false, promoGroupId: null };
  return (await insertCode(t.db, { ...code, ...rest, type }, createdBy, now))?.id ?? null;
}

/** Stored for "no limit". */
const UNLIMITED_USES = 999_999;

/** Activations that one user may make in any 24 hours. */
const ACTIVATIONS_A_DAY = 5;

const SOURCE_PREFIX = 'promocode:';

export type ActivationRefusal =
  | 'used'
  | 'expired'
  | 'already_used_by_user'
  | 'daily_limit'
  | 'not_first_purchase'
  | 'active_discount_exists'
  | 'no_subscription_for_days';

/** Codes are stored and looked up trimmed and in upper case. */
export function normaliseCode(code: string): string {
  return code.trim().toUpperCase();
}

type Limits = Pick<Promocode, 'isActive' | 'currentUses' | 'maxUses' | 'validFrom' | 'validUntil'>;

/** Whether the code can be activated now, regardless of the user. */
export function isValid(code: Limits, now: Date): boolean {
  return (
    code.isActive &&
    code.currentUses < code.maxUses &&
    code.validFrom <= now &&
    (code.validUntil === null || code.validUntil >= now)
  );
}

export function usesLeft(code: Pick<Promocode, 'maxUses' | 'currentUses'>): number {
  return Math.max(0, code.maxUses - code.currentUses);
}

/** 0 in a request means unlimited. */
export function storedMaxUses(maxUses: number): number {
  return maxUses === 0 ? UNLIMITED_USES : maxUses;
}

/** The first reason, in the documented order, why this user may not activate this code now; null = may. */
export function activationRefusal(code: Promocode, user: RedeemerFacts, now: Date): ActivationRefusal | null {
  if (!isValid(code, now)) return code.currentUses >= code.maxUses ? 'used' : 'expired';
  if (user.hasUsedCode) return 'already_used_by_user';
  if (user.activationsToday >= ACTIVATIONS_A_DAY) return 'daily_limit';
  if (code.firstPurchaseOnly && user.hasHadPaid) return 'not_first_purchase';
  if (code.type === 'discount' && user.hasActiveDiscount) return 'active_discount_exists';
  if (code.type === 'subscription_days' && !user.hasSubscription) return 'no_subscription_for_days';
  return null;
}

export type ValueRefusal = 'code_empty' | 'bonus' | 'days' | 'discount_percent' | 'discount_hours' | 'validity';

/** The first reason why a code must not be stored like this; null = it may. */
function valueRefusal(values: PromocodeValues): ValueRefusal | null {
  const { type, balanceBonusKopeks, subscriptionDays, validFrom, validUntil } = values;
  if (values.code === '') return 'code_empty';
  if (type === 'balance' && balanceBonusKopeks <= 0) return 'bonus';
  if ((type === 'subscription_days' || type === 'trial_subscription') && subscriptionDays <= 0) return 'days';
  if (type === 'discount' && (balanceBonusKopeks < 1 || balanceBonusKopeks > 100)) return 'discount_percent';
  // Codes of older installations have 0 hours, until the first purchase; none is made any more (spec 10 X15).
  if (type === 'discount' && subscriptionDays <= 0) return 'discount_hours';
  return validUntil !== null && validFrom > validUntil ? 'validity' : null;
}

export function discountSource(code: string): string {
  return `${SOURCE_PREFIX}${code}`;
}

/** The code that gave a discount; null when it came from elsewhere. */
export function codeOfSource(source: string | null): string | null {
  return source?.startsWith(SOURCE_PREFIX) ? source.slice(SOURCE_PREFIX.length) : null;
}

/** Whether the discount has expired; one without end does not expire. */
export function isDiscountExpired(discount: PersonalDiscount, now: Date): boolean {
  return discount.expiresAt !== null && discount.expiresAt <= now;
}
