import { rublesOf } from '../../core/money.ts';
import { pageCount } from '../../core/paging.ts';
import { tooManyRequests } from '../../core/rate-limit.ts';
import { requireUser } from '../../domain/identity/find-user.ts';
import { listMyTransactions } from '../../domain/ledger/transactions.ts';
import type { TransactionRecord } from '../../domain/ledger/types.ts';
import { listSavedCards, unlinkSavedCard } from '../../domain/payments/card-charges.ts';
import { checkMyPayment } from '../../domain/payments/check-payments.ts';
import {
  cardNotFound,
  invalidMethod,
  methodNotOffered,
  noRecentPayments,
  paymentNotFound,
  unsupportedMethod,
} from '../../domain/payments/errors.ts';
import { findMyLatestPayment, listMyPendingPayments, readMyPayment } from '../../domain/payments/list-payments.ts';
import { listPaymentMethodsFor } from '../../domain/payments/payment-methods.ts';
import { createStarsInvoice } from '../../domain/payments/stars-invoices.ts';
import { topupBalance } from '../../domain/payments/topup-balance.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
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
      refuses: [methodNotOffered, tooManyRequests],
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
      refuses: [cardNotFound],
    })
    .input(fromWire(SavedCardPath))
    .output(toWire(SavedCardUnlinkedResponse))
    .mutation(async ({ ctx, input }) => {
      await unlinkSavedCard(ctx.app, ctx.actor, input.cardId);
      return { success: true, message: 'Card unlinked successfully' };
    }),
});

/** Types of movement that are shown with a negative amount (spec 03 section 3). */
const SPENT: ReadonlySet<string> = new Set(['subscription_payment', 'withdrawal', 'gift_payment']);

function withSignedAmount(transaction: TransactionRecord) {
  const size = Math.abs(transaction.amountKopeks);
  return withRubles({ ...transaction, amountKopeks: SPENT.has(transaction.type) && size > 0 ? -size : size });
}

function withRubles<T extends { amountKopeks: number }>(row: T) {
  return { ...row, amountRubles: rublesOf(row.amountKopeks) };
}
