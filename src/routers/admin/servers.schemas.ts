import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Servers` (spec 02 section 9). */

export const AdminServerPath = z.object({ server_id: z.int().describe('Id of the server.') });

export const AdminServerListQuery = z.object({
  include_unavailable: z.boolean().default(true).describe('Whether servers that are not on sale are listed too.'),
});

const ServerListItem = z
  .object({
    id: z.int().describe('Id of the server.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    display_name: z.string().describe('Name shown to users.'),
    original_name: z.string().nullish().describe('Name of the squad in the panel; null when unknown.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
    is_available: z.boolean().describe('Whether the server is on sale.'),
    is_trial_eligible: z.boolean().describe('Whether trials may use the server.'),
    price_kopeks: z.int().describe('Price of 30 days in kopeks.'),
    price_rubles: z.number().describe('Price in rubles: kopeks / 100.'),
    max_users: z.int().nullish().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    current_users: z.int().describe('Number of users of the server.'),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    is_full: z.boolean().describe('Whether the number of users has reached the cap.'),
    availability_status: z.string().describe('Availability for display: unavailable, full or available.'),
    created_at: Timestamp.describe('When the server was created (UTC).'),
  })
  .meta({ id: 'ServerListItem' });

export const CabinetServersServerListResponse = z
  .object({
    servers: ServerListItem.array().describe('Servers.'),
    total: z.int().describe('Number of servers that match the filters.'),
  })
  .meta({ id: 'CabinetServersServerListResponse' });

const CabinetServersPromoGroupInfo = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group.'),
    is_selected: z.boolean().describe('Whether the group is selected.'),
  })
  .meta({ id: 'CabinetServersPromoGroupInfo' });

export const ServerDetailResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    display_name: z.string().describe('Name shown to users.'),
    original_name: z.string().nullish().describe('Name of the squad in the panel; null when unknown.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
    description: z.string().nullish().describe('Text about the server; null for none.'),
    is_available: z.boolean().describe('Whether the server is on sale.'),
    is_trial_eligible: z.boolean().describe('Whether trials may use the server.'),
    price_kopeks: z.int().describe('Price of 30 days in kopeks.'),
    price_rubles: z.number().describe('Price in rubles: kopeks / 100.'),
    max_users: z.int().nullish().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    current_users: z.int().describe('Number of users of the server.'),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    is_full: z.boolean().describe('Whether the number of users has reached the cap.'),
    availability_status: z.string().describe('Availability for display: unavailable, full or available.'),
    promo_groups: CabinetServersPromoGroupInfo.array().describe('All promo groups; the selected ones are marked.'),
    active_subscriptions: z.int().describe('Number of subscriptions with access.'),
    tariffs_using: z.string().array().describe('Names of the tariffs that contain the server.'),
    created_at: Timestamp.describe('When the server was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the record was last changed (UTC); null when it never was.'),
  })
  .meta({ id: 'ServerDetailResponse' });

export const CabinetServersServerUpdateRequest = z
  .object({
    display_name: z.string().min(1).max(255).nullish().describe('Name shown to users; null where the original name is shown.'),
    description: z.string().nullish().describe('New text about the server.'),
    country_code: z.string().max(5).nullish().describe('Country code of two letters; null or empty for none.'),
    is_available: z.boolean().nullish().describe('Whether the server is on sale; null leaves it unchanged.'),
    is_trial_eligible: z
      .boolean()
      .nullish()
      .describe('Whether trials may use the server; null when no server belongs to the squad.'),
    price_kopeks: z.int().min(0).nullish().describe('Price in kopeks, after discounts; null where there is none.'),
    max_users: z.int().min(0).nullish().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    sort_order: z.int().min(0).nullish().describe('Place in the list; smaller numbers come first.'),
    promo_group_ids: z
      .int()
      .array()
      .nullish()
      .describe('Promo groups whose members may use the server; at least one, null unchanged.'),
  })
  .meta({
    id: 'CabinetServersServerUpdateRequest',
    example: { display_name: 'Netherlands', country_code: 'NL', price_kopeks: 9900, is_available: true },
  });

export const ServerToggleResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    is_available: z.boolean().describe('Whether the server is on sale now.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'ServerToggleResponse' });

export const ServerTrialToggleResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    is_trial_eligible: z.boolean().describe('Whether trials may use the server.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'ServerTrialToggleResponse' });

export const ServerStatsResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    display_name: z.string().describe('Name shown to users.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    current_users: z.int().describe('Number of users of the server.'),
    max_users: z.int().nullable().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    active_subscriptions: z.int().describe('Number of subscriptions with access.'),
    trial_subscriptions: z.int().describe('Number of trial subscriptions.'),
    usage_percent: z.number().nullish().describe('Users in percent of the cap, one decimal; null without a cap.'),
  })
  .meta({ id: 'ServerStatsResponse' });

export const CabinetServersServerSyncResponse = z
  .object({
    created: z.int().describe('Number of records created.'),
    updated: z.int().describe('Number of records changed.'),
    removed: z.int().describe('Number of records removed.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'CabinetServersServerSyncResponse' });
