import { rublesOf } from '../../core/money.ts';
import { pageCount } from '../../core/paging.ts';
import { invalidMethod, paymentNotFound } from '../../domain/payments/errors.ts';
import { invalidPeriod } from '../../domain/payments/search/payment-filter.ts';
import {
  checkAnyPayment,
  listAllPending,
  type PageRequest,
  type PaymentPage,
  readAnyPayment,
  readPendingStats,
  readSearchStats,
  searchPayments,
} from '../../domain/payments/search/search-payments.ts';
import { utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  AdminManualCheckResponse,
  AdminPaymentListResponse,
  AdminPaymentPath,
  AdminPaymentResponse,
  AdminPaymentsQuery,
  PaymentSearchQuery,
  PaymentSearchStatsQuery,
  PaymentsStatsResponse,
  SearchStatsResponse,
} from './payments.schemas.ts';

const tags: [string] = ['Cabinet Admin Payments'];
const base = '/cabinet/admin/payments';
const one = `${base}/{method}/{payment_id}` as const;

export const adminPaymentsRouter = router({
  list: adminProcedure('payments:read')
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'List pending payments' },
      description:
        'Lists payments of all users that wait for the payer, of the last 24 hours, newest first, and all top-ups in Stars of that time. Payments of people without an account are left out; the search has them.',
    })
    .input(fromWire(AdminPaymentsQuery))
    .output(toWire(AdminPaymentListResponse))
    .query(async ({ ctx, input }) => {
      const request = { ...input, methodFilter: input.methodFilter ?? null };
      return withPages(await listAllPending(ctx.app, ctx.actor, request), input);
    }),

  stats: adminProcedure('payments:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/stats`, tags, summary: 'Count pending payments' },
      description: 'Counts the payments of the list of pending payments, in total and by method.',
    })
    .output(toWire(PaymentsStatsResponse))
    .query(({ ctx }) => readPendingStats(ctx.app)),

  search: adminProcedure('payments:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/search`, tags, summary: 'Search all payments' },
      description:
        'Lists payments of all methods and states, newest first, also of people without an account. At most a year back. With a text the newest 1,000 matches are listed, and `total` counts them.',
      refuses: [invalidPeriod],
    })
    .input(fromWire(PaymentSearchQuery))
    .output(toWire(AdminPaymentListResponse))
    .query(async ({ ctx, input }) => withPages(await searchPayments(ctx.app, ctx.actor, withDates(input)), input)),

  searchStats: adminProcedure('payments:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/search/stats`, tags, summary: 'Count the payments of a search' },
      description:
        'Counts the payments of a search by state and by method, whatever `status_filter` says. With a text the newest 1,000 matches are counted.',
      refuses: [invalidPeriod],
    })
    .input(fromWire(PaymentSearchStatsQuery))
    .output(toWire(SearchStatsResponse))
    .query(({ ctx, input }) => readSearchStats(ctx.app, withDates(input))),

  get: adminProcedure('payments:read')
    .meta({
      openapi: { method: 'GET', path: one, tags, summary: 'Read a payment' },
      description: 'Returns one payment as the service has recorded it.',
      refuses: [invalidMethod, paymentNotFound],
    })
    .input(fromWire(AdminPaymentPath))
    .output(toWire(AdminPaymentResponse))
    .query(async ({ ctx, input }) => withRubles(await readAnyPayment(ctx.app, ctx.actor, input.method, input.paymentId))),

  check: adminProcedure('payments:edit')
    .meta({
      openapi: { method: 'POST', path: `${one}/check`, tags, summary: 'Check the state of a payment at the provider' },
      description:
        'Queries the provider about a payment. What it confirms is applied as a callback is: a completed payment is credited, once. A payment that cannot be checked, and a provider that gives no answer, are `success: false`. At most 30 checks a minute for each administrator.',
      refuses: [invalidMethod, paymentNotFound],
    })
    .input(fromWire(AdminPaymentPath))
    .output(toWire(AdminManualCheckResponse))
    .mutation(async ({ ctx, input: { method, paymentId } }) => {
      const checked = await checkAnyPayment(ctx.app, ctx.actor, { method, id: paymentId }, ctx.app.ports.invoicePurposes);
      return { ...checked, payment: withRubles(checked.payment) };
    }),
});

function withDates<T extends { dateFrom?: string | null | undefined; dateTo?: string | null | undefined }>(input: T) {
  const { dateFrom, dateTo, ...rest } = input;
  return { ...rest, dateFrom: dateFrom ? utcDate(dateFrom) : null, dateTo: dateTo ? utcDate(dateTo) : null };
}

function withPages({ items, total }: PaymentPage, { page, perPage }: PageRequest) {
  return { items: items.map(withRubles), total, page, perPage, pages: pageCount(total, perPage) };
}

function withRubles<T extends { amountKopeks: number }>(row: T) {
  return { ...row, amountRubles: rublesOf(row.amountKopeks) };
}
