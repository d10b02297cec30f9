import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { forgetSessionUser } from './authenticate-user.ts';
import { type CreatedUser, createUser } from './create-user.ts';
import { unauthorized, userNotActive } from './errors.ts';
import { claimPurchasedAccount } from './purchased-accounts.ts';
import { findByMessengerId, updateProfile } from './repo.ts';
import { resolveReferrer } from './resolve-referrer.ts';
import { cleanName, displayedName, INIT_DATA_MAX_AGE_SECONDS } from './rules.ts';
import { openSession, type SignIn } from './sessions/open-session.ts';
import type { UserRecord } from './types.ts';

export const initDataInvalid = unauthorized('init_data_invalid', 'Invalid or expired Messenger authentication data');
const messengerIdMissing = unauthorized('messenger_id_missing', 'Missing Messenger user ID');

export interface InitDataSignIn {
  initData: string;
  /** Used only when this request creates the account. */
  referralCode: string | null;
}

/** A messenger user whose identity has been proved by signed data. */
export interface ProvedMessengerUser {
  messengerId: number;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  language: string | null;
}

/**
 * Signs in with the mini-app's signed data; the first time creates the account (spec 01 section 5.1).
 * @throws AppError 401 for data that the messenger did not sign or that has no user | 403 'User account is not active'
 */
export async function signInWithInitData(app: App, request: InitDataSignIn): Promise<SignIn> {
  const identity = app.ports.messengerIdentity.verifyInitData(request.initData, INIT_DATA_MAX_AGE_SECONDS);
  if (!identity) throw initDataInvalid();
  const { messengerId, languageCode, ...names } = identity;
  if (messengerId === null) throw messengerIdMissing();
  return signInAsMessengerUser(app, { messengerId, ...names, language: languageCode }, request);
}

export interface MessengerSignInOptions {
  referralCode: string | null;
  /** A missing last name clears ours: the widget always sends the whole name (spec 01 section 5.1). Default: ours stays. */
  clearsLastName?: boolean;
}

/**
 * Opens a session for a proved messenger user; the first time creates the account.
 * @throws AppError 403 'User account is not active'
 */
export async function signInAsMessengerUser(
  app: App,
  proved: ProvedMessengerUser,
  options: MessengerSignInOptions,
): Promise<SignIn> {
  const { id, isNew } = await findOrCreate(app, proved, options);
  return { ...(await openSession(app, id)), isNew };
}

/** The steps common to all messenger sign-ins: find, else assign the account of a purchase, else create; update a known profile. */
async function findOrCreate(app: App, proved: ProvedMessengerUser, options: MessengerSignInOptions): Promise<CreatedUser> {
  const { referralCode } = options;
  const known =
    (await findByMessengerId(app.db, proved.messengerId)) ?? (await inTransaction(app, (t) => claimPurchasedAccount(t, proved)));
  const referredById = known ? null : await resolveReferrer(app, referralCode, { messengerId: proved.messengerId, email: null });
  const user: CreatedUser = known
    ? { ...known, isNew: false }
    : await createUser(app, {
        ...proved,
        authType: 'messenger',
        email: null,
        emailVerified: false,
        passwordHash: null,
        referredById,
      });
  if (user.status !== 'active') throw userNotActive();
  await refreshProfile(app, user, proved, options.clearsLastName === true);
  return user;
}

/** Stores names that differ; one that is missing or has a banned word does not clear ours. */
async function refreshProfile(app: App, user: UserRecord, proved: ProvedMessengerUser, clearsLastName: boolean): Promise<void> {
  const profile = {
    username: cleanName(proved.username) ?? user.username,
    firstName: displayedName(app, proved.firstName) ?? user.firstName,
    lastName: displayedName(app, proved.lastName) ?? (clearsLastName ? null : user.lastName),
  };
  const isSame = profile.username === user.username && profile.firstName === user.firstName && profile.lastName === user.lastName;
  if (isSame) return;
  await inTransaction(app, async (t) => {
    await updateProfile(t.db, user.id, profile, t.clock.now());
    await forgetSessionUser(t, user.id);
  });
}
