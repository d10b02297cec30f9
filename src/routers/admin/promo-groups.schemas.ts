import { z } from 'zod';
import {
  PROMO_GROUP_EXAMPLE,
  PromoGroupCreateFields,
  PromoGroupFields,
  PromoGroupUpdateFields,
} from '../web/promo-groups.schemas.ts';

/** Contract group `Admin Promo Groups` (spec 04 section 8). */

export const AdminPromoGroupResponse = PromoGroupFields.extend({}).meta({ id: 'CabinetAdminPromocodesPromoGroupResponse' });

export const AdminPromoGroupListResponse = z
  .object({
    items: AdminPromoGroupResponse.array().describe('A page of promo groups, by priority and name.'),
    total: z.int().describe('Number of promo groups, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoGroupListResponse' });

export const AdminPromoGroupCreateRequest = PromoGroupCreateFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoGroupCreateRequest',
  example: PROMO_GROUP_EXAMPLE,
});

export const AdminPromoGroupUpdateRequest = PromoGroupUpdateFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoGroupUpdateRequest',
  example: PROMO_GROUP_EXAMPLE,
});
