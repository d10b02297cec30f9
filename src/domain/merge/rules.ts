/** Pure rules of the account merge (spec 01 section 8). */
import type { MergedFields, MergingUser, PanelHolding, SubscriptionPlan } from './types.ts';

/** Ascending (spec 01 section 8, partner_status). */
const PARTNER_RANKS: readonly string[] = ['none', 'rejected', 'pending', 'approved'];

/**
 * What the primary account holds after the merge. Identities go only into empty fields; the secondary's e-mail comes with its
 * password and its proof, or not at all; flags add up.
 */
export function mergedFields(
  primary: MergingUser,
  secondary: MergingUser,
  decided: { plan: SubscriptionPlan; referredById: number | null },
  now: Date,
): MergedFields {
  const { plan, referredById } = decided;
  const email = primary.email === null ? secondary : primary;
  const messenger = primary.messengerId === null ? secondary : primary;
  const offer = isLiveOffer(primary, now) ? primary : secondary;
  const panel = plan.panelFrom === null ? null : plan.panelFrom === 'primary' ? primary : secondary;
  return {
    messengerId: messenger.messengerId,
    // Stands in the chat of that messenger account.
    lastPinnedMessageId: messenger.lastPinnedMessageId,
    googleId: primary.googleId ?? secondary.googleId,
    yandexId: primary.yandexId ?? secondary.yandexId,
    discordId: primary.discordId ?? secondary.discordId,
    vkId: primary.vkId ?? secondary.vkId,
    email: email.email,
    emailVerified: email.emailVerified,
    emailVerifiedAt: email.emailVerifiedAt,
    passwordHash: email.passwordHash,
    referredById,
    referralCommissionPercent: primary.referralCommissionPercent ?? secondary.referralCommissionPercent,
    partnerStatus: higherPartnerStatus(primary.partnerStatus, secondary.partnerStatus),
    restrictionTopup: primary.restrictionTopup || secondary.restrictionTopup,
    restrictionSubscription: primary.restrictionSubscription || secondary.restrictionSubscription,
    restrictionReason: primary.restrictionReason || secondary.restrictionReason,
    hasHadPaidSubscription: primary.hasHadPaidSubscription || secondary.hasHadPaidSubscription,
    hasMadeFirstTopup: primary.hasMadeFirstTopup || secondary.hasMadeFirstTopup,
    usedPromocodes: primary.usedPromocodes + secondary.usedPromocodes,
    autoPromoGroupAssigned: primary.autoPromoGroupAssigned || secondary.autoPromoGroupAssigned,
    autoPromoGroupThresholdKopeks: Math.max(primary.autoPromoGroupThresholdKopeks, secondary.autoPromoGroupThresholdKopeks),
    promoOfferDiscountPercent: offer.promoOfferDiscountPercent,
    promoOfferDiscountSource: offer.promoOfferDiscountSource,
    promoOfferDiscountExpiresAt: offer.promoOfferDiscountExpiresAt,
    lifetimeUsedTrafficBytes: primary.lifetimeUsedTrafficBytes + secondary.lifetimeUsedTrafficBytes,
    vpnpanelUuid: panel?.vpnpanelUuid ?? null,
    trojanPassword: panel?.trojanPassword ?? null,
    vlessUuid: panel?.vlessUuid ?? null,
    ssPassword: panel?.ssPassword ?? null,
    lastVpnpanelSync: panel?.lastVpnpanelSync ?? null,
  };
}

/**
 * Who may have invited the merged account, best first: the primary's own referrer, then the secondary's; never one of the two. Whether
 * a candidate was himself invited by one of them, which would close a circle, the database must say.
 */
export function referrerCandidates(primary: MergingUser, secondary: MergingUser): number[] {
  const candidates = [primary.referredById, secondary.referredById];
  return candidates.filter((id): id is number => id !== null && id !== primary.id && id !== secondary.id);
}

/** The later in the order none, rejected, pending, approved. */
export function higherPartnerStatus(one: string, other: string): string {
  return PARTNER_RANKS.indexOf(one) >= PARTNER_RANKS.indexOf(other) ? one : other;
}

function isLiveOffer(user: MergingUser, now: Date): boolean {
  const { promoOfferDiscountPercent: percent, promoOfferDiscountExpiresAt: endsAt } = user;
  return percent > 0 && (endsAt === null || endsAt > now);
}

/**
 * Which subscription stays, and which panel user with it. One person has one panel user: the kept subscription's own, else (it was
 * not provisioned yet) the other one, so that no push can find by name a panel user that is being deleted.
 * @param keepsSecondary decides only where both have a subscription
 */
export function planSubscriptions(primary: PanelHolding, secondary: PanelHolding, keepsSecondary: boolean): SubscriptionPlan {
  const isMoved = secondary.subscriptionId !== null && (primary.subscriptionId === null || keepsSecondary);
  const [kept, other] = isMoved ? [secondary, primary] : [primary, secondary];
  const [keptName, otherName] = isMoved ? (['secondary', 'primary'] as const) : (['primary', 'secondary'] as const);
  const panelFrom = kept.panelUuid !== null ? keptName : other.panelUuid !== null ? otherName : null;
  return {
    keptSubscriptionId: kept.subscriptionId,
    deletedSubscriptionId: other.subscriptionId,
    isMoved,
    panelFrom,
    isPanelReused: panelFrom === otherName,
    abandonedPanelUuid: panelFrom === keptName ? other.panelUuid : null,
  };
}
