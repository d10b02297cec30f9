import { z } from 'zod';
import { promoGroupProcedures } from '../promo-group-procedures.ts';
import { adminProcedure, procedureFor, readerFor, router } from '../trpc.ts';
import {
  PROMO_GROUP_EXAMPLE,
  PromoGroupCreateFields,
  PromoGroupFields,
  PromoGroupUpdateFields,
} from '../web/promo-groups.schemas.ts';

/** Contract group `Admin Promo Groups`. */

const AdminPromoGroupResponse = PromoGroupFields.meta({ id: 'CabinetAdminPromocodesPromoGroupResponse' });

const AdminPromoGroupListResponse = z
  .object({
    items: AdminPromoGroupResponse.array().describe('A page of promo groups, by priority and name.'),
    total: z.int().describe('Number of promo groups, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoGroupListResponse' });

const AdminPromoGroupCreateRequest = PromoGroupCreateFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoGroupCreateRequest',
  example: PROMO_GROUP_EXAMPLE,
});

const { shape: change } = PromoGroupUpdateFields;
const AdminPromoGroupUpdateRequest = PromoGroupUpdateFields.extend({
  period_discounts: change.period_discounts.describe(
    'Discounts on periods: length in days (as text) to percent; null leaves them unchanged, an empty object removes them.',
  ),
  apply_discounts_to_addons: change.apply_discounts_to_addons.describe(
    'Whether traffic, devices and servers bought in mid-period are discounted too; null leaves it unchanged.',
  ),
  is_default: change.is_default.describe('Whether it is the default group. Exactly one group is; null leaves it unchanged.'),
}).meta({
  id: 'CabinetAdminPromocodesPromoGroupUpdateRequest',
  example: PROMO_GROUP_EXAMPLE,
});

export const adminPromoGroupsRouter = router(
  promoGroupProcedures({
    read: readerFor(adminProcedure('promo_groups:read')),
    create: procedureFor(adminProcedure('promo_groups:create')),
    edit: procedureFor(adminProcedure('promo_groups:edit')),
    delete: procedureFor(adminProcedure('promo_groups:delete')),
    base: '/cabinet/admin/promo-groups',
    tag: 'Admin Promo Groups',
    schemas: {
      response: AdminPromoGroupResponse,
      list: AdminPromoGroupListResponse,
      createRequest: AdminPromoGroupCreateRequest,
      updateRequest: AdminPromoGroupUpdateRequest,
    },
    omitsNull: false,
  }),
);
