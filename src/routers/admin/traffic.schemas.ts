import { z } from 'zod';

/** Contract group `Admin Traffic` (spec 06 section 5). */

const period = z.int().min(1).max(30).default(30);

export const TrafficQuery = z.object({
  period,
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  search: z.string().max(100).default(''),
  sort_by: z.string().max(100).default('total_bytes'),
  sort_desc: z.boolean().default(true),
  tariffs: z.string().max(500).default(''),
  statuses: z.string().max(500).default(''),
  nodes: z.string().max(2000).default(''),
  start_date: z.string().max(10).default(''),
  end_date: z.string().max(10).default(''),
});

export const UserTrafficItem = z
  .object({
    user_id: z.int(),
    messenger_id: z.int().nullable(),
    username: z.string().nullable(),
    email: z.string().nullable(),
    full_name: z.string(),
    tariff_name: z.string().nullable(),
    subscription_status: z.string().nullable(),
    traffic_limit_gb: z.number(),
    device_limit: z.int(),
    node_traffic: z.record(z.string(), z.int()),
    total_bytes: z.int(),
  })
  .meta({ id: 'UserTrafficItem' });

export const TrafficNodeInfo = z
  .object({ node_uuid: z.string(), node_name: z.string(), country_code: z.string() })
  .meta({ id: 'TrafficNodeInfo' });

export const TrafficUsageResponse = z
  .object({
    items: z.array(UserTrafficItem),
    nodes: z.array(TrafficNodeInfo),
    total: z.int(),
    offset: z.int(),
    limit: z.int(),
    period_days: z.int(),
    available_tariffs: z.array(z.string()),
    available_statuses: z.array(z.string()),
  })
  .meta({ id: 'TrafficUsageResponse' });

export const UserTrafficEnrichment = z
  .object({
    devices_connected: z.int().default(0),
    total_spent_kopeks: z.int().default(0),
    subscription_start_date: z.string().nullish(),
    subscription_end_date: z.string().nullish(),
    last_node_name: z.string().nullish(),
  })
  .meta({ id: 'UserTrafficEnrichment' });

export const TrafficEnrichmentResponse = z
  .object({ data: z.record(z.string(), UserTrafficEnrichment) })
  .meta({ id: 'TrafficEnrichmentResponse' });

export const ExportCsvRequest = z
  .object({
    period,
    start_date: z.string().nullish(),
    end_date: z.string().nullish(),
    tariffs: z.string().nullish(),
    statuses: z.string().nullish(),
    nodes: z.string().nullish(),
    total_threshold_gb: z.number().min(0).nullish(),
    node_threshold_gb: z.number().min(0).nullish(),
  })
  .meta({
    id: 'ExportCsvRequest',
    example: { period: 30, start_date: '2026-01-01', end_date: '2026-01-31', statuses: 'active,expired' },
  });

export const ExportCsvResponse = z.object({ success: z.boolean(), message: z.string() }).meta({ id: 'ExportCsvResponse' });
