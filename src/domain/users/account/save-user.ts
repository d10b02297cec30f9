import type { TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../../core/errors.ts';
import { forgetSessionUser } from '../../identity/authenticate.ts';
import { createUser } from '../../identity/create-account.ts';
import { userNotFound } from '../../identity/errors.ts';
import { cleanName, normaliseLanguage } from '../../identity/rules.ts';
import type { UserStatus } from '../../identity/types.ts';
import { lockPromoGroupForShare, recordGroupChange, replaceMemberships } from '../../promo-groups/memberships.ts';
import type { UserView } from '../types.ts';
import { applyStatus } from './change-account.ts';
import { readUserById, resolveUserId } from './read-user.ts';
import { isReferralCodeTaken, lockReferrer, lockUser, type UserColumns, updateUserColumns } from './repo.ts';

export const promoGroupNotFound = refusal('promo_group_not_found', 400, 'Promo group not found');

export const invalidStatus = refusal('invalid_status', 400, 'Invalid status');

const STATUSES: readonly UserStatus[] = ['active', 'blocked', 'deleted'];
const MAX_CODE_LENGTH = 20;

/** Null or absent = unchanged. */
export interface UserChanges {
  username?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  language?: string | null | undefined;
  status?: string | null | undefined;
  promoGroupId?: number | null | undefined;
  referralCode?: string | null | undefined;
  hasHadPaidSubscription?: boolean | null | undefined;
  hasMadeFirstTopup?: boolean | null | undefined;
}

/**
 * Changes what is given (spec 01 section 10). A status has the same effects as when an administrator sets it: sessions end with the
 * commit (H8), and the panel is updated. A promo group becomes the only one of the user, so that it is the primary one as well.
 * @param number messenger id or internal id, see `readUser`
 * @throws AppError 404 'User not found' | 400 'Invalid status' | 'Promo group not found' | 'Referral code already in use'
 * @throws ValidationError 422 for a referral code that is empty or too long
 */
export async function updateUser(app: App, actor: TokenActor, number: number, changes: UserChanges): Promise<UserView> {
  const columns = columnsOf(changes);
  try {
    return await inTransaction(app, (t) => apply(t, actor, number, changes, columns));
  } catch (error) {
    // Two users may be given one code concurrently, after both have found it free; the unique key decides.
    if (isUniqueViolation(error, 'referral_code')) throw codeTaken();
    throw error;
  }
}

async function apply(t: App, actor: TokenActor, number: number, changes: UserChanges, columns: UserColumns): Promise<UserView> {
  const id = await resolveUserId(t, number);
  const user = await lockUser(t.db, id);
  if (user === null) throw userNotFound();
  const newStatus = statusOf(changes.status ?? null) ?? user.status;
  const newGroupId = changes.promoGroupId ?? null;
  if (newGroupId !== null && !(await lockPromoGroupForShare(t, newGroupId))) throw promoGroupNotFound();
  if (typeof columns.referralCode === 'string' && (await isReferralCodeTaken(t.db, columns.referralCode, id))) throw codeTaken();
  if (Object.keys(columns).length > 0) {
    await updateUserColumns(t.db, id, columns, t.clock.now());
    await forgetSessionUser(t, id);
  }
  if (newGroupId !== null) {
    await replaceMemberships(t, id, newGroupId, { reassigns: false });
    const change = { userId: id, oldGroupId: user.promoGroupId, newGroupId, reason: 'manual' } as const;
    if (newGroupId !== user.promoGroupId) await recordGroupChange(t, actor, change);
  }
  await applyStatus(t, id, user.status, newStatus);
  return readUserById(t, id);
}

function statusOf(text: string | null): UserStatus | null {
  const status = STATUSES.find((known) => known === text) ?? null;
  if (text !== null && status === null) throw invalidStatus();
  return status;
}

/** The columns that are given, except the status, which has further effects. */
function columnsOf({ username, firstName, lastName, language, ...changes }: UserChanges): UserColumns {
  const { promoGroupId, referralCode, hasHadPaidSubscription, hasMadeFirstTopup } = changes;
  return {
    ...(username == null ? {} : { username: cleanName(username) }),
    ...(firstName == null ? {} : { firstName: cleanName(firstName) }),
    ...(lastName == null ? {} : { lastName: cleanName(lastName) }),
    ...(language == null ? {} : { language: normaliseLanguage(language) }),
    ...(promoGroupId == null ? {} : { promoGroupId }),
    ...(referralCode == null ? {} : { referralCode: checkedCode(referralCode) }),
    ...(hasHadPaidSubscription == null ? {} : { hasHadPaidSubscription }),
    ...(hasMadeFirstTopup == null ? {} : { hasMadeFirstTopup }),
  };
}

/** Codes that merges and deletions store; a user with such a code would make them fail. */
const RESERVED_CODE = /^(?:merged_|erased:)/;

/** The column's bounds, which the contract leaves open. */
function checkedCode(text: string): string {
  const code = text.trim();
  if (RESERVED_CODE.test(code)) {
    const msg = 'Value error, this beginning is reserved';
    throw new ValidationError([{ loc: ['body', 'referral_code'], type: 'value_error', msg, input: text }]);
  }
  if (code.length >= 1 && code.length <= MAX_CODE_LENGTH) return code;
  const problem =
    code === ''
      ? { type: 'string_too_short', msg: 'String should have at least 1 character', ctx: { min_length: 1 } }
      : {
          type: 'string_too_long',
          msg: `String should have at most ${MAX_CODE_LENGTH} characters`,
          ctx: { max_length: MAX_CODE_LENGTH },
        };
  throw new ValidationError([{ loc: ['body', 'referral_code'], input: text, ...problem }]);
}

export const codeTaken = refusal('referral_code_taken', 400, 'Referral code already in use');

export const referrerNotFound = refusal('referrer_not_found', 400, 'Referrer not found');
export const userExists = refusal('user_exists', 400, 'User with this messenger_id already exists');

export interface RegistrationRequest {
  messengerId?: number | null | undefined;
  username?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  language: string;
  referredById?: number | null | undefined;
  promoGroupId?: number | null | undefined;
}

/**
 * Creates a user for an outside system, with `user.created`. References are checked before anything is
 * stored; of two concurrent requests for one messenger id, one creates the user and the other is refused.
 * @throws AppError 400 'User with this messenger_id already exists' | 'Promo group not found' | 'Referrer not found'
 */
export async function registerUser(app: App, _actor: TokenActor, request: RegistrationRequest): Promise<UserView> {
  const { messengerId = null, username = null, firstName = null, lastName = null, language } = request;
  const { referredById = null, promoGroupId = null } = request;
  return inTransaction(app, async (t) => {
    if (referredById !== null && !(await lockReferrer(t.db, referredById))) throw referrerNotFound();
    if (promoGroupId !== null && !(await lockPromoGroupForShare(t, promoGroupId))) throw promoGroupNotFound();
    const made = await createUser(t, {
      ...{ messengerId, username, firstName, lastName, language, referredById, promoGroupId },
      authType: 'messenger',
      email: null,
      emailVerified: false,
      passwordHash: null,
    });
    if (!made.isNew) throw userExists();
    return readUserById(t, made.id);
  });
}
