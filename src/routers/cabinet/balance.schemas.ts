import { z } from 'zod';
import { FreeForm, Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Balance` (spec 03 section 3). */

export const BalanceResponse = z
  .object({
    balance_kopeks: z.int().describe('Balance in kopeks; never negative.'),
    balance_rubles: z.number().describe('Balance in rubles: kopeks / 100.'),
  })
  .meta({ id: 'BalanceResponse' });

export const BalanceTransactionsQuery = z.object({
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(100).default(20).describe('Number of records per page.'),
  type: z.string().nullish().describe('Only movements of exactly this type, for example `deposit`; null for all.'),
});

const CabinetBalanceTransactionResponse = z
  .object({
    id: z.int().describe('Id of the movement.'),
    type: z
      .string()
      .describe(
        'Kind of movement: `deposit` (top-up), `withdrawal` (payout of referral earnings), `subscription_payment` (purchase or renewal), `refund`, `referral_reward`, `poll_reward` or `gift_payment` (gift bought from the balance).',
      ),
    amount_kopeks: z.int().describe('Amount in kopeks; negative for purchases, gifts and withdrawals.'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    description: z.string().nullish().describe('What the movement was for; null when nothing was recorded.'),
    payment_method: z.string().nullish().describe('How it was paid: id of a provider, `balance` or `manual`; null for bonuses.'),
    is_completed: z.boolean().describe('Whether it is finished.'),
    created_at: Timestamp.describe('When the movement was recorded (UTC).'),
    completed_at: Timestamp.nullish().describe('When it was finished (UTC); null while it is not.'),
  })
  .meta({ id: 'CabinetBalanceTransactionResponse' });

export const CabinetBalanceTransactionListResponse = z
  .object({
    items: CabinetBalanceTransactionResponse.array().describe('A page of own movements of money, newest first.'),
    total: z.int().describe('Number of own movements of money that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'CabinetBalanceTransactionListResponse' });

export const PaymentMethodResponse = z
  .object({
    id: z.string().describe('Identifier of the payment method, sent as `payment_method` when a top-up is started.'),
    name: z.string().describe('Name of the payment method, shown to users.'),
    description: z.string().nullish().describe('Short explanation of the method; null when there is none.'),
    min_amount_kopeks: z.int().describe('Smallest amount of the method in kopeks.'),
    max_amount_kopeks: z.int().describe('Greatest amount of the method in kopeks.'),
    is_available: z.boolean().default(true).describe('Whether the method can be used now.'),
    options: FreeForm.array()
      .nullish()
      .describe('Variants of the method, each with `id`, `name` and `description`; null when there are none.'),
  })
  .meta({ id: 'PaymentMethodResponse' });

export const StarsInvoiceRequest = z
  .object({ amount_kopeks: z.int().min(100).max(2_000_000_000).describe('Amount to top up in kopeks, from 100 to 1,000,000.') })
  .meta({ id: 'StarsInvoiceRequest' });

export const StarsInvoiceResponse = z
  .object({
    invoice_url: z.string().describe('Link of the messenger to pay the invoice in Stars.'),
    stars_amount: z.int().describe('Number of Stars of the invoice.'),
    amount_kopeks: z.int().describe('Amount in kopeks that is credited, whatever the rate is when the Stars are paid.'),
  })
  .meta({ id: 'StarsInvoiceResponse' });

export const TopUpRequest = z
  .object({
    amount_kopeks: z
      .int()
      .min(1_000)
      .max(2_000_000_000)
      .describe('Amount to top up in kopeks, within the limits of the payment method.'),
    payment_method: z.string().describe('Id of a method from the list of payment methods.'),
    payment_option: z
      .string()
      .nullish()
      .describe('Variant of the method, for example `sbp` or `card`; null for the default one.'),
  })
  .meta({ id: 'TopUpRequest', example: { amount_kopeks: 50000, payment_method: 'yookassa', payment_option: 'sbp' } });

export const TopUpResponse = z
  .object({
    payment_id: z.string().describe('Id of the payment, to query its state later.'),
    payment_url: z.string().describe('Address where the user pays.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    status: z.string().describe('State of the new payment, always `pending`: it waits for the payer.'),
    expires_at: Timestamp.nullish().describe('When the invoice expires (UTC); null when the provider gave no time.'),
  })
  .meta({ id: 'TopUpResponse' });

export const PendingPaymentsQuery = z.object({
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(50).default(10).describe('Number of records per page.'),
});

export const PaymentMethodPath = z.object({ method: z.string().describe('Id of the payment method.') });
export const PaymentPath = z.object({
  method: z.string().describe('Id of the payment method.'),
  payment_id: z.int().describe('Id of the payment, as the top-up returned it.'),
});

export const PendingPaymentResponse = z
  .object({
    id: z.int().describe('Id of the payment.'),
    method: z.string().describe('Id of the payment method.'),
    method_display: z.string().describe('Name of the payment method for display.'),
    identifier: z.string().describe('Id of the payment at the provider.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    status: z.string().describe('State of the payment as the provider names it.'),
    status_emoji: z.string().describe('Emoji of the state.'),
    status_text: z.string().describe('State for display.'),
    is_paid: z.boolean().describe('Whether the payment is completed.'),
    is_checkable: z.boolean().describe('Whether the provider can be queried about the payment now.'),
    created_at: Timestamp.describe('When the payment was created (UTC).'),
    expires_at: Timestamp.nullish().describe('When the invoice expires (UTC); null when the provider gave no time.'),
    payment_url: z.string().nullish().describe('Address where the user pays; null when there is none.'),
    user_id: z.int().nullish().describe('Internal id of the user; null where no user is known.'),
    user_messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    user_username: z.string().nullish().describe('User name in the messenger; null when the user has none.'),
  })
  .meta({ id: 'PendingPaymentResponse' });

export const PendingPaymentListResponse = z
  .object({
    items: PendingPaymentResponse.array().describe('A page of own open payments of the last 24 hours, newest first.'),
    total: z.int().describe('Number of own open payments of the last 24 hours, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'PendingPaymentListResponse' });

export const ManualCheckResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    payment: PendingPaymentResponse.nullish().describe('State of the payment after the check; null when it could not be read.'),
    status_changed: z.boolean().default(false).describe('Whether the check changed the state.'),
    old_status: z.string().nullish().describe('Status before the operation; null when there was none.'),
    new_status: z.string().nullish().describe('Status after the operation; null when there is none.'),
  })
  .meta({ id: 'ManualCheckResponse' });

export const SavedCardPath = z.object({ card_id: z.int().describe('Id of the linked card.') });

const SavedCardResponse = z
  .object({
    id: z.int().describe('Id of the saved card.'),
    method_type: z.string().describe('Kind of the saved method, for example `bank_card`.'),
    card_last4: z.string().nullish().describe('Last four digits of the card; null when unknown.'),
    card_type: z.string().nullish().describe('Payment system of the card; null when unknown.'),
    title: z.string().nullish().describe('Name for display, for example `Visa *4242`.'),
    created_at: Timestamp.describe('When the card was saved (UTC).'),
  })
  .meta({ id: 'SavedCardResponse' });

export const SavedCardsListResponse = z
  .object({
    cards: SavedCardResponse.array().describe('Linked cards, newest first.'),
    recurrent_enabled: z.boolean().default(false).describe('Whether payments by linked cards are switched on.'),
  })
  .meta({ id: 'SavedCardsListResponse' });

export const SavedCardUnlinkedResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'SavedCardUnlinkedResponse' });
