import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { effectiveSquadsOf, lockTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { postMovement } from '../ledger/post-movement.ts';
import { text } from '../messaging/texts.ts';
import { attributeReferral, lockReferralPair } from '../referrals/register-referral.ts';
import { type GrantTerms, grantSubscription } from '../subscriptions/grant-subscription.ts';
import { findActiveBySlug, insertRegistration, lockActiveForShare, lockRegistrant } from './repo.ts';
import { type BonusPlan, planBonus } from './rules.ts';
import type { Campaign, CampaignBonus, CampaignRegistrant } from './types.ts';

/**
 * Grants the bonus of the campaign whose link led to this sign-in, to new and existing users alike, once per user (spec 01 section
 * 2.4, H15; spec 04 section 6.3). One transaction: the registration, unique per user, is written before the bonus. Never throws: the
 * sign-in succeeds also when this fails.
 * @param slug `campaign_slug` of the request
 * @returns null when there was nothing to give; else the user must be read again for the answer
 */
export async function applyCampaignAtSignIn(app: App, userId: number, slug: string | null): Promise<CampaignBonus | null> {
  if (!slug) return null;
  try {
    const campaign = await findActiveBySlug(app.db, slug);
    if (!campaign || campaign.partnerUserId === userId) return null;
    return await inTransaction(app, (t) => applyCampaign(t, campaign, userId));
  } catch (error) {
    // Any failure: a sign-in does not fail for a bonus; it is given at the next one.
    app.log.warn({ err: error, userId }, 'a campaign bonus could not be given');
    return null;
  }
}

async function applyCampaign(t: App, found: Campaign, userId: number): Promise<CampaignBonus | null> {
  const { partnerUserId } = found;
  if (partnerUserId !== null) await lockReferralPair(t, { referrerId: partnerUserId, referralId: userId });
  const registrant = await lockRegistrant(t.db, userId);
  if (!registrant || registrant.isRegistered) return null;
  // Read again under the lock: it may have been switched off, changed or assigned to another partner since it was found. A partner to
  // whom it was assigned in between is not locked and does not become the referrer of this registrant.
  const campaign = await lockActiveForShare(t.db, found.id);
  if (!campaign || campaign.partnerUserId === userId) return null;
  const plan = planBonus(campaign, registrant);
  const tariff = plan?.type === 'tariff' ? await lockTariff(t, plan.tariffId) : null;
  const canBeGiven = plan !== null && (plan.type !== 'tariff' || tariff?.isActive === true);
  // The first write: it prevents a second bonus, and the referral's earnings read the campaign from it.
  const isRegistered = canBeGiven && (await register(t, campaign, registrant, plan));
  // Also when the bonus cannot be given. A user who has a referrer, this partner included, is registered already: the "not paid yet" row may
  // have been paid and deleted since (spec 04 sections 1.2 and 6.3).
  if (registrant.referredById === null && partnerUserId !== null && campaign.partnerUserId === partnerUserId) {
    await attributeReferral(t, { referrerId: partnerUserId, referralId: registrant.id });
  }
  return isRegistered ? giveBonus(t, { campaign, registrant, plan, tariff }) : null;
}

function register(t: App, campaign: Campaign, registrant: CampaignRegistrant, plan: BonusPlan): Promise<boolean> {
  const registration = {
    campaignId: campaign.id,
    userId: registrant.id,
    bonusType: plan.type,
    balanceBonusKopeks: plan.type === 'balance' ? plan.kopeks : 0,
    subscriptionDurationDays: plan.type === 'subscription' ? plan.days : null,
    tariffId: plan.type === 'tariff' ? plan.tariffId : null,
    tariffDurationDays: plan.type === 'tariff' ? plan.days : null,
  };
  return insertRegistration(t.db, registration, t.clock.now());
}

interface PlannedBonus {
  campaign: Campaign;
  registrant: CampaignRegistrant;
  plan: BonusPlan;
  tariff: Tariff | null;
}

async function giveBonus(t: App, { campaign, registrant, plan, tariff }: PlannedBonus): Promise<CampaignBonus> {
  const bonus = { campaignName: campaign.name, bonusType: plan.type, balanceKopeks: 0, subscriptionDays: null, tariffName: null };
  switch (plan.type) {
    case 'balance':
      await creditBonus(t, campaign, registrant, plan.kopeks);
      return { ...bonus, balanceKopeks: plan.kopeks };
    case 'subscription':
      await grant(t, registrant, {
        days: plan.days,
        isTrial: true,
        trafficLimitGb: plan.trafficLimitGb,
        deviceLimit: plan.deviceLimit || t.settings.get('DEFAULT_DEVICE_LIMIT'),
        squads: plan.squads,
        tariffId: null,
      });
      return { ...bonus, subscriptionDays: plan.days };
    case 'tariff': {
      const chosen = tariff!;
      const { trafficLimitGb, deviceLimit } = chosen;
      const squads = await effectiveSquadsOf(t, chosen);
      await grant(t, registrant, { days: plan.days, isTrial: false, trafficLimitGb, deviceLimit, squads, tariffId: chosen.id });
      return { ...bonus, tariffName: chosen.name };
    }
    default:
      return bonus;
  }
}

/** A deposit without payment method is a bonus. */
async function creditBonus(t: App, campaign: Campaign, registrant: CampaignRegistrant, kopeks: number): Promise<void> {
  const { outcome } = await postMovement(t, {
    userId: registrant.id,
    type: 'deposit',
    amountKopeks: kopeks,
    contra: { kind: 'bonus_expense', bonus: 'campaign' },
    paymentMethod: null,
    description: text(registrant.language, 'messages.transaction_campaign_bonus', { campaign_name: campaign.name }),
  });
  if (outcome !== 'posted') throw new Error(`a campaign bonus was ${outcome}`);
}

async function grant(t: App, registrant: CampaignRegistrant, terms: GrantTerms): Promise<void> {
  const given = await grantSubscription(t, registrant.id, terms);
  if (!given) throw new Error('a subscription was created although its user was locked');
}
