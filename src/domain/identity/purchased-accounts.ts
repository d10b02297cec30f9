import type { App } from '../../core/app.ts';
import { isAppError } from '../../core/errors.ts';
import { createUser } from './create-user.ts';
import { mailVerification, newVerificationSecret } from './email/mail-secrets.ts';
import { setVerificationSecret } from './email/repo.ts';
import { claimByUsername, findByEmail, findByMessengerId, findByUsername, lockUsername } from './repo.ts';
import { normaliseEmail } from './rules.ts';
import type { UserRecord } from './types.ts';

/**
 * Accounts that a purchase without sign-in makes (spec 03 section 8.3). What exists is never touched: no password, no verified mark,
 * no link token for somebody else's account (spec 01 H2, spec 03 H3).
 */

export type PurchasedAccount = UserRecord & { isNew: boolean };

/** Everybody's account under this name, in any case of letters; one that can be reached in the messenger first. */
export function findUserByUsername(app: App, username: string): Promise<UserRecord | null> {
  return findByUsername(app.db, username);
}

/**
 * The account of an address, or a new one with an address that is not proved: its owner gets a verification mail. In the caller's
 * transaction; two at once get the same account, and it is new for one of them.
 * @param passwordHash of the new account; null = the caller knew of an account
 * @throws Error when there is no account and no password for one: the caller has to look again
 */
export async function openEmailAccount(
  t: App,
  account: { email: string; passwordHash: string | null },
): Promise<PurchasedAccount> {
  const email = normaliseEmail(account.email);
  const known = await findByEmail(t.db, email);
  if (known) return { ...known, isNew: false };
  if (account.passwordHash === null) throw new Error('the account of a recipient is gone');
  try {
    const made = await createUser(t, {
      ...PLAIN,
      authType: 'email',
      email,
      passwordHash: account.passwordHash,
      language: t.settings.get('DEFAULT_LANGUAGE'),
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
 * The account of a person in the messenger: by id where the messenger told it, else by name; else a new one, which the person takes
 * over with the first sign-in from the messenger (`claimPurchasedAccount`). In the caller's transaction.
 * @param messengerId null when the messenger does not tell
 */
export async function openMessengerAccount(
  t: App,
  account: { username: string; messengerId: number | null },
): Promise<PurchasedAccount> {
  const { username, messengerId } = account;
  await lockUsername(t.db, username);
  const known = await findPerson(t, account);
  if (known) return { ...known, isNew: false };
  const language = t.settings.get('DEFAULT_LANGUAGE');
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
 * Gives the account that a purchase made for this name to the person who now proved to have it. Only an account that nobody can sign
 * in to is given, and only one that a purchase made. In the caller's transaction.
 * @returns null when there is none
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
