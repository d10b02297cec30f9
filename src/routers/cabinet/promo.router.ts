import { rublesOf } from '../../core/money.ts';
import { claimOffer } from '../../domain/promo/offers/claim-offer.ts';
import { CLAIM_REFUSALS } from '../../domain/promo/offers/errors.ts';
import { clearActiveDiscount, listMyOffers, readActiveDiscount, readMyGroup } from '../../domain/promo/offers/offers.ts';
import type { Offer } from '../../domain/promo/offers/types.ts';
import { readLoyalty } from '../../domain/promo-groups/promo-groups.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
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

function offerInfo(offer: Offer) {
  const isClaimed = offer.claimedAt !== null;
  return { ...offer, isActive: offer.isActive && !isClaimed, isClaimed };
}

export const cabinetPromoRouter = router({
  offers: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/promo/offers', tags, summary: 'Own offers, newest first' },
      description: 'Lists own offers that have not expired, newest first.',
    })
    .output(toWire(PromoOfferInfo.array()))
    .query(async ({ ctx }) => (await listMyOffers(ctx.app, ctx.actor)).map(offerInfo)),

  activeDiscount: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/promo/active-discount', tags, summary: 'The personal discount' },
      description: 'Returns the personal discount that the next purchase uses.',
    })
    .output(toWire(ActiveDiscountInfo))
    .query(async ({ ctx }) => {
      const { percent, ...discount } = await readActiveDiscount(ctx.app, ctx.actor);
      return { ...discount, discountPercent: percent };
    }),

  clearDiscount: cabinetProcedure
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/promo/active-discount', tags, summary: 'Clear the personal discount' },
      description: 'Removes the personal discount. Neither the discount nor the promo code that gave it is restored.',
    })
    .output(toWire(DiscountCleared))
    .mutation(async ({ ctx }) => {
      await clearActiveDiscount(ctx.app, ctx.actor);
      return { message: 'Active discount cleared' };
    }),

  groupDiscounts: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/promo/group-discounts', tags, summary: 'Discounts of the promo group' },
      description: 'Returns the discounts of the primary promo group; zeros without one.',
    })
    .output(toWire(PromoGroupDiscounts))
    .query(async ({ ctx }) => {
      const group = await readMyGroup(ctx.app, ctx.actor);
      return { ...group, groupName: group?.name ?? null };
    }),

  loyaltyTiers: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/promo/loyalty-tiers', tags, summary: 'Promo groups by total spending' },
      description: 'Lists the promo groups that are reached by spending, and the progress of the user.',
    })
    .output(toWire(LoyaltyTiersResponse))
    .query(async ({ ctx }) => {
      const { tiers, spentKopeks, current, next, progressPercent } = await readLoyalty(ctx.app, ctx.actor);
      return {
        tiers: tiers.map(({ group, thresholdKopeks, isCurrent, isAchieved }) => ({
          ...group,
          thresholdRubles: rublesOf(thresholdKopeks),
          isCurrent,
          isAchieved,
        })),
        currentSpentRubles: rublesOf(spentKopeks),
        currentTierName: current?.group.name ?? null,
        nextTierName: next?.group.name ?? null,
        nextTierThresholdRubles: next && rublesOf(next.thresholdKopeks),
        progressPercent,
      };
    }),

  claim: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/promo/claim', tags, summary: 'Claim an own offer' },
      description:
        'Claims an own offer: a personal discount for the next purchase, which replaces an active one, or temporary access to servers. An offer can be claimed once.',
      refuses: [CLAIM_REFUSALS.already_claimed, CLAIM_REFUSALS.expired, CLAIM_REFUSALS.not_found],
    })
    .input(fromWire(ClaimOfferRequest))
    .output(toWire(ClaimOfferResponse))
    .mutation(async ({ ctx, input }) => {
      const claimed = await claimOffer(ctx.app, ctx.actor, input.offerId);
      return { success: true, ...claimed };
    }),
});
