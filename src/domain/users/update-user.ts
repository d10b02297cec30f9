import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { isUniqueViolation } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refuse, ValidationError } from '../../core/errors.ts';
import { forgetSessionUser } from '../identity/authenticate-user.ts';
import { userNotFound } from '../identity/errors.ts';
import { cleanName, normaliseLanguage } from '../identity/rules.ts';
import { closeAllSessions } from '../identity/sessions/refresh-session.ts';
import type { UserStatus } from '../identity/types.ts';
import { readUserById, resolveUserId } from './read-user.ts';
import {
  holdPromoGroup,
  isReferralCodeTaken,
  lockUserStatus,
  replaceMemberships,
  type UserColumns,
  updateColumns,
} from './repo.ts';
import type { UserView } from './types.ts';

const STATUSES: readonly string[] = ['active', 'blocked', 'deleted'] satisfies UserStatus[];
const MAX_CODE_LENGTH = 20;

/** Null = unchanged. */
export interface UserChanges {
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  language: string | null;
  status: string | null;
  promoGroupId: number | null;
  referralCode: string | null;
  hasHadPaidSubscription: boolean | null;
  hasMadeFirstTopup: boolean | null;
}

/**
 * Changes what is given (spec 01 section 10). A user who is not active any more loses every session with the commit (H8); a
 * promo group becomes the only one of the user, so that it is the primary one as well.
 * @param number messenger id or internal id, see `readUser`
 * @throws AppError 404 'User not found' | 400 'Invalid status' | 'Promo group not found' | 'Referral code already in use'
 * @throws ValidationError 422 for a referral code that is empty or too long
 */
export async function updateUser(app: App, _actor: TokenActor, number: number, changes: UserChanges): Promise<UserView> {
  const given = columnsOf(changes);
  try {
    return await inTransaction(app, (t) => apply(t, number, changes, given));
  } catch (error) {
    // Two users may be given one code at the same moment; the key decides, after both have looked.
    if (isUniqueViolation(error, 'referral_code')) throw codeTaken();
    throw error;
  }
}

async function apply(t: App, number: number, changes: UserChanges, given: UserColumns): Promise<UserView> {
  const id = await resolveUserId(t, number);
  const status = await lockUserStatus(t.db, id);
  if (status === null) throw userNotFound();
  if (changes.status !== null && !STATUSES.includes(changes.status)) throw refuse('invalid_status', 400, 'Invalid status');
  if (changes.promoGroupId !== null && !(await holdPromoGroup(t.db, changes.promoGroupId))) {
    throw refuse('promo_group_not_found', 400, 'Promo group not found');
  }
  if (typeof given.referralCode === 'string' && (await isReferralCodeTaken(t.db, given.referralCode, id))) throw codeTaken();
  if (Object.keys(given).length === 0) return readUserById(t, id);

  const now = t.clock.now();
  await updateColumns(t.db, id, { ...given, updatedAt: now });
  if (changes.promoGroupId !== null) await replaceMemberships(t.db, id, changes.promoGroupId, now);
  if (changes.status !== null && changes.status !== 'active' && changes.status !== status) await closeAllSessions(t, id);
  await forgetSessionUser(t, id);
  return readUserById(t, id);
}

function columnsOf(changes: UserChanges): UserColumns {
  return {
    ...(changes.username === null ? {} : { username: cleanName(changes.username) }),
    ...(changes.firstName === null ? {} : { firstName: cleanName(changes.firstName) }),
    ...(changes.lastName === null ? {} : { lastName: cleanName(changes.lastName) }),
    ...(changes.language === null ? {} : { language: normaliseLanguage(changes.language) }),
    ...(changes.status === null ? {} : { status: changes.status }),
    ...(changes.promoGroupId === null ? {} : { promoGroupId: changes.promoGroupId }),
    ...(changes.referralCode === null ? {} : { referralCode: checkedCode(changes.referralCode) }),
    ...(changes.hasHadPaidSubscription === null ? {} : { hasHadPaidSubscription: changes.hasHadPaidSubscription }),
    ...(changes.hasMadeFirstTopup === null ? {} : { hasMadeFirstTopup: changes.hasMadeFirstTopup }),
  };
}

/** The column's bounds, which the contract leaves open. */
function checkedCode(text: string): string {
  const code = text.trim();
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

function codeTaken() {
  return refuse('referral_code_taken', 400, 'Referral code already in use');
}
