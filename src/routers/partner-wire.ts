import type { PartnerDetail } from '../domain/campaigns/partner-stats.ts';
import type { PartnerCampaign } from '../domain/campaigns/partner-types.ts';
import type { PartnerSettings } from '../domain/referrals/partners/partner-settings.ts';
import type { ListedApplication, ListedPartner, PartnerApplication } from '../domain/referrals/partners/types.ts';
import { percentOfTotal } from '../domain/referrals/stats/rules.ts';

/** Wire forms of partners, as the partner and the administrators see them (spec 04 section 3). */

/** An application without whose it is. */
export function toApplication(application: PartnerApplication) {
  return {
    id: application.id,
    company_name: application.companyName,
    website_url: application.websiteUrl,
    messenger_channel: application.messengerChannel,
    description: application.description,
    expected_monthly_referrals: application.expectedMonthlyReferrals,
    desired_commission_percent: application.desiredCommissionPercent,
    status: application.status,
    admin_comment: application.adminComment,
    approved_commission_percent: application.approvedCommissionPercent,
    created_at: application.createdAt,
    processed_at: application.processedAt,
  };
}

export function toAdminApplication(application: ListedApplication) {
  return {
    ...toApplication(application),
    user_id: application.userId,
    username: application.username,
    first_name: application.firstName,
    messenger_id: application.messengerId,
  };
}

export function toAdminPartner(partner: ListedPartner) {
  return {
    user_id: partner.userId,
    username: partner.username,
    first_name: partner.firstName,
    messenger_id: partner.messengerId,
    commission_percent: partner.commissionPercent,
    partner_status: partner.partnerStatus,
    balance_kopeks: partner.balanceKopeks,
    total_referrals: partner.totalReferrals,
    total_earnings_kopeks: partner.totalEarningsKopeks,
    created_at: partner.createdAt,
  };
}

/** What a campaign brought its partner. */
export function toCampaignSums(campaign: Pick<PartnerCampaign, 'registrations' | 'referrals' | 'earnedKopeks'>) {
  return {
    registrations_count: campaign.registrations,
    referrals_count: campaign.referrals,
    earnings_kopeks: campaign.earnedKopeks,
  };
}

export function toAdminPartnerDetail({ user, stats, campaigns }: PartnerDetail) {
  return {
    user_id: user.id,
    username: user.username,
    first_name: user.firstName,
    messenger_id: user.messengerId,
    commission_percent: user.referralCommissionPercent,
    partner_status: user.partnerStatus,
    balance_kopeks: user.balanceKopeks,
    total_referrals: stats.totalReferrals,
    paid_referrals: stats.paidReferrals,
    active_referrals: stats.activeReferrals,
    earnings_all_time: stats.allTime.earnedKopeks,
    earnings_today: stats.today.earnedKopeks,
    earnings_week: stats.week.earnedKopeks,
    earnings_month: stats.month.earnedKopeks,
    conversion_to_paid: percentOfTotal(stats.paidReferrals, stats.totalReferrals),
    campaigns: campaigns.map((campaign) => ({
      id: campaign.id,
      name: campaign.name,
      start_parameter: campaign.startParameter,
      is_active: campaign.isActive,
      ...toCampaignSums(campaign),
    })),
    created_at: user.createdAt,
  };
}

export function toPartnerSettings(settings: PartnerSettings) {
  return {
    withdrawal_enabled: settings.withdrawalEnabled,
    withdrawal_min_amount_kopeks: settings.withdrawalMinAmountKopeks,
    withdrawal_cooldown_days: settings.withdrawalCooldownDays,
    withdrawal_requisites_text: settings.withdrawalRequisitesText,
    partner_section_visible: settings.partnerSectionVisible,
    referral_program_enabled: settings.referralProgramEnabled,
  };
}
