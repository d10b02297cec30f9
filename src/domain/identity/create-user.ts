import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { emailTaken } from './errors.ts';
import { USER_CREATED } from './events.ts';
import { findByEmail, findByMessengerId, findDefaultPromoGroupId, insertDefaultPromoGroup, insertUser } from './repo.ts';
import { cleanName, displayedName, newReferralCode, normaliseEmail, normaliseLanguage, timedReferralCode } from './rules.ts';
import type { NewUser, UserRecord } from './types.ts';

const MAX_CODE_TRIES = 10;

/** A stored user; `isNew` is false when another request created the account with this messenger id first. */
export type CreatedUser = UserRecord & { isNew: boolean };

/**
 * Creates an account with its promo group membership and `user.created`, in the caller's transaction or a separate one
 * (spec 01 section 2.2). Two concurrent creations for one messenger id return the same user (H14).
 * @throws AppError 400 'This email is already registered'
 */
export async function createUser(app: App, draft: NewUser): Promise<CreatedUser> {
  return inTransaction(app, async (t) => {
    const email = draft.email === null ? null : normaliseEmail(draft.email);
    const isGroupChosen = draft.promoGroupId !== undefined && draft.promoGroupId !== null;
    const promoGroupId = draft.promoGroupId ?? (await defaultPromoGroupId(t));
    for (let attempt = 1; attempt <= MAX_CODE_TRIES + 1; attempt++) {
      const made = await insertUser(t.db, {
        ...draft,
        email,
        username: cleanName(draft.username),
        firstName: displayedName(t, draft.firstName),
        lastName: displayedName(t, draft.lastName),
        language: normaliseLanguage(draft.language),
        referralCode: attempt <= MAX_CODE_TRIES ? newReferralCode(t.random) : timedReferralCode(t.clock.now()),
        promoGroupId,
        assignedBy: isGroupChosen ? 'admin' : 'system',
        now: t.clock.now(),
      });
      if (made) {
        await t.events.emit(USER_CREATED, createdPayload(made), { audience: 'feed', userId: made.id });
        return { ...made, isNew: true };
      }
      const other = draft.messengerId === null ? null : await findByMessengerId(t.db, draft.messengerId);
      if (other) return { ...other, isNew: false };
      if (email !== null && (await findByEmail(t.db, email))) throw emailTaken();
    }
    throw new Error('no free referral code');
  });
}

async function defaultPromoGroupId(t: App): Promise<number> {
  for (const name of ['Default', 'Default group', `Default ${t.clock.now().getTime()}`]) {
    const id = await findDefaultPromoGroupId(t.db);
    if (id !== null) return id;
    await insertDefaultPromoGroup(t.db, name, t.clock.now());
  }
  const id = await findDefaultPromoGroupId(t.db);
  if (id === null) throw new Error('no default promo group');
  return id;
}

function createdPayload(user: UserRecord) {
  const common = {
    user_id: user.id,
    messenger_id: user.messengerId,
    username: user.username,
    first_name: user.firstName,
    referral_code: user.referralCode,
  };
  if (user.authType === 'messenger') return { ...common, last_name: user.lastName, referred_by_id: user.referredById };
  const web = { ...common, email: user.email, auth_type: user.authType };
  return user.authType === 'email' ? { ...web, referred_by_id: user.referredById } : web;
}
