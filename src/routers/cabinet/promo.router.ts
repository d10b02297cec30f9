import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { claimOffer } from '../../domain/promo/offers/claim-offer.ts';
import { CLAIM_REFUSES } from '../../domain/promo/offers/errors.ts';
import { clearActiveDiscount, listMyOffers, readActiveDiscount, readMyGroup } from '../../domain/promo/offers/offers.ts';
import type { Offer } from '../../domain/promo/offers/types.ts';
import { readLoyalty } from '../../domain/promo-groups/promo-groups.ts';
import { FreeForm, Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Promo`. */

const PromoOfferInfo = z
  .object({
    id: z.int().describe('Id of the promo offer.'),
    notification_type: z
      .string()
      .describe('Occasion of the offer, up to 50 characters. An unclaimed offer of the same type is replaced.'),
    discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
    effect_type: z.string().describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
    expires_at: Timestamp.describe('When it stops being valid (UTC).'),
    is_active: z.boolean().describe('Whether the offer can be claimed: not claimed and not expired.'),
    is_claimed: z.boolean().describe('Whether the offer was claimed.'),
    claimed_at: Timestamp.nullish().describe('When the offer was claimed (UTC); null while it was not.'),
    extra_data: FreeForm.nullish().describe('Further values as free-form object.'),
  })
  .meta({ id: 'PromoOfferInfo' });

const ActiveDiscountInfo = z
  .object({
    discount_percent: z.int().describe('Discount in percent; 0 for none.'),
    source: z.string().nullish().describe('Where the discount came from, for example `promocode:{CODE}`; null for none.'),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
    is_active: z.boolean().describe('Whether a personal discount applies to the next purchase.'),
  })
  .meta({ id: 'ActiveDiscountInfo' });

const DiscountCleared = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
});

const PeriodDiscounts = z.record(z.string(), z.int()).default({});

const PromoGroupDiscounts = z
  .object({
    group_name: z.string().nullish().describe('Name of the promo group; null when the user has none.'),
    server_discount_percent: z.int().default(0).describe('Discount on servers in percent, 0 to 100.'),
    traffic_discount_percent: z.int().default(0).describe('Discount on traffic in percent, 0 to 100.'),
    device_discount_percent: z.int().default(0).describe('Discount on devices in percent, 0 to 100.'),
    period_discounts: PeriodDiscounts.describe('Discounts on periods: length in days (as text) to percent.'),
  })
  .meta({ id: 'PromoGroupDiscounts' });

const LoyaltyTierInfo = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group that this spending reaches.'),
    threshold_rubles: z.number().describe('Spending that the group needs, rubles.'),
    server_discount_percent: z.int().default(0).describe('Discount on servers in percent, 0 to 100.'),
    traffic_discount_percent: z.int().default(0).describe('Discount on traffic in percent, 0 to 100.'),
    device_discount_percent: z.int().default(0).describe('Discount on devices in percent, 0 to 100.'),
    period_discounts: PeriodDiscounts.describe('Discounts on periods: length in days (as text) to percent.'),
    is_current: z.boolean().default(false).describe('Whether it is the highest group that the spending of the user reaches.'),
    is_achieved: z.boolean().default(false).describe('Whether the spending suffices.'),
  })
  .meta({ id: 'LoyaltyTierInfo' });

const LoyaltyTiersResponse = z
  .object({
    tiers: LoyaltyTierInfo.array().describe('Promo groups that are reached by spending, lowest first.'),
    current_spent_rubles: z.number().describe('What the user has spent on subscriptions, rubles.'),
    current_tier_name: z.string().nullish().describe('Highest group reached; null for none.'),
    next_tier_name: z.string().nullish().describe('Next group; null when all are reached.'),
    next_tier_threshold_rubles: z
      .number()
      .nullish()
      .describe('Spending that the next group needs, rubles; null when all are reached.'),
    progress_percent: z
      .number()
      .default(0)
      .describe('Spending in percent of what the next group needs; 100 when all are reached.'),
  })
  .meta({ id: 'LoyaltyTiersResponse' });

const ClaimOfferRequest = z
  .object({ offer_id: z.int().describe('Id of the offer.') })
  .meta({ id: 'ClaimOfferRequest', example: { offer_id: 1 } });

const ClaimOfferResponse = z
  .object({
    success: z.boolean().describe('Always true: a refused claim is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
  })
  .meta({ id: 'ClaimOfferResponse' });

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
      refuses: [...CLAIM_REFUSES],
    })
    .input(fromWire(ClaimOfferRequest))
    .output(toWire(ClaimOfferResponse))
    .mutation(async ({ ctx, input }) => {
      const claimed = await claimOffer(ctx.app, ctx.actor, input.offerId);
      return { success: true, ...claimed };
    }),
});
