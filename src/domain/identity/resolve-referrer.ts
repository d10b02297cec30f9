import type { App } from '../../core/app.ts';
import { findByReferralCode } from './repo.ts';

/**
 * Finds who invited a newcomer (spec 01 section 2.3). An unknown code, a look-up that fails and one's own code count as no code.
 * @param newcomer what is known of the account about to be created; e-mail in lower case
 * @returns id of the referrer
 */
export async function resolveReferrer(
  app: App,
  code: string | null,
  newcomer: { messengerId: number | null; email: string | null },
): Promise<number | null> {
  if (!code) return null;
  try {
    const referrer = await findByReferralCode(app.db, code);
    if (!referrer || referrer.status === 'deleted') return null;
    if (newcomer.messengerId !== null && referrer.messengerId === newcomer.messengerId) return null;
    if (newcomer.email !== null && referrer.email === newcomer.email) return null;
    return referrer.id;
  } catch (error) {
    app.log.warn({ err: error }, 'a referral code could not be looked up');
    return null;
  }
}
