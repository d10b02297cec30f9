import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { pageCount } from '../../core/paging.ts';
import { requireUser } from '../../domain/identity/find-user.ts';
import { listMyTransactions } from '../../domain/ledger/transactions.ts';
import type { TransactionRecord } from '../../domain/ledger/types.ts';
import { listSavedCards, unlinkSavedCard } from '../../domain/payments/card-charges.ts';
import { checkMyPayment } from '../../domain/payments/check-payments.ts';
import {
  cardNotFound,
  invalidMethod,
  noRecentPayments,
  paymentNotFound,
  recurrentOff,
  STARS_INVOICE_REFUSES,
  TOPUP_REFUSES,
  unsupportedMethod,
} from '../../domain/payments/errors.ts';
import { findMyLatestPayment, listMyPendingPayments, readMyPayment } from '../../domain/payments/list-payments.ts';
import { listPaymentMethodsFor } from '../../domain/payments/payment-methods.ts';
import { createStarsInvoice } from '../../domain/payments/stars-invoices.ts';
import { topupBalance } from '../../domain/payments/topup-balance.ts';
import { FreeForm, Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Balance`. */

const BalanceResponse = z
  .object({
    balance_kopeks: z.int().describe('Balance in kopeks; never negative.'),
    balance_rubles: z.number().describe('Balance in rubles: kopeks / 100.'),
  })
  .meta({ id: 'BalanceResponse' });

const BalanceTransactionsQuery = z.object({
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

const CabinetBalanceTransactionListResponse = z
  .object({
    items: CabinetBalanceTransactionResponse.array().describe('A page of own movements of money, newest first.'),
    total: z.int().describe('Number of own movements of money that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'CabinetBalanceTransactionListResponse' });

const PaymentMethodResponse = z
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

const StarsInvoiceRequest = z
  .object({ amount_kopeks: z.int().min(100).max(2_000_000_000).describe('Amount to top up in kopeks, from 100 to 1,000,000.') })
  .meta({ id: 'StarsInvoiceRequest' });

const StarsInvoiceResponse = z
  .object({
    invoice_url: z.string().describe('Link of the messenger to pay the invoice in Stars.'),
    stars_amount: z.int().describe('Number of Stars of the invoice.'),
    amount_kopeks: z.int().describe('Amount in kopeks that is credited, whatever the rate is when the Stars are paid.'),
  })
  .meta({ id: 'StarsInvoiceResponse' });

const TopUpRequest = z
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

const TopUpResponse = z
  .object({
    payment_id: z.string().describe('Id of the payment, to query its state later.'),
    payment_url: z.string().describe('Address where the user pays.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    status: z.string().describe('State of the new payment, always `pending`: it waits for the payer.'),
    expires_at: Timestamp.nullish().describe('When the invoice expires (UTC); null when the provider gave no time.'),
  })
  .meta({ id: 'TopUpResponse' });

const PendingPaymentsQuery = z.object({
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(50).default(10).describe('Number of records per page.'),
});

const PaymentMethodPath = z.object({ method: z.string().describe('Id of the payment method.') });
const PaymentPath = z.object({
  method: z.string().describe('Id of the payment method.'),
  payment_id: z.int().describe('Id of the payment, as the top-up returned it.'),
});

const PendingPaymentResponse = z
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

const PendingPaymentListResponse = z
  .object({
    items: PendingPaymentResponse.array().describe('A page of own open payments of the last 24 hours, newest first.'),
    total: z.int().describe('Number of own open payments of the last 24 hours, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'PendingPaymentListResponse' });

const ManualCheckResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'Whether the provider was asked; false for a payment that cannot be checked and a provider that gives no answer, as `message` says.',
      ),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    payment: PendingPaymentResponse.nullish().describe('State of the payment after the check; null when it could not be read.'),
    status_changed: z.boolean().default(false).describe('Whether the check changed the state.'),
    old_status: z.string().nullish().describe('Status before the operation; null when there was none.'),
    new_status: z.string().nullish().describe('Status after the operation; null when there is none.'),
  })
  .meta({ id: 'ManualCheckResponse' });

const SavedCardPath = z.object({ card_id: z.int().describe('Id of the linked card.') });

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

const SavedCardsListResponse = z
  .object({
    cards: SavedCardResponse.array().describe('Linked cards, newest first.'),
    recurrent_enabled: z.boolean().default(false).describe('Whether payments by linked cards are switched on.'),
  })
  .meta({ id: 'SavedCardsListResponse' });

const SavedCardUnlinkedResponse = z
  .object({
    success: z.boolean().describe('Always true: an unknown card is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'SavedCardUnlinkedResponse' });

const tags: [string] = ['Cabinet Balance'];

export const balanceRouter = router({
  get: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/balance', tags, summary: 'The own balance' },
      description: 'Returns the own balance.',
    })
    .output(toWire(BalanceResponse))
    .query(async ({ ctx }) => {
      const { balanceKopeks } = await requireUser(ctx.app, ctx.actor.userId);
      return { balanceKopeks, balanceRubles: rublesOf(balanceKopeks) };
    }),

  transactions: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/balance/transactions', tags, summary: 'Own movements, newest first' },
      description: 'Lists own movements of money, newest first. Purchases, gifts and withdrawals are negative.',
    })
    .input(fromWire(BalanceTransactionsQuery))
    .output(toWire(CabinetBalanceTransactionListResponse))
    .query(async ({ ctx, input }) => {
      const { page, perPage, type = null } = input;
      const { items, total } = await listMyTransactions(ctx.app, ctx.actor.userId, { page, perPage, type });
      return { items: items.map(withSignedAmount), total, page, perPage, pages: pageCount(total, perPage) };
    }),

  paymentMethods: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/balance/payment-methods', tags, summary: 'List payment methods of the user' },
      description: 'Lists the payment methods that are open to this user, with their limits and variants.',
    })
    .output(toWire(PaymentMethodResponse.array()))
    .query(async ({ ctx }) => {
      const methods = await listPaymentMethodsFor(ctx.app, ctx.actor.userId);
      return methods.map((method) => ({ ...method, description: null, isAvailable: true }));
    }),

  starsInvoice: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/balance/stars-invoice', tags, summary: 'Link to pay a top-up in Stars' },
      description:
        'Creates a link of the messenger to pay a top-up in Stars. The price is rounded up to whole Stars and stored; the amount asked for is credited when the messenger reports the payment. Only this user can pay it, once, within 24 hours. Accepts `Idempotency-Key`.',
      refuses: [...STARS_INVOICE_REFUSES],
      idempotent: true,
    })
    .input(fromWire(StarsInvoiceRequest))
    .output(toWire(StarsInvoiceResponse))
    .mutation(async ({ ctx, input }) => {
      const { stars, ...link } = await createStarsInvoice(ctx.app, ctx.actor, input.amountKopeks, ctx.idempotencyKey);
      return { ...link, starsAmount: stars };
    }),

  topup: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/balance/topup', tags, summary: 'Start a top-up at a payment provider' },
      description:
        'Creates a payment at a provider and returns the address where the user pays. For Tribute it is the page of donations: nothing is stored before the money comes, and what the donor chose is credited. The balance grows when the provider reports the payment, which emits `payment.completed`. At most 10 a minute. Accepts `Idempotency-Key`.',
      refuses: [...TOPUP_REFUSES],
      idempotent: true,
    })
    .input(fromWire(TopUpRequest))
    .output(toWire(TopUpResponse))
    .mutation(async ({ ctx, input }) => {
      const { amountKopeks, paymentMethod: method, paymentOption: option = null } = input;
      const topup = await topupBalance(ctx.app, ctx.actor, { amountKopeks, method, option }, ctx);
      const amountRubles = rublesOf(topup.amountKopeks);
      const paymentId = topup.paymentId === 0 ? `${method}_${ctx.actor.userId}_${amountKopeks}` : String(topup.paymentId);
      return { ...topup, paymentId, amountRubles, status: 'pending', expiresAt: null };
    }),

  pendingPayments: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/balance/pending-payments', tags, summary: 'Own pending payments' },
      description: 'Lists own open payments of the last 24 hours, newest first.',
    })
    .input(fromWire(PendingPaymentsQuery))
    .output(toWire(PendingPaymentListResponse))
    .query(async ({ ctx, input }) => {
      const { page, perPage } = input;
      const { items, total } = await listMyPendingPayments(ctx.app, ctx.actor, { page, perPage });
      return { items: items.map(withRubles), total, page, perPage, pages: pageCount(total, perPage) };
    }),

  latestPayment: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/balance/pending-payments/{method}/latest',
        tags,
        summary: 'The newest own payment of a method in the last hour',
      },
      description: 'Returns the newest own payment of a method in the last hour, in any state.',
      refuses: [invalidMethod, unsupportedMethod, noRecentPayments],
    })
    .input(fromWire(PaymentMethodPath))
    .output(toWire(PendingPaymentResponse))
    .query(async ({ ctx, input }) => withRubles(await findMyLatestPayment(ctx.app, ctx.actor, input.method))),

  payment: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/balance/pending-payments/{method}/{payment_id}',
        tags,
        summary: 'One own payment',
      },
      description: 'Returns one own payment as the service has recorded it.',
      refuses: [invalidMethod, paymentNotFound],
    })
    .input(fromWire(PaymentPath))
    .output(toWire(PendingPaymentResponse))
    .query(async ({ ctx, input }) => withRubles(await readMyPayment(ctx.app, ctx.actor, input.method, input.paymentId))),

  checkPayment: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/balance/pending-payments/{method}/{payment_id}/check',
        tags,
        summary: 'Check the state of an own payment at the provider',
      },
      description:
        'Queries the provider about an own payment. A completed payment is credited, once, also where the provider reports it later.',
      refuses: [invalidMethod, paymentNotFound],
    })
    .input(fromWire(PaymentPath))
    .output(toWire(ManualCheckResponse))
    .mutation(async ({ ctx, input }) => {
      const checked = await checkMyPayment(ctx.app, ctx.actor, input.method, input.paymentId, ctx.app.ports.invoicePurposes);
      return { ...checked, payment: withRubles(checked.payment) };
    }),

  savedCards: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/balance/saved-cards', tags, summary: 'Own linked cards' },
      description: 'Lists own linked cards, newest first; empty while payments by card on file are switched off.',
    })
    .output(toWire(SavedCardsListResponse))
    .query(({ ctx }) => listSavedCards(ctx.app, ctx.actor)),

  unlinkCard: cabinetProcedure
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/balance/saved-cards/{card_id}', tags, summary: 'Unlink a card' },
      description: 'Unlinks an own card: it is not charged any more.',
      refuses: [cardNotFound, recurrentOff],
    })
    .input(fromWire(SavedCardPath))
    .output(toWire(SavedCardUnlinkedResponse))
    .mutation(async ({ ctx, input }) => {
      await unlinkSavedCard(ctx.app, ctx.actor, input.cardId);
      return { success: true, message: 'Card unlinked successfully' };
    }),
});

/** Types of movement that are shown with a negative amount. */
const SPENT: ReadonlySet<string> = new Set(['subscription_payment', 'withdrawal', 'gift_payment']);

function withSignedAmount(transaction: TransactionRecord) {
  const size = Math.abs(transaction.amountKopeks);
  return withRubles({ ...transaction, amountKopeks: SPENT.has(transaction.type) && size > 0 ? -size : size });
}

function withRubles<T extends { amountKopeks: number }>(row: T) {
  return { ...row, amountRubles: rublesOf(row.amountKopeks) };
}
