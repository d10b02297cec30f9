import type { App } from '../../core/app.ts';
import { formatPrice, rublesOf } from '../../core/money.ts';
import type { MiniappPages } from '../../domain/content/service-info.ts';
import type { TransactionRecord } from '../../domain/ledger/types.ts';
import { offerPercent } from '../../domain/pricing/discounts.ts';
import { perDayLabel, trafficLabel, usedTrafficLabel } from '../../domain/pricing/periods.ts';
import type { MiniappOffer } from '../../domain/promo/offers/claim-offer.ts';
import type { LoyaltyStatus } from '../../domain/promo-groups/promo-groups.ts';
import type { readMiniappReferral } from '../../domain/referrals/my-referrals.ts';
import { seenAt } from '../../domain/subscriptions/connected-devices.ts';
import type { MiniappCard } from '../../domain/subscriptions/miniapp/card.ts';

/** What the first page is made of. */
export interface CardParts {
  card: MiniappCard;
  transactions: readonly TransactionRecord[];
  offers: readonly MiniappOffer[];
  loyalty: LoyaltyStatus;
  referral: Awaited<ReturnType<typeof readMiniappReferral>>;
  pages: MiniappPages;
}

/** The first page under domain names, without autopay and the current tariff (spec 02 section 12.3). */
export function toCard(app: App, parts: CardParts) {
  const { card, loyalty } = parts;
  const { subscription, buyer, links, panel, trial } = card;
  const label = (kopeks: number) => formatPrice(kopeks, app.settings.get('PRICE_ROUNDING_ENABLED'));
  const isPaidTrial = trial.priceKopeks > 0;
  return {
    success: true,
    subscriptionId: subscription?.id ?? null,
    vpnpanelShortUuid: subscription?.vpnpanelShortUuid ?? null,
    user: userOf(app, card, label),
    trafficPurchases: card.purchases,
    subscriptionUrl: links.subscriptionUrl,
    hideSubscriptionLink: links.connection?.hideLink ?? app.settings.get('HIDE_SUBSCRIPTION_LINK'),
    subscriptionCryptoLink: links.cryptoLink,
    subscriptionPurchaseUrl: textOrNull(app.settings.get('MINIAPP_PURCHASE_URL')),
    links: panel.info?.links ?? [],
    ssConfLinks: panel.info?.ssConfLinks ?? {},
    connectedSquads: subscription?.connectedSquads ?? [],
    connectedServers: card.servers,
    connectedDevicesCount: panel.devices.length,
    connectedDevices: panel.devices.map((device) => ({
      ...device,
      appVersion: device.userAgent,
      lastSeen: seenAt(device)?.toISOString() ?? null,
      lastIp: null,
    })),
    happ: null,
    happLink: null,
    happCryptoLink: links.cryptoLink,
    happCryptolinkRedirectLink: links.connection?.redirectLink ?? null,
    happCryptolinkRedirectTemplate: textOrNull(app.settings.get('HAPP_CRYPTOLINK_REDIRECT_TEMPLATE')),
    balanceKopeks: buyer.balanceKopeks,
    balanceRubles: rublesOf(buyer.balanceKopeks),
    balanceCurrency: null,
    transactions: parts.transactions.map((one) => ({ ...one, amountRubles: rublesOf(one.amountKopeks) })),
    promoOffers: parts.offers.map((shown) => offerOf(shown, label)),
    promoGroup: buyer.primaryPromoGroup,
    autoAssignPromoGroups: loyalty.tiers.map(({ group, thresholdKopeks, isAchieved }) => ({
      ...group,
      thresholdKopeks,
      thresholdRubles: rublesOf(thresholdKopeks),
      thresholdLabel: label(thresholdKopeks),
      isReached: isAchieved,
      isCurrent: group.id === buyer.primaryPromoGroup?.id,
    })),
    totalSpentKopeks: loyalty.spentKopeks,
    totalSpentRubles: rublesOf(loyalty.spentKopeks),
    totalSpentLabel: label(loyalty.spentKopeks),
    subscriptionType: subscription === null ? 'none' : subscription.isTrial ? 'trial' : 'paid',
    branding: brandingOf(app),
    ...parts.pages,
    referral: referralOf(parts.referral, label),
    subscriptionMissing: subscription === null,
    subscriptionMissingReason: missingReason(card),
    trialAvailable: trial.isAvailable,
    trialDurationDays: trial.durationDays > 0 ? trial.durationDays : null,
    trialStatus: trial.isAvailable ? 'available' : 'unavailable',
    trialPaymentRequired: isPaidTrial,
    trialPriceKopeks: isPaidTrial ? trial.priceKopeks : null,
    trialPriceLabel: isPaidTrial ? label(trial.priceKopeks) : null,
    salesMode: app.settings.get('SALES_MODE') === 'classic' ? 'classic' : 'tariffs',
  };
}

type Label = (kopeks: number) => string;

function userOf(app: App, card: MiniappCard, label: Label) {
  const { user, buyer, subscription, tariff, dailyPriceKopeks } = card;
  const { language } = buyer;
  const percent = offerPercent(buyer, app.clock.now());
  const actual = card.status ?? 'missing';
  const fullName = [user.firstName, user.lastName].filter(Boolean).join(' ');
  const isDaily = tariff?.isDaily === true;
  const dailyPrice = isDaily ? dailyPriceKopeks : null;
  return {
    ...user,
    displayName: user.username || fullName || `User ${user.messengerId}`,
    subscriptionStatus: subscription?.status ?? 'none',
    subscriptionActualStatus: actual,
    statusLabel: actual.charAt(0).toUpperCase() + actual.slice(1),
    expiresAt: subscription?.endDate ?? null,
    deviceLimit: subscription?.deviceLimit ?? app.settings.get('DEFAULT_DEVICE_LIMIT'),
    trafficUsedGb: twoDecimals(card.trafficUsedGb),
    trafficUsedLabel: usedTrafficLabel(card.trafficUsedGb, language),
    // Without a subscription as with an unlimited one (spec 10 X14).
    trafficLimitGb: subscription?.trafficLimitGb ?? 0,
    trafficLimitLabel: trafficLabel(subscription?.trafficLimitGb ?? 0, language),
    lifetimeUsedTrafficGb: twoDecimals(card.lifetimeUsedGb),
    hasActiveSubscription: actual === 'active' || actual === 'trial',
    promoOfferDiscountPercent: percent,
    promoOfferDiscountExpiresAt: percent > 0 ? buyer.promoOfferDiscountExpiresAt : null,
    promoOfferDiscountSource: buyer.promoOfferDiscountSource,
    isDailyTariff: isDaily,
    isDailyPaused: isDaily && subscription?.isDailyPaused === true,
    dailyTariffName: isDaily ? tariff.name : null,
    dailyPriceKopeks: dailyPrice,
    dailyPriceLabel: dailyPrice ? perDayLabel(label(dailyPrice), language) : null,
    dailyNextChargeAt: isDaily ? (subscription?.endDate ?? null) : null,
  };
}

function missingReason({ subscription, trial }: MiniappCard): string | null {
  if (subscription !== null) return null;
  return !trial.isAvailable && trial.durationDays > 0 ? 'trial_expired' : 'not_found';
}

function offerOf({ offer, template, activeUntil, activeSeconds, ...shown }: MiniappOffer, label: Label) {
  const isActive = shown.status === 'active';
  return {
    ...offer,
    ...shown,
    offerType: template?.offerType ?? null,
    bonusAmountLabel: offer.bonusAmountKopeks > 0 ? label(offer.bonusAmountKopeks) : null,
    isActive: offer.isActive && !isActive,
    templateId: template?.id ?? null,
    templateName: template?.name ?? null,
    activeDiscountExpiresAt: activeUntil,
    activeDiscountStartedAt: isActive ? offer.claimedAt : null,
    activeDiscountDurationSeconds: activeSeconds,
  };
}

/** Names of the service by language; `default` for any other. */
function brandingOf(app: App) {
  const texts = (en: string, ru: string, neutral: string) => {
    const [english, russian] = [textOrNull(en), textOrNull(ru)];
    return { default: english ?? russian ?? neutral, en: english, ru: russian };
  };
  const { settings } = app;
  return {
    serviceName: texts(settings.get('MINIAPP_SERVICE_NAME_EN'), settings.get('MINIAPP_SERVICE_NAME_RU'), 'VPN'),
    serviceDescription: texts(
      settings.get('MINIAPP_SERVICE_DESCRIPTION_EN'),
      settings.get('MINIAPP_SERVICE_DESCRIPTION_RU'),
      'Secure connection',
    ),
  };
}

function referralOf(found: CardParts['referral'], label: Label) {
  const { info, terms, referrals } = found;
  return {
    referralCode: info.referralCode,
    referralLink: textOrNull(info.referralLink),
    botReferralLink: info.botReferralLink,
    terms: {
      ...terms,
      minimumTopupLabel: label(terms.minimumTopupKopeks),
      firstTopupBonusLabel: label(terms.firstTopupBonusKopeks),
      inviterBonusLabel: label(terms.inviterBonusKopeks),
    },
    stats: {
      invitedCount: info.totalReferrals,
      paidReferralsCount: found.paidReferrals,
      activeReferralsCount: info.activeReferrals,
      totalEarnedKopeks: info.totalEarningsKopeks,
      totalEarnedLabel: label(info.totalEarningsKopeks),
      monthEarnedKopeks: found.monthEarnedKopeks,
      monthEarnedLabel: label(found.monthEarnedKopeks),
      conversionRate: found.conversionRate,
    },
    recentEarnings: found.earnings.map((earning) => ({
      ...earning,
      amountLabel: label(earning.amountKopeks),
      referralName: earning.referralFirstName ?? earning.referralUsername,
    })),
    referrals: {
      totalCount: info.totalReferrals,
      hasNext: found.totalPages > 1,
      hasPrev: false,
      currentPage: 1,
      totalPages: found.totalPages,
      items: referrals.map((referral) => ({
        ...referral,
        // What a referral has is not the referrer's business.
        balanceKopeks: 0,
        balanceLabel: label(0),
        totalEarnedKopeks: referral.earnedKopeks,
        totalEarnedLabel: label(referral.earnedKopeks),
        topupsCount: referral.topups,
        status: referral.isActive ? 'active' : 'inactive',
      })),
    },
  };
}

const twoDecimals = (gb: number) => Math.round(gb * 100) / 100;

function textOrNull(value: string | null): string | null {
  const trimmed = value?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}
