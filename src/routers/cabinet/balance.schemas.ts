import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Balance` (spec 03 section 3). */

export const BalanceResponse = z.object({ balance_kopeks: z.int(), balance_rubles: z.number() }).meta({ id: 'BalanceResponse' });

export const BalanceTransactionsQuery = z.object({
  page: z.int().min(1).default(1),
  per_page: z.int().min(1).max(100).default(20),
  type: z.string().nullish(),
});

export const CabinetBalanceTransactionResponse = z
  .object({
    id: z.int(),
    type: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    description: z.string().nullish(),
    payment_method: z.string().nullish(),
    is_completed: z.boolean(),
    created_at: Moment,
    completed_at: Moment.nullish(),
  })
  .meta({ id: 'CabinetBalanceTransactionResponse' });

export const CabinetBalanceTransactionListResponse = z
  .object({
    items: CabinetBalanceTransactionResponse.array(),
    total: z.int(),
    page: z.int(),
    per_page: z.int(),
    pages: z.int(),
  })
  .meta({ id: 'CabinetBalanceTransactionListResponse' });

export const PaymentMethodResponse = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullish(),
    min_amount_kopeks: z.int(),
    max_amount_kopeks: z.int(),
    is_available: z.boolean().default(true),
    options: FreeForm.array().nullish(),
  })
  .meta({ id: 'PaymentMethodResponse' });

export const StarsInvoiceRequest = z
  .object({ amount_kopeks: z.int().min(100).max(2_000_000_000) })
  .meta({ id: 'StarsInvoiceRequest' });

export const StarsInvoiceResponse = z
  .object({ invoice_url: z.string(), stars_amount: z.int(), amount_kopeks: z.int() })
  .meta({ id: 'StarsInvoiceResponse' });

export const TopUpRequest = z
  .object({
    amount_kopeks: z.int().min(1_000).max(2_000_000_000),
    payment_method: z.string(),
    payment_option: z.string().nullish(),
  })
  .meta({ id: 'TopUpRequest', example: { amount_kopeks: 50000, payment_method: 'yookassa', payment_option: 'sbp' } });

export const TopUpResponse = z
  .object({
    payment_id: z.string(),
    payment_url: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    status: z.string(),
    expires_at: Moment.nullish(),
  })
  .meta({ id: 'TopUpResponse' });

export const PendingPaymentsQuery = z.object({
  page: z.int().min(1).default(1),
  per_page: z.int().min(1).max(50).default(10),
});

export const PaymentMethodPath = z.object({ method: z.string() });
export const PaymentPath = z.object({ method: z.string(), payment_id: z.int() });

export const PendingPaymentResponse = z
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
  })
  .meta({ id: 'PendingPaymentResponse' });

export const PendingPaymentListResponse = z
  .object({ items: PendingPaymentResponse.array(), total: z.int(), page: z.int(), per_page: z.int(), pages: z.int() })
  .meta({ id: 'PendingPaymentListResponse' });

export const ManualCheckResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    payment: PendingPaymentResponse.nullish(),
    status_changed: z.boolean().default(false),
    old_status: z.string().nullish(),
    new_status: z.string().nullish(),
  })
  .meta({ id: 'ManualCheckResponse' });

export const SavedCardPath = z.object({ card_id: z.int() });

export const SavedCardResponse = z
  .object({
    id: z.int(),
    method_type: z.string(),
    card_last4: z.string().nullish(),
    card_type: z.string().nullish(),
    title: z.string().nullish(),
    created_at: Moment,
  })
  .meta({ id: 'SavedCardResponse' });

export const SavedCardsListResponse = z
  .object({ cards: SavedCardResponse.array(), recurrent_enabled: z.boolean().default(false) })
  .meta({ id: 'SavedCardsListResponse' });

export const SavedCardUnlinkedResponse = z
  .object({ success: z.boolean(), message: z.string() })
  .meta({ id: 'SavedCardUnlinkedResponse' });
