import { promoGroupProcedures } from '../promo-group-procedures.ts';
import { adminProcedure, procedureFor, readerFor, router } from '../trpc.ts';
import {
  AdminPromoGroupCreateRequest,
  AdminPromoGroupListResponse,
  AdminPromoGroupResponse,
  AdminPromoGroupUpdateRequest,
} from './promo-groups.schemas.ts';

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
