import { z } from 'zod';
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
import { publishedAsFreeForm, Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Admin Payments`. */

const paging = {
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(100).default(20).describe('Number of records per page.'),
};

const AdminPaymentsQuery = z.object({
  ...paging,
  method_filter: z.string().nullish().describe('Only payments of the method with this id; an unknown one is no filter.'),
});

const PaymentSearchStatsQuery = z.object({
  search: z
    .string()
    .max(256)
    .nullish()
    .describe(
      'Beginning of an id of the payment (below three characters the whole id), of digits also the messenger id of the payer; after a leading `@` a part of the username; with an `@` inside a part of the e-mail address.',
    ),
  status_filter: z.string().default('all').describe('`paid`, `pending` or `cancelled`; anything else is no filter.'),
  method_filter: z.string().nullish().describe('Only payments of the method with this id; an unknown one is no filter.'),
  period: z
    .string()
    .default('24h')
    .describe('`24h`, `7d`, `30d` or `all` (365 days) until now; anything else is `24h`. Ignored when `date_from` is given.'),
  date_from: TimestampInput.nullish().describe('Only records from this moment on (UTC, inclusive).'),
  date_to: TimestampInput.nullish().describe('Only records up to this moment (UTC, inclusive).'),
});

const PaymentSearchQuery = PaymentSearchStatsQuery.extend(paging);

const AdminPaymentPath = z.object({
  method: z.string().describe('Id of the payment method.'),
  payment_id: z.int().describe('Id of the payment, as the top-up returned it.'),
});

const AdminPaymentResponse = z
  .object({
    id: z.int().describe('Id of the payment.'),
    method: z.string().describe('Id of the payment method.'),
    method_display: z.string().describe('Name of the payment method for display.'),
    identifier: z.string().describe('Id of the payment at the provider, or the order id where its pages show that.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    status: z
      .string()
      .describe(
        'State of the payment as the provider names it, or `expired`, `amount_mismatch` (paid with another amount, not credited) or `refunded`.',
      ),
    status_emoji: z.string().describe('Emoji of the state.'),
    status_text: z.string().describe('State for display.'),
    is_paid: z.boolean().describe('Whether the payment is completed.'),
    is_checkable: z.boolean().describe('Whether the provider can be queried about the payment now.'),
    created_at: Timestamp.describe('When the payment was created (UTC).'),
    expires_at: Timestamp.nullish().describe('When the invoice expires (UTC); null when the provider gave no time.'),
    payment_url: z.string().nullish().describe('Address where the user pays; null when there is none.'),
    user_id: z.int().nullish().describe('Internal id of the payer; null for people without an account.'),
    user_messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    user_username: z.string().nullish().describe('User name in the messenger; null when the user has none.'),
    user_email: z.string().nullish().describe('E-mail address of the user; null for none.'),
  })
  .meta({ id: 'CabinetAdminPaymentsPendingPaymentResponse' });

const AdminPaymentListResponse = z
  .object({
    items: AdminPaymentResponse.array().describe('A page of payments, newest first.'),
    total: z.int().describe('Number of payments that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'CabinetAdminPaymentsPendingPaymentListResponse' });

const Counts = publishedAsFreeForm(z.record(z.string(), z.int()));

const PaymentsStatsResponse = z
  .object({
    total_pending: z.int().describe('Number of pending payments.'),
    by_method: Counts.describe('Numbers of pending payments by the name of the method.'),
  })
  .meta({ id: 'PaymentsStatsResponse' });

const SearchStatsResponse = z
  .object({
    total: z.int().describe('Number of payments of the search.'),
    pending: z.int().describe('Of these, payments that wait for the payer or the provider.'),
    paid: z.int().describe('Of these, paid ones; also those that were paid back afterwards.'),
    cancelled: z.int().describe('Of these, failed, expired and cancelled ones, and those with another amount than the invoice.'),
    by_method: Counts.describe('Numbers of payments by the id of the method.'),
  })
  .meta({ id: 'SearchStatsResponse' });

const AdminManualCheckResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'Whether the provider was asked; false for a payment that cannot be checked and a provider that gives no answer, as `message` says.',
      ),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    payment: AdminPaymentResponse.nullish().describe('State of the payment after the check; null when it could not be read.'),
    status_changed: z.boolean().default(false).describe('Whether the check changed the state.'),
    old_status: z.string().nullish().describe('Status before the operation; null when there was none.'),
    new_status: z.string().nullish().describe('Status after the operation; null when there is none.'),
  })
  .meta({ id: 'CabinetAdminPaymentsManualCheckResponse' });

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
