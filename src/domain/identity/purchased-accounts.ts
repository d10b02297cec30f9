import type { App } from '../../core/app.ts';
import { isAppError } from '../../core/errors.ts';
import { createUser } from './create-user.ts';
import { mailVerification, newVerificationSecret } from './email/mail-secrets.ts';
import { setVerificationSecret } from './email/repo.ts';
import { claimByUsername, findByEmail, findByMessengerId, findByUsername, lockUsername } from './repo.ts';
import { normaliseEmail } from './rules.ts';
import type { UserRecord } from './types.ts';

/**
 * Accounts that a purchase without sign-in creates (spec 03 section 8.3). An existing account is never changed: no password, no
 * verification, no link token for the account of another person (spec 01 H2, spec 03 H3).
 */

export type PurchasedAccount = UserRecord & { isNew: boolean };

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
