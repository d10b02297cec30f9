/** Pure rules of the account merge (spec 01 section 8). */
import type { MergedFields, MergingUser, PanelAssets, SubscriptionPlan } from './types.ts';

/** Ascending (spec 01 section 8, partner_status). */
const PARTNER_RANKS: readonly MergingUser['partnerStatus'][] = ['none', 'rejected', 'pending', 'approved'];

/**
 * The fields of the primary account after the merge. Identities fill empty fields only; the secondary's e-mail comes together with its
 * password and its verification, or not at all; a flag is set when one of the two has it.
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
  const offer = isActiveOffer(primary, now) ? primary : secondary;
  const panel = plan.panelFrom === null ? null : plan.panelFrom === 'primary' ? primary : secondary;
  return {
    messengerId: messenger.messengerId,
    // The pinned message is in the chat of that messenger account.
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
 * The possible referrers of the merged account, in order of preference: the primary's, then the secondary's; never one of the two. Whether
 * a candidate was invited by one of them, which would form a cycle, the caller checks in the database.
 */
export function referrerCandidates(primary: MergingUser, secondary: MergingUser): number[] {
  const candidates = [primary.referredById, secondary.referredById];
  return candidates.filter((id): id is number => id !== null && id !== primary.id && id !== secondary.id);
}

/** The later in the order none, rejected, pending, approved. */
export function higherPartnerStatus(one: MergingUser['partnerStatus'], other: MergingUser['partnerStatus']) {
  return PARTNER_RANKS.indexOf(one) >= PARTNER_RANKS.indexOf(other) ? one : other;
}

function isActiveOffer(user: MergingUser, now: Date): boolean {
  const { promoOfferDiscountPercent: percent, promoOfferDiscountExpiresAt: expiresAt } = user;
  return percent > 0 && (expiresAt === null || expiresAt > now);
}

/**
 * Decides which subscription and which panel user stay. An account has one panel user: that of the retained subscription, else (it was
 * not provisioned yet) the other one, so that no push can find by name a panel user that is being deleted.
 * @param keepsSecondary decides only where both have a subscription
 */
export function planSubscriptions(primary: PanelAssets, secondary: PanelAssets, keepsSecondary: boolean): SubscriptionPlan {
  const isMoved = secondary.subscriptionId !== null && (primary.subscriptionId === null || keepsSecondary);
  const [retained, other] = isMoved ? [secondary, primary] : [primary, secondary];
  const [retainedName, otherName] = isMoved ? (['secondary', 'primary'] as const) : (['primary', 'secondary'] as const);
  const panelFrom = retained.panelUuid !== null ? retainedName : other.panelUuid !== null ? otherName : null;
  return {
    retainedSubscriptionId: retained.subscriptionId,
    deletedSubscriptionId: other.subscriptionId,
    isMoved,
    panelFrom,
    isPanelReused: panelFrom === otherName,
    abandonedPanelUuid: panelFrom === retainedName ? other.panelUuid : null,
  };
}
