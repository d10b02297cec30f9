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
    items: AdminPromoGroupResponse.array().describe('Records of this page.'),
    total: z.int().describe('Number of all records that match the filters, not only of this page.'),
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
