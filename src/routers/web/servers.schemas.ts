import { z } from 'zod';
import { Moment, PromoGroupSummary } from '../shared.schemas.ts';

/** Contract group `servers`: camelCase on the wire (spec 02 section 8). */

export const ServerPath = z.object({ server_id: z.int() });

export const ServerListQuery = z.object({
  page: z.int().min(1).default(1),
  limit: z.int().min(1).max(200).default(50),
  available: z.boolean().default(false),
  search: z.string().nullish(),
});

export const ServerUsersQuery = ServerPath.extend({
  limit: z.int().min(1).max(500).default(100),
  offset: z.int().min(0).default(0),
});

export const ServerResponse = z
  .object({
    id: z.int(),
    squadUuid: z.string(),
    displayName: z.string(),
    originalName: z.string().nullish(),
    countryCode: z.string().nullish(),
    isAvailable: z.boolean(),
    isTrialEligible: z.boolean(),
    priceKopeks: z.int(),
    priceRubles: z.number(),
    description: z.string().nullish(),
    sortOrder: z.int(),
    maxUsers: z.int().nullish(),
    currentUsers: z.int(),
    createdAt: Moment.nullish(),
    updatedAt: Moment.nullish(),
    promoGroups: PromoGroupSummary.array(),
  })
  .meta({ id: 'ServerResponse' });

export const ServerListResponse = z
  .object({ items: ServerResponse.array(), total: z.int(), page: z.int(), limit: z.int() })
  .meta({ id: 'ServerListResponse' });

export const ServerCreateRequest = z
  .object({
    squadUuid: z.string(),
    displayName: z.string(),
    originalName: z.string().nullish(),
    countryCode: z.string().nullish(),
    priceKopeks: z.int().default(0),
    description: z.string().nullish(),
    maxUsers: z.int().nullish(),
    isAvailable: z.boolean().default(true),
    isTrialEligible: z.boolean().default(false),
    sortOrder: z.int().default(0),
    promoGroupIds: z.int().array().nullish(),
  })
  .meta({
    id: 'ServerCreateRequest',
    example: {
      squadUuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77',
      displayName: 'Netherlands',
      countryCode: 'NL',
      priceKopeks: 9900,
      isAvailable: true,
    },
  });

export const ServerUpdateRequest = z
  .object({
    displayName: z.string().nullish(),
    originalName: z.string().nullish(),
    countryCode: z.string().nullish(),
    priceKopeks: z.int().nullish(),
    description: z.string().nullish(),
    maxUsers: z.int().nullish(),
    isAvailable: z.boolean().nullish(),
    isTrialEligible: z.boolean().nullish(),
    sortOrder: z.int().nullish(),
    promoGroupIds: z.int().array().nullish(),
  })
  .meta({ id: 'ServerUpdateRequest', example: { displayName: 'Netherlands', priceKopeks: 9900, isAvailable: true } });

export const ServerStatisticsResponse = z
  .object({
    totalServers: z.int(),
    availableServers: z.int(),
    unavailableServers: z.int(),
    serversWithConnections: z.int(),
    totalRevenueKopeks: z.int(),
    totalRevenueRubles: z.number(),
  })
  .meta({ id: 'ServerStatisticsResponse' });

export const ServerDeleteResponse = z.object({ success: z.boolean(), message: z.string() }).meta({ id: 'ServerDeleteResponse' });

export const ServerConnectedUser = z
  .object({
    id: z.int(),
    messengerId: z.int().nullish(),
    username: z.string().nullish(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    status: z.string(),
    balanceKopeks: z.int(),
    balanceRubles: z.number(),
    subscriptionId: z.int().nullish(),
    subscriptionStatus: z.string().nullish(),
    subscriptionEndDate: Moment.nullish(),
  })
  .meta({ id: 'ServerConnectedUser' });

export const ServerConnectedUsersResponse = z
  .object({ items: ServerConnectedUser.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ServerConnectedUsersResponse' });

export const ServerSyncResponse = z
  .object({ created: z.int(), updated: z.int(), removed: z.int(), total: z.int() })
  .meta({ id: 'ServerSyncResponse' });

export const ServerCountsSyncResponse = z.object({ updated: z.int() }).meta({ id: 'ServerCountsSyncResponse' });
