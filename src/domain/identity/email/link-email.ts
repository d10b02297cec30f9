import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { hashPassword } from '../../../core/password-hasher.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { emailTaken, userNotFound } from '../errors.ts';
import { findByEmail, findById } from '../repo.ts';
import { normaliseEmail } from '../rules.ts';
import { closeAllSessions } from '../sessions/refresh-session.ts';
import { refuseDisposable } from './disposable-addresses.ts';
import { limitMails, mailVerification, newVerificationSecret } from './mail-secrets.ts';
import { setUnverifiedEmail } from './repo.ts';
import { checkEmailAddress } from './rules.ts';

/**
 * Gives the caller's account an e-mail and a password (spec 01 section 5.2). A former password becomes void, together with its sessions (H8).
 * @returns the stored address, and whether it must be verified by a link
 * @throws AppError 400 disposable | 400 'This email is already registered' | 400 'You already have a verified email' | 429
 */
export async function linkEmail(
  app: App,
  actor: UserActor,
  request: { email: string; password: string },
): Promise<{ email: string; requiresVerification: boolean }> {
  const email = normaliseEmail(request.email);
  checkEmailAddress(email, 'email');
  await refuseDisposable(app, email);
  if (await findByEmail(app.db, email)) throw emailTaken();
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  if (user.email !== null && user.emailVerified) throw emailToLinkVerified();
  const requiresVerification = app.settings.get('CABINET_EMAIL_VERIFICATION_ENABLED');
  await limitMails(app, user.id, 'verification');
  const passwordHash = await hashPassword(request.password);
  const secret = requiresVerification ? newVerificationSecret(app) : null;
  try {
    await inTransaction(app, async (t) => {
      const isSet = await setUnverifiedEmail(t.db, user.id, email, passwordHash, secret, t.clock.now());
      if (!isSet) throw emailToLinkVerified();
      if (user.hasPassword) await closeAllSessions(t, user.id);
      await forgetSessionUser(t, user.id);
      if (secret) await mailVerification(t, user, email, secret);
    });
  } catch (error) {
    throw isUniqueViolation(error, 'email') ? emailTaken() : error;
  }
  return { email, requiresVerification };
}

const emailToLinkVerified = refusal('email_already_verified', 400, 'You already have a verified email');
