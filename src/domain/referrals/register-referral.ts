import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { resolveReferrer } from '../identity/create-account.ts';
import { fullName } from '../identity/rules.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { notifyUser, recipientOf, sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey } from '../messaging/texts.ts';
import { setReferrer } from '../users/account/read-user.ts';
import { REFERRAL_REGISTERED, REFERRAL_REGISTERED_NOTICE } from './events.ts';
import { findReferralUser, insertPendingEarning, lockPair, lockUsersOfPairs } from './repo.ts';
import { effectiveCommissionPercent } from './rewards.ts';
import type { ReferralPair, ReferralUser } from './types.ts';

/**
 * The last step of a sign-in that created the account (spec 01 section 2.3): registers the new user as a referral of the account's referrer,
 * or of the user with the code. Never throws: the sign-in succeeds also when this fails. Safe to repeat.
 * @param referralCode as the client sent it; used only when the account has no referrer
 */
export async function registerReferralAtSignIn(app: App, userId: number, referralCode: string | null): Promise<void> {
  try {
    const referral = await findReferralUser(app.db, userId);
    if (!referral) return;
    const referrerId = referral.referredById ?? (await resolveReferrer(app, referralCode, referral));
    if (referrerId === null) return;
    await inTransaction(app, (t) => attributeReferral(t, { referrerId, referralId: userId }));
  } catch (error) {
    // Any failure: a sign-in does not fail for its referral; the next one repeats it.
    app.log.warn({ err: error, userId }, 'a referral could not be registered');
  }
}

/**
 * Sets the referrer of a user who has none, and registers the referral; where this referrer is set already, it is only registered. In the
 * caller's transaction. Another referrer is never overwritten (spec 04 section 1.2).
 * @returns whether the referral is registered now and was not before
 */
export async function attributeReferral(t: App, pair: ReferralPair): Promise<boolean> {
  await lockReferralPair(t, pair);
  const referrer = await findReferralUser(t.db, pair.referrerId);
  if (!referrer || referrer.status === 'deleted') return false;
  await setReferrer(t, pair);
  return registerReferral(t, pair);
}

/** Acquires the locks of an attribution; call it before any other lock of one of the two. */
export async function lockReferralPair(t: App, pair: ReferralPair): Promise<void> {
  await lockPair(t.db, pair);
}

/** The same for several at once. */
export async function lockReferralPairs(t: App, pairs: readonly ReferralPair[]): Promise<void> {
  await lockUsersOfPairs(t.db, pairs);
}

/**
 * "Referral registered": the pending earning, and the notices to both as jobs, in the caller's transaction.
 * @returns false, with nothing written: for oneself, for a missing referral, a missing or deleted referrer, for another referrer, or when it
 * is registered already
 */
async function registerReferral(t: App, pair: ReferralPair): Promise<boolean> {
  if (pair.referrerId === pair.referralId) return false;
  await lockReferralPair(t, pair);
  const referral = await findReferralUser(t.db, pair.referralId);
  const referrer = await findReferralUser(t.db, pair.referrerId);
  if (!referral || !referrer || referrer.status === 'deleted' || referral.referredById !== referrer.id) return false;
  if (!(await insertPendingEarning(t.db, referrer.id, referral.id, t.clock.now()))) return false;
  const owner = { audience: 'user', userId: referrer.id } as const;
  await t.events.emit(REFERRAL_REGISTERED, { referral_name: fullName(referral) }, owner);
  if (t.settings.get('REFERRAL_NOTIFICATIONS_ENABLED')) {
    await notifyReferral(t, referral, referrer);
    await notifyReferrer(t, referrer, referral);
  }
  return true;
}

/** The bonus is announced only to those who can still get it: a campaign may bring users who made their first top-up long ago. */
async function notifyReferral(t: App, referral: ReferralUser, referrer: ReferralUser): Promise<void> {
  const bonusKopeks = t.settings.get('REFERRAL_FIRST_TOPUP_BONUS_KOPEKS');
  const isBonusToCome = bonusKopeks > 0 && !referral.hasMadeFirstTopup;
  const params = {
    referrer_name: fullName(referrer),
    bonus: formatPrice(bonusKopeks, false),
    minimum: formatPrice(t.settings.get('REFERRAL_MINIMUM_TOPUP_KOPEKS'), false),
  };
  if (referral.messengerId !== null) {
    const key: TextKey = isBonusToCome ? 'messages.referral_welcome_bonus' : 'messages.referral_welcome';
    await sendMessage(t, { messengerId: referral.messengerId, html: htmlText(referral.language, key, params) });
  } else if (referral.email !== null && referral.emailVerified) {
    const type = isBonusToCome ? 'referral_welcome_bonus' : 'referral_welcome';
    await sendMail(t, { to: referral.email, language: referral.language, type, params });
  }
}

async function notifyReferrer(t: App, referrer: ReferralUser, referral: ReferralUser): Promise<void> {
  const referralName = fullName(referral);
  const percent = effectiveCommissionPercent(referrer.commissionPercent, t.settings.get('REFERRAL_COMMISSION_PERCENT'));
  const params = { referral_name: referralName, percent };
  await notifyUser(t, recipientOf(referrer), {
    html: htmlText(referrer.language, 'messages.referral_registered', params),
    mail: 'referral_registered',
    mailParams: params,
    event: REFERRAL_REGISTERED_NOTICE,
    context: { referral_name: referralName },
  });
}

/** Deletes the earnings of the two from each other (spec 01 section 8). The money stays where it is. */
export async function deleteMutualEarnings(db: Db, secondaryId: number, primaryId: number): Promise<void> {
  await db.sql(
    `DELETE FROM referral_earnings WHERE (user_id = $1::int AND referral_id = $2::int) OR (user_id = $2::int AND referral_id = $1::int)
     RETURNING id`,
    [secondaryId, primaryId],
  );
}
