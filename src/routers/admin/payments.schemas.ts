import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment, publishedAsFreeForm } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Payments` (spec 03 section 4.4). */

const paging = { page: z.int().min(1).default(1), per_page: z.int().min(1).max(100).default(20) };

export const AdminPaymentsQuery = z.object({ ...paging, method_filter: z.string().nullish() });

export const PaymentSearchStatsQuery = z.object({
  search: z.string().max(256).nullish(),
  status_filter: z.string().default('all'),
  method_filter: z.string().nullish(),
  period: z.string().default('24h'),
  date_from: MomentInput.nullish(),
  date_to: MomentInput.nullish(),
});

export const PaymentSearchQuery = PaymentSearchStatsQuery.extend(paging);

export const AdminPaymentPath = z.object({ method: z.string(), payment_id: z.int() });

export const AdminPaymentResponse = z
  .object({
    id: z.int(),
    method: z.string(),
    method_display: z.string(),
    identifier: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    status: z.string(),
    status_emoji: z.string(),
    status_text: z.string(),
    is_paid: z.boolean(),
    is_checkable: z.boolean(),
    created_at: Moment,
    expires_at: Moment.nullish(),
    payment_url: z.string().nullish(),
    user_id: z.int().nullish(),
    user_messenger_id: z.int().nullish(),
    user_username: z.string().nullish(),
    user_email: z.string().nullish(),
  })
  .meta({ id: 'CabinetAdminPaymentsPendingPaymentResponse' });

export const AdminPaymentListResponse = z
  .object({ items: AdminPaymentResponse.array(), total: z.int(), page: z.int(), per_page: z.int(), pages: z.int() })
  .meta({ id: 'CabinetAdminPaymentsPendingPaymentListResponse' });

const Counts = publishedAsFreeForm(z.record(z.string(), z.int()));

export const PaymentsStatsResponse = z
  .object({ total_pending: z.int(), by_method: Counts })
  .meta({ id: 'PaymentsStatsResponse' });

export const SearchStatsResponse = z
  .object({ total: z.int(), pending: z.int(), paid: z.int(), cancelled: z.int(), by_method: Counts })
  .meta({ id: 'SearchStatsResponse' });

export const AdminManualCheckResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    payment: AdminPaymentResponse.nullish(),
    status_changed: z.boolean().default(false),
    old_status: z.string().nullish(),
    new_status: z.string().nullish(),
  })
  .meta({ id: 'CabinetAdminPaymentsManualCheckResponse' });
