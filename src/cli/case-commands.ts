import { formatPrice } from '../core/money.ts';
import { COMMAND_LINE } from '../core/process-env.ts';
import { caseAmount } from '../domain/payments/open-case.ts';
import { type CaseDecision, listCases, type ResolvedCase, readCase, resolveCase } from '../domain/payments/resolve-case.ts';
import type { Payment, PaymentCase } from '../domain/payments/types.ts';
import { alignColumns, type Command, type CommandCall, UsageError, wholeNumber } from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';

const MAX_ID = 2_147_483_647;
const MAX_KOPEKS = 2_000_000_000;
const MAX_LISTED = 500;
const STATUSES = ['open', 'resolved', 'all'] as const;

export const listCasesCommand: Command = {
  name: 'cases list',
  parameters: '[--status open|resolved|all] [--limit N] [--page N]',
  summary: 'List payments that need a decision, the oldest first.',
  details: [
    '--status open        what waits for a decision (the default); resolved and all are listed newest first',
    '--limit N --page N   N cases a page (1 to 500, default 50), page N of them',
  ].join('\n'),
  options: { status: { type: 'string' }, limit: { type: 'string' }, page: { type: 'string' } },
  words: [0, 0],
  runsInService: true,
  run: (call) => {
    const status = STATUSES.find((known) => known === (call.options.status ?? 'open'));
    if (!status) throw new UsageError(`--status must be open, resolved or all, not "${call.options.status}".`);
    const limit = call.options.limit === undefined ? 50 : wholeNumber(String(call.options.limit), '--limit', MAX_LISTED);
    const page = call.options.page === undefined ? 1 : wholeNumber(String(call.options.page), '--page', MAX_ID);
    return withApp(call, async (app) => {
      const query = { status: status === 'all' ? null : status, limit, offset: (page - 1) * limit };
      const { cases, total } = await listCases(app, query);
      const text =
        total === 0
          ? `There is no ${status === 'all' ? '' : `${status} `}case.`
          : [
              alignColumns([['ID', 'SINCE', 'METHOD', 'AMOUNT', 'PAYMENT', 'USER', 'STATE', 'KIND'], ...cases.map(listRow)]),
              '',
              `${cases.length} of ${total}. ${COMMAND_LINE} cases show ID`,
            ].join('\n');
      return { text, data: { total, cases: cases.map(caseData) } };
    });
  },
};

export const showCaseCommand: Command = {
  name: 'cases show',
  parameters: 'ID',
  summary: 'Show a payment that needs a decision, with what is known of it.',
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const id = wholeNumber(call.words[0]!, 'ID', MAX_ID);
    return withApp(call, async (app) => {
      const { found, payment } = await readCase(app, id);
      return { text: describeCase(found, payment), data: { ...caseData(found), payment: payment && paymentData(payment) } };
    });
  },
};

export const resolveCaseCommand: Command = {
  name: 'cases resolve',
  parameters: 'ID (--credit USER_ID [--kopeks N] | --refund | --ignore) [--comment TEXT]',
  summary: 'Resolve a payment that needs a decision, once; the audit log records it.',
  details: [
    '--credit USER_ID   credits the money to the balance of this user, as a top-up; refused if it was credited meanwhile',
    "--kopeks N         another amount than the case's; needed where the case has none in rubles",
    '--refund           the provider is asked to give the money back; where its interface cannot, the decision is recorded only',
    '--ignore           nothing is to be done; needs --comment',
    '--comment TEXT     why, at most 500 characters',
  ].join('\n'),
  options: {
    credit: { type: 'string' },
    kopeks: { type: 'string' },
    refund: { type: 'boolean' },
    ignore: { type: 'boolean' },
    comment: { type: 'string' },
  },
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const id = wholeNumber(call.words[0]!, 'ID', MAX_ID);
    const decision = readDecision(call);
    return withApp(call, async (app) => {
      const resolved = await resolveCase(app, OPERATOR, id, decision);
      return { text: describeDecision(resolved, decision), data: caseData(resolved) };
    });
  },
};

function readDecision({ options }: CommandCall): CaseDecision {
  const { credit, kopeks, refund, ignore } = options;
  if ([credit, refund, ignore].filter((given) => given !== undefined).length !== 1) {
    throw new UsageError('Say one of --credit USER_ID, --refund and --ignore.');
  }
  const comment = typeof options.comment === 'string' && options.comment.trim() !== '' ? options.comment.trim() : null;
  if (kopeks !== undefined && credit === undefined) throw new UsageError('--kopeks goes with --credit.');
  if (credit !== undefined) {
    return {
      resolution: 'credit',
      userId: wholeNumber(String(credit), '--credit', MAX_ID),
      kopeks: kopeks === undefined ? null : wholeNumber(String(kopeks), '--kopeks', MAX_KOPEKS),
      comment,
    };
  }
  if (refund) return { resolution: 'refund', comment };
  if (comment === null) throw new UsageError('--ignore needs --comment TEXT.');
  return { resolution: 'ignore', comment };
}

function describeDecision(resolved: ResolvedCase, decision: CaseDecision): string {
  const what = `Case ${resolved.id} is resolved`;
  switch (decision.resolution) {
    case 'credit':
      return `${what}: transaction ${resolved.transactionId} credits user ${decision.userId}.`;
    case 'refund':
      return resolved.isProviderAsked
        ? `${what}: ${resolved.method} is asked to give the money back.`
        : `${what}: the payer is to get the money back. Return it in the cabinet of ${resolved.method}; the service does not do it.`;
    case 'ignore':
      return `${what}: ignored.`;
  }
}

const timestamp = (date: Date) => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const orDash = (value: string | number | null) => (value === null ? '—' : String(value));

function listRow(found: PaymentCase): string[] {
  return [
    String(found.id),
    timestamp(found.createdAt),
    found.method,
    caseAmount(found),
    orDash(found.paymentId),
    orDash(found.userId),
    found.resolution ?? found.status,
    found.kind,
  ];
}

function describeCase(found: PaymentCase, payment: Payment | null): string {
  const rows = [
    ['Kind', found.kind],
    ['Since', timestamp(found.createdAt)],
    ['Method', found.method],
    ['Amount', caseAmount(found)],
    ['Reference', found.reference],
    ['User', orDash(found.userId)],
    ['Details', JSON.stringify(found.details)],
    ...(payment
      ? [
          [
            'Payment',
            `${payment.id}, ${payment.outcome} (${payment.status}), ${formatPrice(payment.amountKopeks, false)}, ${payment.purpose}`,
          ],
          ['Order id', payment.orderId],
          ['External id', orDash(payment.externalId)],
          ['Credited by', payment.transactionId === null ? 'nothing' : `transaction ${payment.transactionId}`],
        ]
      : [['Payment', 'none is known']]),
    ...(found.resolvedAt === null
      ? []
      : [
          ['Resolved', `${timestamp(found.resolvedAt)}, ${found.resolution}, by ${found.resolvedBy}`],
          ['Transaction', orDash(found.transactionId)],
          ['Comment', orDash(found.comment)],
        ]),
  ];
  const next = found.status === 'open' ? ['', `${COMMAND_LINE} cases resolve ${found.id} --help`] : [];
  return [`Case ${found.id}`, alignColumns(rows), ...next].join('\n');
}

function caseData(found: PaymentCase) {
  return {
    id: found.id,
    kind: found.kind,
    method: found.method,
    reference: found.reference,
    payment_id: found.paymentId,
    user_id: found.userId,
    amount_kopeks: found.amountKopeks,
    currency: found.currency,
    details: found.details,
    status: found.status,
    resolution: found.resolution,
    resolved_by: found.resolvedBy,
    comment: found.comment,
    transaction_id: found.transactionId,
    created_at: found.createdAt.toISOString(),
    resolved_at: found.resolvedAt?.toISOString() ?? null,
  };
}

function paymentData(payment: Payment) {
  return {
    id: payment.id,
    order_id: payment.orderId,
    external_id: payment.externalId,
    amount_kopeks: payment.amountKopeks,
    currency: payment.currency,
    status: payment.status,
    outcome: payment.outcome,
    is_paid: payment.isPaid,
    purpose: payment.purpose,
    user_id: payment.userId,
    transaction_id: payment.transactionId,
  };
}
