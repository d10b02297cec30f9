import type { App } from '../../core/app.ts';
import { applyCampaignAtSignIn } from '../../domain/campaigns/apply-at-sign-in.ts';
import type { CampaignBonus } from '../../domain/campaigns/types.ts';
import { findUserById } from '../../domain/identity/find-user.ts';
import type { SignIn } from '../../domain/identity/sessions/open-session.ts';
import { registerReferralAtSignIn } from '../../domain/referrals/register-referral.ts';
import { toTokenResponse, toUserResponse } from './auth-response.ts';

/** What came along with a sign-in; absent where the door does not take it. */
export interface SignInExtras {
  campaign_slug?: string | null | undefined;
  referral_code?: string | null | undefined;
}

/**
 * The last steps of every sign-in and its answer (spec 01 sections 2.3, 2.4 and 5): the referral of a newcomer, then the campaign's
 * bonus. Neither can make the sign-in fail.
 */
export async function answerSignIn(app: App, signIn: SignIn, extras: SignInExtras = {}) {
  const { user } = signIn;
  const isInvited = user.referredById !== null || Boolean(extras.referral_code);
  if (signIn.isNew && isInvited) await registerReferralAtSignIn(app, user.id, extras.referral_code ?? null);
  const bonus = await applyCampaignAtSignIn(app, user.id, extras.campaign_slug ?? null);
  const current = bonus ? ((await findUserById(app, user.id)) ?? user) : user;
  return { ...toTokenResponse(signIn), user: toUserResponse(current), campaign_bonus: bonus && toBonusResponse(bonus) };
}

function toBonusResponse(bonus: CampaignBonus) {
  return {
    campaign_name: bonus.campaignName,
    bonus_type: bonus.bonusType,
    balance_kopeks: bonus.balanceKopeks,
    subscription_days: bonus.subscriptionDays,
    tariff_name: bonus.tariffName,
  };
}
