import type { z } from 'zod';
import type {
  OfferDetails,
  OfferLogEntry,
  OfferTemplate,
  OfferTemplateValues,
  OfferTerms,
  OfferUser,
} from '../domain/promo/offers/types.ts';
import type { OfferTemplateUpdateFields, OfferTermsFields } from './web/promo-offers.schemas.ts';

/** Names of promo offers on the wire, alike at both doors (spec 04 section 9); an answer's schema leaves out what its door does not show. */

export function toOfferTerms(input: z.output<typeof OfferTermsFields>): OfferTerms {
  return {
    notificationType: input.notification_type,
    validHours: input.valid_hours,
    discountPercent: input.discount_percent,
    bonusAmountKopeks: input.bonus_amount_kopeks,
    effectType: input.effect_type,
    extraData: input.extra_data,
  };
}

function toUserAnswer(user: OfferUser) {
  return {
    id: user.id,
    messenger_id: user.messengerId,
    email: user.email,
    username: user.username,
    first_name: user.firstName,
    last_name: user.lastName,
    full_name: user.fullName,
  };
}

export function toOfferAnswer({ subscription, ...offer }: OfferDetails) {
  return {
    id: offer.id,
    user_id: offer.userId,
    subscription_id: offer.subscriptionId,
    notification_type: offer.notificationType,
    discount_percent: offer.discountPercent,
    bonus_amount_kopeks: offer.bonusAmountKopeks,
    expires_at: offer.expiresAt,
    claimed_at: offer.claimedAt,
    is_active: offer.isActive,
    effect_type: offer.effectType,
    extra_data: offer.extraData,
    created_at: offer.createdAt,
    updated_at: offer.updatedAt,
    user: toUserAnswer(offer.user),
    subscription: subscription && {
      id: subscription.id,
      status: subscription.status,
      is_trial: subscription.isTrial,
      start_date: subscription.startDate,
      end_date: subscription.endDate,
      autopay_enabled: subscription.autopayEnabled,
    },
  };
}

export function toLogAnswer({ user, offer, ...entry }: OfferLogEntry) {
  return {
    id: entry.id,
    user_id: entry.userId,
    offer_id: entry.offerId,
    action: entry.action,
    source: entry.source,
    percent: entry.percent,
    effect_type: entry.effectType,
    details: entry.details,
    created_at: entry.createdAt,
    user: user && toUserAnswer(user),
    offer: offer && {
      id: offer.id,
      notification_type: offer.notificationType,
      discount_percent: offer.discountPercent,
      bonus_amount_kopeks: offer.bonusAmountKopeks,
      effect_type: offer.effectType,
      expires_at: offer.expiresAt,
      claimed_at: offer.claimedAt,
      is_active: offer.isActive,
    },
  };
}

export function toTemplateAnswer(template: OfferTemplate) {
  return {
    id: template.id,
    name: template.name,
    offer_type: template.offerType,
    message_text: template.messageText,
    button_text: template.buttonText,
    valid_hours: template.validHours,
    discount_percent: template.discountPercent,
    bonus_amount_kopeks: template.bonusAmountKopeks,
    active_discount_hours: template.activeDiscountHours,
    test_duration_hours: template.testDurationHours,
    test_squad_uuids: template.testSquadUuids,
    is_active: template.isActive,
    created_by: template.createdBy,
    created_at: template.createdAt,
    updated_at: template.updatedAt,
  };
}

/** null and absent alike leave a field as it is. */
export function toTemplateChanges(input: z.output<typeof OfferTemplateUpdateFields>): Partial<OfferTemplateValues> {
  return {
    name: input.name ?? undefined,
    messageText: input.message_text ?? undefined,
    buttonText: input.button_text ?? undefined,
    validHours: input.valid_hours ?? undefined,
    discountPercent: input.discount_percent ?? undefined,
    bonusAmountKopeks: input.bonus_amount_kopeks ?? undefined,
    activeDiscountHours: input.active_discount_hours ?? undefined,
    testDurationHours: input.test_duration_hours ?? undefined,
    testSquadUuids: input.test_squad_uuids ?? undefined,
    isActive: input.is_active ?? undefined,
  };
}
