import { promoGroupProcedures } from '../promo-group-procedures.ts';
import { auditedWebProcedure, procedureFor, readerFor, router, webProcedure } from '../trpc.ts';
import {
  PromoGroupCreateRequest,
  PromoGroupListResponse,
  PromoGroupResponse,
  PromoGroupUpdateRequest,
} from './promo-groups.schemas.ts';

export const promoGroupsRouter = router(
  promoGroupProcedures({
    read: readerFor(webProcedure),
    create: procedureFor(auditedWebProcedure('promo_groups:create')),
    edit: procedureFor(auditedWebProcedure('promo_groups:edit')),
    delete: procedureFor(auditedWebProcedure('promo_groups:delete')),
    base: '/promo-groups',
    tag: 'promo-groups',
    schemas: {
      response: PromoGroupResponse,
      list: PromoGroupListResponse,
      createRequest: PromoGroupCreateRequest,
      updateRequest: PromoGroupUpdateRequest,
    },
    omitsNull: true,
  }),
);
