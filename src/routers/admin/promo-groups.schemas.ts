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
  .object({ items: AdminPromoGroupResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'CabinetAdminPromocodesPromoGroupListResponse' });

export const AdminPromoGroupCreateRequest = PromoGroupCreateFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoGroupCreateRequest',
  example: PROMO_GROUP_EXAMPLE,
});

export const AdminPromoGroupUpdateRequest = PromoGroupUpdateFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoGroupUpdateRequest',
  example: PROMO_GROUP_EXAMPLE,
});
