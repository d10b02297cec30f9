import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { resolveReferrer } from '../identity/resolve-referrer.ts';
import { fullName } from '../identity/rules.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey } from '../messaging/texts.ts';
import { REFERRAL_REGISTERED, REFERRAL_REGISTERED_NOTICE } from './events.ts';
import { findParty, insertPendingEarning, lockPair, setReferrer } from './repo.ts';
import { effectiveCommissionPercent } from './rules.ts';
import { tellParty } from './tell-party.ts';
import type { ReferralParty } from './types.ts';

/**
 * The last step of a sign-in that created the account (spec 01 section 2.3): registers the referral of whoever invited the newcomer,
 * by the account's referrer or by the code. Never throws: the sign-in succeeds whatever happens here. Safe to repeat.
 * @param referralCode as the client sent it; only looked at when the account has no referrer
 */
export async function registerReferralAtSignIn(app: App, userId: number, referralCode: string | null): Promise<void> {
  try {
    const newcomer = await findParty(app.db, userId);
    if (!newcomer) return;
    const referrerId = newcomer.referredById ?? (await resolveReferrer(app, referralCode, newcomer));
    if (referrerId === null) return;
    await inTransaction(app, (t) => attributeReferral(t, { referrerId, referralId: userId }));
  } catch (error) {
    app.log.warn({ err: error, userId }, 'a referral could not be registered');
  }
}

/**
 * Makes somebody the referrer of a user who has none, and registers the referral; where that very referrer is set already, it is
 * only registered. In the caller's transaction. Another referrer is never overwritten (spec 04 section 1.2).
 * @returns whether the referral is registered now and was not before
 */
export async function attributeReferral(t: App, pair: { referrerId: number; referralId: number }): Promise<boolean> {
  await lockReferralPair(t, pair);
  const referrer = await findParty(t.db, pair.referrerId);
  if (!referrer || referrer.status === 'deleted') return false;
  await setReferrer(t.db, pair.referralId, pair.referrerId, t.clock.now());
  return registerReferral(t, pair);
}

/** The locks of an attribution; take them before any other lock of one of the two. */
export async function lockReferralPair(t: App, pair: { referrerId: number; referralId: number }): Promise<void> {
  await lockPair(t.db, pair);
}

/**
 * "Referral registered" (spec 04 section 1.2): the pending earning, and the notices to both as jobs, in the caller's transaction.
 * @returns false, with nothing written: for oneself, for a missing or deleted party, where the referrer is another, or once it is done
 */
export async function registerReferral(t: App, pair: { referrerId: number; referralId: number }): Promise<boolean> {
  if (pair.referrerId === pair.referralId) return false;
  await lockReferralPair(t, pair);
  const referral = await findParty(t.db, pair.referralId);
  const referrer = await findParty(t.db, pair.referrerId);
  if (!referral || !referrer || referrer.status === 'deleted' || referral.referredById !== referrer.id) return false;
  if (!(await insertPendingEarning(t.db, referrer.id, referral.id, t.clock.now()))) return false;
  const owner = { audience: 'user', userId: referrer.id } as const;
  await t.events.emit(REFERRAL_REGISTERED, { referral_name: fullName(referral) }, owner);
  if (t.settings.get('REFERRAL_NOTIFICATIONS_ENABLED')) {
    await tellNewcomer(t, referral, referrer);
    await tellReferrer(t, referrer, referral);
  }
  return true;
}

/** The bonus is promised only to those who can still get it: a campaign may bring users who have made their first top-up long ago. */
async function tellNewcomer(t: App, newcomer: ReferralParty, referrer: ReferralParty): Promise<void> {
  const bonusKopeks = t.settings.get('REFERRAL_FIRST_TOPUP_BONUS_KOPEKS');
  const isBonusToCome = bonusKopeks > 0 && !newcomer.hasMadeFirstTopup;
  const params = {
    referrer_name: fullName(referrer),
    bonus: formatPrice(bonusKopeks, false),
    minimum: formatPrice(t.settings.get('REFERRAL_MINIMUM_TOPUP_KOPEKS'), false),
  };
  if (newcomer.messengerId !== null) {
    const key: TextKey = isBonusToCome ? 'messages.referral_welcome_bonus' : 'messages.referral_welcome';
    await sendMessage(t, { messengerId: newcomer.messengerId, html: htmlText(newcomer.language, key, params) });
  } else if (newcomer.email !== null && newcomer.emailVerified) {
    const type = isBonusToCome ? 'referral_welcome_bonus' : 'referral_welcome';
    await sendMail(t, { to: newcomer.email, language: newcomer.language, type, params });
  }
}

async function tellReferrer(t: App, referrer: ReferralParty, newcomer: ReferralParty): Promise<void> {
  const referralName = fullName(newcomer);
  const percent = effectiveCommissionPercent(referrer.commissionPercent, t.settings.get('REFERRAL_COMMISSION_PERCENT'));
  const params = { referral_name: referralName, percent };
  await tellParty(t, referrer, {
    html: htmlText(referrer.language, 'messages.referral_registered', params),
    mail: 'referral_registered',
    mailParams: params,
    event: REFERRAL_REGISTERED_NOTICE,
    context: { referral_name: referralName },
  });
}
