import { rublesOf } from '../../core/money.ts';
import { pageCount } from '../../core/paging.ts';
import { listOwnTransactions } from '../../domain/ledger/list-transactions.ts';
import type { TransactionRecord } from '../../domain/ledger/types.ts';
import { checkOwnPayment } from '../../domain/payments/check-payment.ts';
import { createStarsInvoice } from '../../domain/payments/create-stars-invoice.ts';
import { listPaymentMethodsFor } from '../../domain/payments/list-methods.ts';
import { findLatestOwnPayment, listOwnPendingPayments, readOwnPayment } from '../../domain/payments/list-payments.ts';
import { readBalance } from '../../domain/payments/read-balance.ts';
import { listSavedCards, unlinkSavedCard } from '../../domain/payments/saved-cards.ts';
import { topupBalance } from '../../domain/payments/topup-balance.ts';
import type { OfferedMethod, PaymentView } from '../../domain/payments/types.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import {
  BalanceResponse,
  BalanceTransactionsQuery,
  CabinetBalanceTransactionListResponse,
  ManualCheckResponse,
  PaymentMethodPath,
  PaymentMethodResponse,
  PaymentPath,
  PendingPaymentListResponse,
  PendingPaymentResponse,
  PendingPaymentsQuery,
  SavedCardPath,
  SavedCardsListResponse,
  SavedCardUnlinkedResponse,
  StarsInvoiceRequest,
  StarsInvoiceResponse,
  TopUpRequest,
  TopUpResponse,
} from './balance.schemas.ts';

const tags: [string] = ['Cabinet Balance'];

export const balanceRouter = router({
  get: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/balance', tags, summary: 'The own balance' } })
    .output(BalanceResponse)
    .query(async ({ ctx }) => {
      const kopeks = await readBalance(ctx.app, ctx.actor);
      return { balance_kopeks: kopeks, balance_rubles: rublesOf(kopeks) };
    }),

  transactions: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/balance/transactions', tags, summary: 'Own movements, newest first' } })
    .input(BalanceTransactionsQuery)
    .output(CabinetBalanceTransactionListResponse)
    .query(async ({ ctx, input }) => {
      const { page, per_page: perPage } = input;
      const { items, total } = await listOwnTransactions(ctx.app, ctx.actor.userId, { page, perPage, type: input.type ?? null });
      return { items: items.map(toOwnTransaction), total, page, per_page: perPage, pages: pageCount(total, perPage) };
    }),

  paymentMethods: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/balance/payment-methods', tags, summary: 'Ways to pay, for this user' } })
    .output(PaymentMethodResponse.array())
    .query(async ({ ctx }) => (await listPaymentMethodsFor(ctx.app, ctx.actor.userId)).map(toMethod)),

  starsInvoice: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/balance/stars-invoice', tags, summary: 'Link to pay a top-up in Stars' },
      idempotent: true,
    })
    .input(StarsInvoiceRequest)
    .output(StarsInvoiceResponse)
    .mutation(async ({ ctx, input }) => {
      const link = await createStarsInvoice(ctx.app, ctx.actor, input.amount_kopeks, ctx.idempotencyKey);
      return { invoice_url: link.invoiceUrl, stars_amount: link.stars, amount_kopeks: link.amountKopeks };
    }),

  topup: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/balance/topup', tags, summary: 'Start a top-up at a payment provider' },
      idempotent: true,
    })
    .input(TopUpRequest)
    .output(TopUpResponse)
    .mutation(async ({ ctx, input }) => {
      const request = { amountKopeks: input.amount_kopeks, method: input.payment_method, option: input.payment_option ?? null };
      const topup = await topupBalance(ctx.app, ctx.actor, request, ctx.idempotencyKey);
      const amounts = { amount_kopeks: topup.amountKopeks, amount_rubles: rublesOf(topup.amountKopeks) };
      return {
        payment_id: String(topup.paymentId),
        payment_url: topup.paymentUrl,
        ...amounts,
        status: 'pending',
        expires_at: null,
      };
    }),

  pendingPayments: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/balance/pending-payments', tags, summary: 'Own payments that still wait' },
    })
    .input(PendingPaymentsQuery)
    .output(PendingPaymentListResponse)
    .query(async ({ ctx, input }) => {
      const { page, per_page: perPage } = input;
      const { items, total } = await listOwnPendingPayments(ctx.app, ctx.actor, { page, perPage });
      return { items: items.map(toPayment), total, page, per_page: perPage, pages: pageCount(total, perPage) };
    }),

  latestPayment: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/balance/pending-payments/{method}/latest',
        tags,
        summary: 'The newest own payment of a method in the last hour',
      },
    })
    .input(PaymentMethodPath)
    .output(PendingPaymentResponse)
    .query(async ({ ctx, input }) => toPayment(await findLatestOwnPayment(ctx.app, ctx.actor, input.method))),

  payment: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/balance/pending-payments/{method}/{payment_id}',
        tags,
        summary: 'One own payment',
      },
    })
    .input(PaymentPath)
    .output(PendingPaymentResponse)
    .query(async ({ ctx, input }) => toPayment(await readOwnPayment(ctx.app, ctx.actor, input.method, input.payment_id))),

  checkPayment: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/balance/pending-payments/{method}/{payment_id}/check',
        tags,
        summary: 'Ask the provider about an own payment now',
      },
    })
    .input(PaymentPath)
    .output(ManualCheckResponse)
    .mutation(async ({ ctx, input }) => {
      const checked = await checkOwnPayment(ctx.app, ctx.actor, input.method, input.payment_id);
      return {
        success: checked.success,
        message: checked.message,
        payment: toPayment(checked.payment),
        status_changed: checked.statusChanged,
        old_status: checked.oldStatus,
        new_status: checked.newStatus,
      };
    }),

  savedCards: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/balance/saved-cards', tags, summary: 'Own linked cards' } })
    .output(SavedCardsListResponse)
    .query(async ({ ctx }) => {
      const { cards, isEnabled } = await listSavedCards(ctx.app, ctx.actor);
      return {
        cards: cards.map((card) => ({
          id: card.id,
          method_type: card.methodType,
          card_last4: card.last4,
          card_type: card.cardType,
          title: card.title,
          created_at: card.createdAt,
        })),
        recurrent_enabled: isEnabled,
      };
    }),

  unlinkCard: cabinetProcedure
    .meta({ openapi: { method: 'DELETE', path: '/cabinet/balance/saved-cards/{card_id}', tags, summary: 'Unlink a card' } })
    .input(SavedCardPath)
    .output(SavedCardUnlinkedResponse)
    .mutation(async ({ ctx, input }) => {
      await unlinkSavedCard(ctx.app, ctx.actor, input.card_id);
      return { success: true, message: 'Card unlinked successfully' };
    }),
});

/** Kinds of movement that are shown as spent (spec 03 section 3). */
const SPENT: ReadonlySet<string> = new Set(['subscription_payment', 'withdrawal', 'gift_payment']);

function toOwnTransaction(transaction: TransactionRecord) {
  const size = Math.abs(transaction.amountKopeks);
  const shown = SPENT.has(transaction.type) && size > 0 ? -size : size;
  return {
    id: transaction.id,
    type: transaction.type,
    amount_kopeks: shown,
    amount_rubles: rublesOf(shown),
    description: transaction.description,
    payment_method: transaction.paymentMethod,
    is_completed: transaction.isCompleted,
    created_at: transaction.createdAt,
    completed_at: transaction.completedAt,
  };
}

function toMethod(method: OfferedMethod) {
  return {
    id: method.id,
    name: method.name,
    description: null,
    min_amount_kopeks: method.minKopeks,
    max_amount_kopeks: method.maxKopeks,
    is_available: true,
    options: method.options?.map((option) => ({ ...option })) ?? null,
  };
}

function toPayment(payment: PaymentView) {
  return {
    id: payment.id,
    method: payment.method,
    method_display: payment.methodName,
    identifier: payment.identifier,
    amount_kopeks: payment.amountKopeks,
    amount_rubles: rublesOf(payment.amountKopeks),
    status: payment.status,
    status_emoji: payment.statusEmoji,
    status_text: payment.statusText,
    is_paid: payment.isPaid,
    is_checkable: payment.isCheckable,
    created_at: payment.createdAt,
    expires_at: payment.expiresAt,
    payment_url: payment.paymentUrl,
    user_id: payment.userId,
    user_messenger_id: payment.userMessengerId,
    user_username: payment.userUsername,
  };
}
