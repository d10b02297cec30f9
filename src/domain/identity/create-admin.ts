import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { hashPassword } from '../../core/password-hasher.ts';
import { grantSuperadmin } from '../access/grant-superadmin.ts';
import { seedRoles } from '../access/seed-roles.ts';
import { forgetSessionUser } from './authenticate-user.ts';
import { createUser } from './create-user.ts';
import { checkEmailAddress } from './email/rules.ts';
import { userNotActive } from './errors.ts';
import { releaseEmail } from './oauth/repo.ts';
import { type AdminCandidate, lockAdminCandidate, verifyEmailByOperator } from './repo.ts';
import { normaliseEmail } from './rules.ts';
import { closeAllSessions } from './sessions/refresh-session.ts';

const operatorOnly = refusal('operator_only', 403, 'Only the operator of the installation may do this');
const passwordNeeded = refusal('password_needed', 400, 'This account needs a password');

const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 128;

export interface CreatedAdmin {
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
