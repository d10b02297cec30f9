import { z } from 'zod';
import { userNotFound } from '../../domain/identity/errors.ts';
import { deactivateDiscountOf, discountExpired, noDiscount } from '../../domain/promo/codes/activate-promocode.ts';
import { CHANGE_REFUSES, CREATION_REFUSES, promocodeNotFound, promoGroupUnknown } from '../../domain/promo/codes/errors.ts';
import {
  changePromocode,
  createPromocode,
  deletePromocode,
  listPromocodes,
  readPromocode,
} from '../../domain/promo/codes/promocodes.ts';
import { promocodeAnswer, withValidity } from '../promocode-answers.ts';
import { SuccessResponse, TimestampInput } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import {
  PROMOCODE_EXAMPLE,
  PromoCodeCreateRequest,
  PromoCodeResponse,
  PromocodeListQuery,
  PromocodePath,
  PromocodeTypeField,
  PromocodeUseFields,
} from '../web/promocodes.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Admin Promocodes`. */

const AdminPromocodeResponse = PromoCodeResponse.extend({
  is_active: PromoCodeResponse.shape.is_active.describe(
    'Whether the code is switched on; an inactive one is refused as an expired one is.',
  ),
  updated_at: PromoCodeResponse.shape.updated_at.describe(
    'When the values of the code were last changed (UTC); its uses do not count.',
  ),
  first_purchase_only: z.boolean().describe('Whether only users who never paid for a subscription can use it.'),
  promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.'),
}).meta({ id: 'CabinetAdminPromocodesPromoCodeResponse' });

const AdminPromocodeListResponse = z
  .object({
    items: AdminPromocodeResponse.array().describe('A page of promo codes, newest first.'),
    total: z.int().describe('Number of promo codes that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeListResponse' });

const AdminPromocodeRecentUse = PromocodeUseFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoCodeRecentUse',
});

const AdminPromocodeDetailResponse = AdminPromocodeResponse.extend({
  total_uses: z.int().describe('Number of uses.'),
  today_uses: z.int().describe('Number of uses since 00:00 UTC.'),
  recent_uses: AdminPromocodeRecentUse.array().default([]).describe('The ten newest uses.'),
}).meta({ id: 'CabinetAdminPromocodesPromoCodeDetailResponse' });

const AdminPromocodeCreateRequest = PromoCodeCreateRequest.omit({ created_by: true })
  .extend({
    code: z.string().min(1).max(50).describe('The code, up to 50 characters; stored in upper case, unique.'),
    is_active: z
      .boolean()
      .default(true)
      .describe('Whether the code can be activated; an inactive one is refused as an expired one is.'),
    first_purchase_only: z.boolean().default(false).describe('Whether only users who never paid for a subscription can use it.'),
    promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeCreateRequest', example: PROMOCODE_EXAMPLE });

const AdminPromocodeUpdateRequest = z
  .object({
    code: z.string().min(1).max(50).nullish().describe('New code; null leaves it unchanged.'),
    type: PromocodeTypeField.nullish().describe(
      'What the code gives: `balance` (money), `subscription_days`, `trial_subscription`, `promo_group` or `discount` (in percent, for the next purchase). Null leaves it unchanged.',
    ),
    balance_bonus_kopeks: z
      .int()
      .nullish()
      .describe(
        'Kopeks added to the balance. For a code of type `discount`: the discount in percent, 1 to 100. Null leaves it unchanged.',
      ),
    subscription_days: z
      .int()
      .nullish()
      .describe(
        'Days added to the subscription. For a code of type `discount`: hours of validity, at least 1. Null leaves it unchanged.',
      ),
    max_uses: z
      .int()
      .min(0)
      .nullish()
      .describe('How often the code can be used; 0 for unlimited, which is answered as 999999. Null leaves it unchanged.'),
    valid_from: TimestampInput.nullish().describe('Start of validity (UTC); null leaves it unchanged.'),
    valid_until: TimestampInput.nullish().describe('End of validity (UTC); null leaves it unchanged.'),
    is_active: z.boolean().nullish().describe('Whether the code can be activated; null leaves it unchanged.'),
    first_purchase_only: z
      .boolean()
      .nullish()
      .describe('Whether only users who never paid for a subscription can use it; null leaves it unchanged.'),
    promo_group_id: z.int().nullish().describe('Id of the promo group; null leaves it unchanged.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeUpdateRequest', example: PROMOCODE_EXAMPLE });

const DiscountUserPath = z.object({ user_id: z.int().describe('Internal id of the user.') });

const DeactivateDiscountResponse = z
  .object({
    success: z.boolean().describe('Always true: a user without a discount is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deactivated_code: z.string().nullish().describe('Promo code that had given the discount; null when it came from elsewhere.'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
    user_id: z.int().describe('Internal id of the user.'),
  })
  .meta({ id: 'DeactivateDiscountResponse' });

const tags: [string] = ['Admin Promocodes'];

export const adminPromocodesRouter = router({
  list: adminProcedure('promocodes:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/promocodes', tags, summary: 'List promo codes, newest first' },
      description: 'Lists promo codes, newest first.',
    })
    .input(fromWire(PromocodeListQuery))
    .output(toWire(AdminPromocodeListResponse))
    .query(async ({ ctx, input }) => {
      const now = ctx.app.clock.now();
      const { items, total } = await listPromocodes(ctx.app, input);
      return { ...input, items: items.map((item) => promocodeAnswer(item, now)), total };
    }),

  create: adminProcedure('promocodes:create')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/promocodes', tags, summary: 'Create a promo code' },
      description:
        'Creates a promo code. Which fields are required depends on its type. The administrator is recorded as creator.',
      refuses: [...CREATION_REFUSES, promoGroupUnknown],
    })
    .input(fromWire(AdminPromocodeCreateRequest))
    .output(toWire(AdminPromocodeResponse))
    .mutation(async ({ ctx, input }) => {
      const { promoGroupId = null } = input;
      const request = { ...withValidity(input), promoGroupId, createdBy: ctx.actor.userId };
      return promocodeAnswer(await createPromocode(ctx.app, ctx.actor, request), ctx.app.clock.now());
    }),

  get: adminProcedure('promocodes:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/promocodes/{promocode_id}', tags, summary: 'A promo code and its uses' },
      description: 'Returns a promo code with the number of its uses and the ten newest ones.',
      refuses: [promocodeNotFound],
    })
    .input(fromWire(PromocodePath))
    .output(toWire(AdminPromocodeDetailResponse))
    .query(async ({ ctx, input }) => {
      const { promocode, ...uses } = await readPromocode(ctx.app, input.promocodeId);
      return { ...promocodeAnswer(promocode, ctx.app.clock.now()), ...uses };
    }),

  update: adminProcedure('promocodes:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/cabinet/admin/promocodes/{promocode_id}', tags, summary: 'Change a promo code' },
      description:
        'Changes a promo code; null leaves a field unchanged. The same rules as for a new code apply to the result. Benefits that were given remain.',
      refuses: [...CHANGE_REFUSES, promoGroupUnknown],
    })
    .input(fromWire(withBody(PromocodePath, AdminPromocodeUpdateRequest)))
    .output(toWire(AdminPromocodeResponse))
    .mutation(async ({ ctx, input: { promocodeId: id, ...changes } }) =>
      promocodeAnswer(await changePromocode(ctx.app, ctx.actor, id, withValidity(changes)), ctx.app.clock.now()),
    ),

  delete: adminProcedure('promocodes:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/promocodes/{promocode_id}',
        tags,
        summary: 'Delete a promo code and its uses',
      },
      description: 'Deletes a promo code and the records of its uses. A code that the fortune wheel gave cannot be deleted.',
      refuses: [promocodeNotFound],
    })
    .input(fromWire(PromocodePath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePromocode(ctx.app, ctx.actor, input.promocodeId);
      return { success: true as const };
    }),

  deactivateDiscount: adminProcedure('promocodes:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/promocodes/deactivate-discount/{user_id}',
        tags,
        summary: "End a user's personal discount",
      },
      description: 'Ends the personal discount of a user. If a promo code gave it, the code counts as unused again.',
      refuses: [noDiscount, discountExpired, userNotFound],
    })
    .input(fromWire(DiscountUserPath))
    .output(toWire(DeactivateDiscountResponse))
    .mutation(async ({ ctx, input: { userId } }) => {
      const { code, percent } = await deactivateDiscountOf(ctx.app, ctx.actor, userId);
      const message = `Discount of user ${userId} deactivated`;
      return { success: true, message, deactivatedCode: code, discountPercent: percent, userId };
    }),
});
