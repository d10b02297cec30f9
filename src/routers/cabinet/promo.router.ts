import { rublesOf } from '../../core/money.ts';
import { claimOffer } from '../../domain/promo/offers/claim-offer.ts';
import { clearActiveDiscount, readActiveDiscount, readOwnGroup } from '../../domain/promo/offers/own-discount.ts';
import { readOwnOffers } from '../../domain/promo/offers/read-offers.ts';
import type { Offer } from '../../domain/promo/offers/types.ts';
import { readLoyalty } from '../../domain/promo-groups/read-loyalty.ts';
import type { PromoGroup } from '../../domain/promo-groups/types.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import {
  ActiveDiscountInfo,
  ClaimOfferRequest,
  ClaimOfferResponse,
  DiscountCleared,
  LoyaltyTiersResponse,
  PromoGroupDiscounts,
  PromoOfferInfo,
} from './promo.schemas.ts';

const tags: [string] = ['Cabinet Promo'];

function toOfferInfo(offer: Offer) {
  return {
    id: offer.id,
    notification_type: offer.notificationType,
    discount_percent: offer.discountPercent,
    effect_type: offer.effectType,
    expires_at: offer.expiresAt,
    is_active: offer.isActive && offer.claimedAt === null,
    is_claimed: offer.claimedAt !== null,
    claimed_at: offer.claimedAt,
    extra_data: offer.extraData,
  };
}

function toDiscounts(group: PromoGroup | null) {
  return {
    server_discount_percent: group?.serverDiscountPercent ?? 0,
    traffic_discount_percent: group?.trafficDiscountPercent ?? 0,
    device_discount_percent: group?.deviceDiscountPercent ?? 0,
    period_discounts: { ...group?.periodDiscounts },
  };
}

export const cabinetPromoRouter = router({
  offers: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/promo/offers', tags, summary: 'Own offers, newest first' } })
    .output(PromoOfferInfo.array())
    .query(async ({ ctx }) => (await readOwnOffers(ctx.app, ctx.actor)).map(toOfferInfo)),

  activeDiscount: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/promo/active-discount', tags, summary: 'The personal discount' } })
    .output(ActiveDiscountInfo)
    .query(async ({ ctx }) => {
      const { percent, source, expiresAt, isActive } = await readActiveDiscount(ctx.app, ctx.actor);
      return { discount_percent: percent, source, expires_at: expiresAt, is_active: isActive };
    }),

  clearDiscount: cabinetProcedure
    .meta({ openapi: { method: 'DELETE', path: '/cabinet/promo/active-discount', tags, summary: 'Give the discount up' } })
    .output(DiscountCleared)
    .mutation(async ({ ctx }) => {
      await clearActiveDiscount(ctx.app, ctx.actor);
      return { message: 'Active discount cleared' };
    }),

  groupDiscounts: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/promo/group-discounts', tags, summary: 'Discounts of the promo group' } })
    .output(PromoGroupDiscounts)
    .query(async ({ ctx }) => {
      const group = await readOwnGroup(ctx.app, ctx.actor);
      return { group_name: group?.name ?? null, ...toDiscounts(group) };
    }),

  loyaltyTiers: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/promo/loyalty-tiers', tags, summary: 'Groups that spending earns' } })
    .output(LoyaltyTiersResponse)
    .query(async ({ ctx }) => {
      const { tiers, spentKopeks, current, next, progressPercent } = await readLoyalty(ctx.app, ctx.actor);
      return {
        tiers: tiers.map(({ group, thresholdKopeks, isCurrent, isAchieved }) => ({
          id: group.id,
          name: group.name,
          threshold_rubles: rublesOf(thresholdKopeks),
          ...toDiscounts(group),
          is_current: isCurrent,
          is_achieved: isAchieved,
        })),
        current_spent_rubles: rublesOf(spentKopeks),
        current_tier_name: current?.group.name ?? null,
        next_tier_name: next?.group.name ?? null,
        next_tier_threshold_rubles: next && rublesOf(next.thresholdKopeks),
        progress_percent: progressPercent,
      };
    }),

  claim: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: '/cabinet/promo/claim', tags, summary: 'Claim an own offer' } })
    .input(ClaimOfferRequest)
    .output(ClaimOfferResponse)
    .mutation(async ({ ctx, input }) => {
      const { message, discountPercent, expiresAt } = await claimOffer(ctx.app, ctx.actor, input.offer_id);
      return { success: true, message, discount_percent: discountPercent, expires_at: expiresAt };
    }),
});
