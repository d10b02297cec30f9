import type { App } from '../../core/app.ts';
import { applyCampaignAtSignIn } from '../../domain/campaigns/apply-at-sign-in.ts';
import { findUserById } from '../../domain/identity/find-user.ts';
import { requestRotation, type SignIn } from '../../domain/identity/sessions/sessions.ts';
import { registerReferralAtSignIn } from '../../domain/referrals/register-referral.ts';
import { userAnswer } from './auth-response.ts';

/** What a sign-in request may have; absent where its schema does not have it. */
export interface SignInExtras {
  campaignSlug?: string | null | undefined;
  referralCode?: string | null | undefined;
  /** The client stores a new refresh token at each refresh. */
  rotateRefreshToken?: boolean | undefined;
}

/**
 * The last steps of every sign-in and its answer (spec 01 sections 2.3, 2.4 and 5): rotation where it is asked for, the referral of a new
 * account, then the campaign's bonus. The last two cannot make the sign-in fail.
 */
export async function answerSignIn(app: App, signIn: SignIn, extras: SignInExtras) {
  const { user, isNew, ...tokens } = signIn;
  if (extras.rotateRefreshToken) await requestRotation(app, tokens.refreshToken);
  const isInvited = user.referredById !== null || Boolean(extras.referralCode);
  if (isNew && isInvited) await registerReferralAtSignIn(app, user.id, extras.referralCode ?? null);
  const campaignBonus = await applyCampaignAtSignIn(app, user.id, extras.campaignSlug ?? null);
  const current = campaignBonus ? ((await findUserById(app, user.id)) ?? user) : user;
  return { ...tokens, user: userAnswer(current), campaignBonus };
}
