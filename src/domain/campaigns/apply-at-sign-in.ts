import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { effectiveSquadsOf, lockTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { postMovement } from '../ledger/post-movement.ts';
import { text } from '../messaging/texts.ts';
import { attributeReferral, lockReferralPair } from '../referrals/register-referral.ts';
import { type GrantTerms, grantSubscription } from '../subscriptions/grant-subscription.ts';
import { findActiveCampaign } from './find-campaign.ts';
import { holdActive, insertRegistration, lockVisitor } from './repo.ts';
import { type BonusPlan, planBonus } from './rules.ts';
import type { Campaign, CampaignBonus, CampaignVisitor } from './types.ts';

/**
 * Gives the bonus of the campaign whose link led to this sign-in, to new and old users alike, once in a user's life (spec 01 section
 * 2.4, H15; spec 04 section 6.3). One transaction: the registration, unique per user, is written before the bonus. Never throws: the
 * sign-in succeeds whatever happens here.
 * @param slug `campaign_slug` of the request
 * @returns null when there was nothing to give; else the user must be read anew for the answer
 */
export async function applyCampaignAtSignIn(app: App, userId: number, slug: string | null): Promise<CampaignBonus | null> {
  if (!slug) return null;
  try {
    const campaign = await findActiveCampaign(app, slug);
    if (!campaign || campaign.partnerUserId === userId) return null;
    return await inTransaction(app, (t) => applyCampaign(t, campaign, userId));
  } catch (error) {
    app.log.warn({ err: error, userId }, 'a campaign bonus could not be given');
    return null;
  }
}

async function applyCampaign(t: App, found: Campaign, userId: number): Promise<CampaignBonus | null> {
  const { partnerUserId } = found;
  if (partnerUserId !== null) await lockReferralPair(t, { referrerId: partnerUserId, referralId: userId });
  const visitor = await lockVisitor(t.db, userId);
  if (!visitor || visitor.isRegistered) return null;
  // As it is now: it may have been switched off, changed or given to another partner since it was looked up, and from here on cannot
  // be. A partner of this very moment holds no lock yet and is too late for this visitor.
  const campaign = await holdActive(t.db, found.id);
  if (!campaign || campaign.partnerUserId === userId) return null;
  const plan = planBonus(campaign, visitor);
  const tariff = plan?.type === 'tariff' ? await lockTariff(t, plan.tariffId) : null;
  const canBeGiven = plan !== null && (plan.type !== 'tariff' || tariff?.isActive === true);
  // First of all writes: it keeps a second bonus out, and the referral's earnings look the campaign up in it.
  const isRegistered = canBeGiven && (await register(t, campaign, visitor, plan));
  // Counts also when the bonus cannot be given. Whoever has a referrer, be it this very partner, has been registered once and for all:
  // the row that said "not paid yet" may have been fulfilled since (spec 04 sections 1.2 and 6.3).
  if (visitor.referredById === null && partnerUserId !== null && campaign.partnerUserId === partnerUserId) {
    await attributeReferral(t, { referrerId: partnerUserId, referralId: visitor.id });
  }
  return isRegistered ? giveBonus(t, { campaign, visitor, plan, tariff }) : null;
}

function register(t: App, campaign: Campaign, visitor: CampaignVisitor, plan: BonusPlan): Promise<boolean> {
  const registration = {
    campaignId: campaign.id,
    userId: visitor.id,
    bonusType: plan.type,
    balanceBonusKopeks: plan.type === 'balance' ? plan.kopeks : 0,
    subscriptionDurationDays: plan.type === 'subscription' ? plan.days : null,
    tariffId: plan.type === 'tariff' ? plan.tariffId : null,
    tariffDurationDays: plan.type === 'tariff' ? plan.days : null,
  };
  return insertRegistration(t.db, registration, t.clock.now());
}

interface Gift {
  campaign: Campaign;
  visitor: CampaignVisitor;
  plan: BonusPlan;
  tariff: Tariff | null;
}

async function giveBonus(t: App, { campaign, visitor, plan, tariff }: Gift): Promise<CampaignBonus> {
  const bonus = { campaignName: campaign.name, bonusType: plan.type, balanceKopeks: 0, subscriptionDays: null, tariffName: null };
  switch (plan.type) {
    case 'balance':
      await creditBonus(t, campaign, visitor, plan.kopeks);
      return { ...bonus, balanceKopeks: plan.kopeks };
    case 'subscription':
      await grant(t, visitor, {
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
      await grant(t, visitor, { days: plan.days, isTrial: false, trafficLimitGb, deviceLimit, squads, tariffId: chosen.id });
      return { ...bonus, tariffName: chosen.name };
    }
    default:
      return bonus;
  }
}

/** A deposit without payment method is a bonus (spec 04 section 0.2). */
async function creditBonus(t: App, campaign: Campaign, visitor: CampaignVisitor, kopeks: number): Promise<void> {
  const { outcome } = await postMovement(t, {
    userId: visitor.id,
    type: 'deposit',
    amountKopeks: kopeks,
    counter: { kind: 'bonus_expense', bonus: 'campaign' },
    paymentMethod: null,
    description: text(visitor.language, 'messages.transaction_campaign_bonus', { campaign_name: campaign.name }),
  });
  if (outcome !== 'posted') throw new Error(`a campaign bonus was ${outcome}`);
}

async function grant(t: App, visitor: CampaignVisitor, terms: GrantTerms): Promise<void> {
  const given = await grantSubscription(t, visitor.id, terms);
  if (!given) throw new Error('a subscription appeared under the lock of its user');
}
