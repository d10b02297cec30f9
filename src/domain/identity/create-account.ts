import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError, refusal, rethrowUnavailable, ValidationError } from '../../core/errors.ts';
import { hashPassword } from '../../core/password-hasher.ts';
import { grantSuperadmin, seedRoles } from '../access/roles.ts';
import { forgetSessionUser } from './authenticate.ts';
import { checkEmailAddress, mailVerification, newVerificationSecret } from './email/mail-secrets.ts';
import { setVerificationSecret } from './email/repo.ts';
import { emailTaken, userNotActive } from './errors.ts';
import { USER_CREATED } from './events.ts';
import { releaseEmail } from './oauth/repo.ts';
import {
  type AdminCandidate,
  claimByUsername,
  findByEmail,
  findByMessengerId,
  findByReferralCode,
  findByUsername,
  findDefaultPromoGroupId,
  insertDefaultPromoGroup,
  insertUser,
  lockAdminCandidate,
  lockUsername,
  verifyEmailByOperator,
} from './repo.ts';
import { cleanName, displayedName, newReferralCode, normaliseEmail, normaliseLanguage, timedReferralCode } from './rules.ts';
import { closeAllSessions } from './sessions/sessions.ts';
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

const operatorOnly = refusal('operator_only', 403, 'Only the operator of the installation may do this');
const passwordNeeded = refusal('password_needed', 400, 'This account needs a password');

const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 128;

interface CreatedAdmin {
  userId: number;
  email: string;
  isNew: boolean;
  isPasswordSet: boolean;
  /** False: ADMIN_IDS or ADMIN_EMAILS are set and do not name this user, so the next start revokes the role. */
  isLasting: boolean;
}

/**
 * Whether the account needs a new password before it becomes an administrator's. An unverified address may have been registered by
 * another person, with a password known only to that person (spec 01 H1).
 */
export function needsPassword(account: Pick<AdminCandidate, 'emailVerified' | 'hasPassword'> | null): boolean {
  return !account?.emailVerified || !account.hasPassword;
}

/**
 * Creates an account with this e-mail, or uses the existing one, and makes it a superadmin. Only for the operator on the server:
 * the address counts as verified on the operator's statement. A new password ends all sessions. An account with another
 * sign-in method that never verified the address loses it instead: it may belong to a stranger who registered the address
 * beforehand (spec 01 H3).
 * @param password 8 to 128 characters; null = the password stays
 * @throws ValidationError 422 for an address or a password that cannot be used
 * @throws AppError 403 'User account is not active' | 400 'This account needs a password'
 */
export async function createAdmin(
  app: App,
  actor: Actor,
  request: { email: string; password: string | null },
): Promise<CreatedAdmin> {
  if (actor.kind !== 'system') throw operatorOnly();
  const email = normaliseEmail(request.email);
  checkAddress(email);
  checkPassword(request.password);
  await seedRoles(app);
  const passwordHash = request.password === null ? null : await hashPassword(request.password);
  return inTransaction(app, async (t) => {
    const holder = await lockAdminCandidate(t.db, email);
    if (holder && holder.status !== 'active') throw userNotActive();
    if (passwordHash === null && needsPassword(holder)) throw passwordNeeded();
    const account = holder && (await isReused(t, holder)) ? holder : null;
    const userId = account ? account.id : await openAccount(t, email, passwordHash);
    if (account) await verifyEmailByOperator(t.db, userId, passwordHash, t.clock.now());
    if (account && passwordHash !== null) await closeAllSessions(t, userId);
    const { isLasting } = await grantSuperadmin(t, { messengerId: account?.messengerId ?? null, email });
    await forgetSessionUser(t, userId);
    return { userId, email, isNew: account === null, isPasswordSet: passwordHash !== null, isLasting };
  });
}

/** Whether the operator gets this account. An account of another person loses only the address and its password. */
async function isReused(t: App, holder: AdminCandidate): Promise<boolean> {
  if (holder.emailVerified || !holder.hasOtherSignIn) return true;
  await releaseEmail(t.db, holder.id, t.clock.now());
  await closeAllSessions(t, holder.id);
  await forgetSessionUser(t, holder.id);
  return false;
}

async function openAccount(t: App, email: string, passwordHash: string | null): Promise<number> {
  const user = await createUser(t, {
    authType: 'email',
    messengerId: null,
    username: null,
    firstName: null,
    lastName: null,
    email,
    emailVerified: true,
    passwordHash,
    language: t.settings.get('DEFAULT_LANGUAGE'),
    referredById: null,
  });
  return user.id;
}

function checkAddress(email: string): void {
  if (!/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(email)) {
    const msg = 'value is not a valid email address: write it as name@example.com';
    throw new ValidationError([{ loc: ['body', 'email'], type: 'value_error', msg, input: email }]);
  }
  checkEmailAddress(email, 'email');
}

function checkPassword(password: string | null): void {
  if (password === null || (password.length >= MIN_PASSWORD_LENGTH && password.length <= MAX_PASSWORD_LENGTH)) return;
  const isShort = password.length < MIN_PASSWORD_LENGTH;
  const msg = isShort
    ? `Password should have at least ${MIN_PASSWORD_LENGTH} characters`
    : `Password should have at most ${MAX_PASSWORD_LENGTH} characters`;
  throw new ValidationError([
    {
      loc: ['body', 'password'],
      type: isShort ? 'string_too_short' : 'string_too_long',
      msg,
      // Not the password, because refused input may be logged.
      input: null,
      ctx: isShort ? { min_length: MIN_PASSWORD_LENGTH } : { max_length: MAX_PASSWORD_LENGTH },
    },
  ]);
}

/**
 * Finds the referrer of a new account (spec 01 section 2.3). An unknown code, a failed look-up and the user's own code count as no code.
 * @param registrant the account that will be created; e-mail in lower case
 * @returns id of the referrer
 */
export async function resolveReferrer(
  app: App,
  code: string | null,
  registrant: { messengerId: number | null; email: string | null },
): Promise<number | null> {
  if (!code) return null;
  try {
    const referrer = await findByReferralCode(app.db, code);
    if (!referrer || referrer.status === 'deleted') return null;
    if (registrant.messengerId !== null && referrer.messengerId === registrant.messengerId) return null;
    if (registrant.email !== null && referrer.email === registrant.email) return null;
    return referrer.id;
  } catch (error) {
    rethrowUnavailable(error);
    app.log.warn({ err: error }, 'a referral code could not be looked up');
    return null;
  }
}

// Accounts that a purchase without sign-in creates (spec 03 section 8.3). An existing account is never changed: no password, no
// verification, no link token for the account of another person (spec 01 H2, spec 03 H3).

type PurchasedAccount = UserRecord & { isNew: boolean };

/** The account with this messenger name, case-insensitive; one with a messenger id first. */
export function findUserByUsername(app: App, username: string): Promise<UserRecord | null> {
  return findByUsername(app.db, username);
}

/**
 * The account of an address, or a new one with an unverified address, whose owner gets a verification mail. In the caller's
 * transaction; two concurrent calls get the same account, and it is new for one of them.
 * @param passwordHash of the new account; null = the caller found an account before
 * @throws Error when there is neither an account nor a password for a new one: the caller has to look it up again
 */
export async function openEmailAccount(
  t: App,
  account: { email: string; passwordHash: string | null; newLanguage: string },
): Promise<PurchasedAccount> {
  const email = normaliseEmail(account.email);
  const known = await findByEmail(t.db, email);
  if (known) return { ...known, isNew: false };
  if (account.passwordHash === null) throw new Error('the account of a recipient was deleted');
  try {
    const made = await createUser(t, {
      ...PLAIN,
      authType: 'email',
      email,
      passwordHash: account.passwordHash,
      language: account.newLanguage,
    });
    const secret = newVerificationSecret(t);
    await setVerificationSecret(t.db, made.id, email, secret, t.clock.now());
    await mailVerification(t, made, email, secret);
    return made;
  } catch (error) {
    const other = isAppError(error) ? await findByEmail(t.db, email) : null;
    if (!other) throw error;
    return { ...other, isNew: false };
  }
}

/**
 * The account of a messenger user: by id where it is known, else by name; else a new one, which the user gets with the first sign-in
 * from the messenger (`claimPurchasedAccount`). In the caller's transaction.
 * @param messengerId null when it is unknown
 */
export async function openMessengerAccount(
  t: App,
  account: { username: string; messengerId: number | null; newLanguage: string },
): Promise<PurchasedAccount> {
  const { username, messengerId, newLanguage: language } = account;
  await lockUsername(t.db, username);
  const known = await findPerson(t, account);
  if (known) return { ...known, isNew: false };
  return createUser(t, { ...PLAIN, authType: 'messenger', messengerId, username, language });
}

async function findPerson(t: App, { username, messengerId }: { username: string; messengerId: number | null }) {
  if (messengerId === null) return findByUsername(t.db, username);
  const byId = await findByMessengerId(t.db, messengerId);
  if (byId) return byId;
  const claimed = await claimByUsername(t.db, username, messengerId, t.clock.now());
  return claimed === null ? null : findByMessengerId(t.db, messengerId);
}

/**
 * Assigns the account that a purchase created for this messenger name to the user who has now proved to have the name. Only an account
 * that a purchase created and that nobody can sign in to. In the caller's transaction.
 * @returns null when there is no such account
 */
export async function claimPurchasedAccount(
  t: App,
  proved: { messengerId: number; username: string | null },
): Promise<UserRecord | null> {
  if (proved.username === null) return null;
  await lockUsername(t.db, proved.username);
  const claimed = await claimByUsername(t.db, proved.username, proved.messengerId, t.clock.now());
  return claimed === null ? null : findByMessengerId(t.db, proved.messengerId);
}

const PLAIN = {
  messengerId: null,
  username: null,
  firstName: null,
  lastName: null,
  email: null,
  emailVerified: false,
  passwordHash: null,
  referredById: null,
} as const;
