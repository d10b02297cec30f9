import type { App } from '../../core/app.ts';
import { rethrowUnavailable } from '../../core/errors.ts';
import { findByReferralCode } from './repo.ts';

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
