import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { checkBounds } from '../../core/field-bounds.ts';
import { isRowId } from '../../core/row-id.ts';
import { recordCommand } from '../access/audit-log.ts';
import { moneyId } from './classify-report.ts';
import type { NewCase } from './open-case.ts';
import { methodName } from './payment-methods.ts';
import { reversalTitles, topupTitles } from './payment-texts.ts';
import type { PaymentReport } from './ports.ts';
import { requestRefundOfCase } from './refunds.ts';
import { findPayment } from './repo.ts';
import {
  closeCase,
  countOpenCases,
  creditCase,
  type DecisionOutcome,
  findCase,
  insertCase,
  listCaseRows,
} from './reversal-repo.ts';
import type { Payment, PaymentCase } from './types.ts';

const caseWithoutMoney = refusal('case_without_money', 400, 'Case <n> is about money that is not here; it can only be ignored');
const commentRequired = refusal('comment_required', 400, 'A comment is required to ignore a case');
const amountRequired = refusal('amount_required', 400, 'Case <n> has no amount in rubles; name one in kopeks');
const invalidAmount = refusal('invalid_amount', 400, 'The amount must be from 1 to <n> kopeks');
const userNotFound = refusal('user_not_found', 404, 'User not found');
const caseResolved = refusal('case_resolved', 409, 'Case <n> is resolved');
const caseCredited = refusal('case_credited', 409, 'The money of case <n> was credited meanwhile; the case can be ignored');
const caseRefunding = refusal(
  'case_refunding',
  409,
  'The provider was asked to give back the money of case <n>; the case can be ignored',
);
const caseReversed = refusal(
  'case_reversed',
  409,
  'The provider returned the money of case <n> to the payer; the case can be ignored',
);

const MAX_KOPEKS = 2_000_000_000;
const MAX_COMMENT_LENGTH = 500;

/** Cases whose money is not with the shop: it went back to the payer, or was none. They can only be ignored. */
const WITHOUT_MONEY: ReadonlySet<string> = new Set(['reversal_unknown', 'reversal_remainder', 'test_payment']);

/** What an administrator decides. Amounts are kopeks; `kopeks` null = the amount of the case. */
export type CaseDecision =
  | { resolution: 'credit'; userId: number; kopeks: number | null; comment: string | null }
  | { resolution: 'refund'; comment: string | null }
  | { resolution: 'ignore'; comment: string };

/** A case as resolved; `isProviderAsked` = a job asks the provider to give back the money. */
export type ResolvedCase = PaymentCase & { isProviderAsked: boolean };

/** @param status null = any. Open cases come oldest first, others newest first */
export function listCases(
  app: App,
  query: { status: PaymentCase['status'] | null; limit: number; offset: number },
): Promise<{ cases: PaymentCase[]; total: number }> {
  return listCaseRows(app.db, query.status, query.limit, query.offset);
}

/** How many cases are open, and since when the oldest one waits. */
export function readOpenCases(app: Pick<App, 'db'>): Promise<{ open: number; oldest: Date | null }> {
  return countOpenCases(app.db);
}

/** A case with the payment it is about. @throws AppError 404 */
export async function readCase(app: App, id: number): Promise<{ found: PaymentCase; payment: Payment | null }> {
  const found = isRowId(id) ? await findCase(app.db, id) : null;
  if (!found) throw caseNotFound(id);
  return { found, payment: found.paymentId === null ? null : await findPayment(app.db, found.paymentId) };
}

/**
 * Resolves a case, once, with a row of the audit log in the same transaction (03a section 0.5).
 *
 * - credit: a deposit of the user, with everything that belongs to a top-up; the payment of the case becomes paid. Refused when the money is
 *   in a balance already, e.g. by a callback that came late; the locks of the payment and the keys of the ledger decide.
 * - refund: a job asks the provider to give back the money, where its interface can; else the decision is recorded, and the money is to be
 *   returned in the cabinet of the provider.
 * - ignore: nothing is owed to anybody.
 * @throws AppError 404 unknown case or user, 409 resolved, credited, reversed or being refunded meanwhile, 400 a decision that the case does not allow
 */
export async function resolveCase(app: App, actor: Actor, id: number, decision: CaseDecision): Promise<ResolvedCase> {
  const { found } = await readCase(app, id);
  checkBounds([{ name: 'comment', value: decision.comment, maxLength: MAX_COMMENT_LENGTH }]);
  if (decision.resolution !== 'ignore' && WITHOUT_MONEY.has(found.kind)) {
    throw caseWithoutMoney({ detail: `Case ${id} is about money that is not here; it can only be ignored` });
  }
  if (decision.resolution === 'ignore' && decision.comment.trim() === '') throw commentRequired();
  const resolvedBy = actor.kind === 'system' ? actor.name : `user ${'userId' in actor ? actor.userId : '?'}`;
  const resolved = await inTransaction(app, async (t) => {
    const facts = { caseId: id, resolvedBy, comment: decision.comment, now: t.clock.now() };
    const outcome =
      decision.resolution === 'credit'
        ? (await creditCase(t.db, facts, { ...creditOf(t, found, decision), userId: decision.userId })).outcome
        : await closeCase(t.db, decision.resolution, facts);
    if (outcome !== 'done') throw refusalOf(outcome, id);
    const isProviderAsked =
      decision.resolution === 'refund' &&
      (await requestRefundOfCase(t, found, { requestedBy: resolvedBy, reason: decision.comment ?? `case ${id}` }));
    const after = (await findCase(t.db, id))!;
    await recordCommand(t, resolvedBy, {
      ...{ command: `cases resolve ${id}`, permission: 'payments:edit', resourceId: `case ${id}` },
      ...{
        before: { status: found.status },
        after: { ...decision, transactionId: after.transactionId, kind: found.kind, isProviderAsked },
      },
    });
    return { ...after, isProviderAsked };
  });
  app.jobs.wake([decision.resolution === 'credit' ? 'payments.after-topup' : 'payments.send-refund']);
  return resolved;
}

function creditOf(app: App, found: PaymentCase, { kopeks, userId }: Extract<CaseDecision, { resolution: 'credit' }>) {
  if (!isRowId(userId)) throw refusalOf('no_user', found.id);
  const isRubles = found.currency === null || found.currency === 'RUB';
  const amount = kopeks ?? (isRubles ? found.amountKopeks : null);
  if (amount === null) throw amountRequired({ detail: `Case ${found.id} has no amount in rubles; name one in kopeks` });
  if (!Number.isSafeInteger(amount) || amount < 1 || amount > MAX_KOPEKS) {
    throw invalidAmount({ detail: `The amount must be from 1 to ${MAX_KOPEKS} kopeks` });
  }
  const { method } = found;
  const titles = { titles: topupTitles(app, method), reversalTitles: reversalTitles(app, method) };
  return { kopeks: amount, ...titles, methodName: methodName(app, method) };
}

const caseNotFound = refusal('case_not_found', 404, 'There is no case <n>', (id: number) => ({
  detail: `There is no case ${id}`,
}));

function refusalOf(outcome: Exclude<DecisionOutcome, 'done'>, id: number) {
  switch (outcome) {
    case 'unknown':
      return caseNotFound(id);
    case 'no_user':
      return userNotFound();
    case 'resolved':
      return caseResolved({ detail: `Case ${id} is resolved` });
    case 'credited':
      return caseCredited({ detail: `The money of case ${id} was credited meanwhile; the case can be ignored` });
    case 'refunding':
      return caseRefunding({ detail: `The provider was asked to give back the money of case ${id}; the case can be ignored` });
    case 'reversed':
      return caseReversed({ detail: `The provider returned the money of case ${id} to the payer; the case can be ignored` });
  }
}

/** The name of the service in cases that it resolves itself. */
const RESOLVED_BY = 'service';

/**
 * Credits money that its invoice cannot be used for to a balance, with everything that belongs to a top-up, and records why as a case that is
 * resolved by it. In the caller's transaction, which has locked the payment and the user, who is not deleted.
 */
export async function creditThroughCase(
  t: App,
  { kind, payment, amountKopeks, currency = null, details }: NewCase & { amountKopeks: number },
  state: PaymentReport,
  userId: number,
): Promise<void> {
  const now = t.clock.now();
  const { method, id: paymentId } = payment;
  const { orderId, externalId, chargeId = null } = state;
  const caseId = await insertCase(t.db, {
    ...{ kind, method, reference: String(paymentId), paymentId, userId, amountKopeks, currency, now },
    chargeId: moneyId({ chargeId, externalId }),
    details: { ...details, orderId, externalId, chargeId },
  });
  if (caseId === null) throw new Error(`payment ${paymentId} has its case already`);
  const decision = { caseId, resolvedBy: RESOLVED_BY, comment: null, now };
  const titles = { titles: topupTitles(t, method), reversalTitles: reversalTitles(t, method) };
  const { outcome } = await creditCase(t.db, decision, {
    ...{ userId, kopeks: amountKopeks, methodName: methodName(t, method) },
    ...titles,
  });
  if (outcome !== 'done') throw new Error(`the credit of case ${caseId} was ${outcome}`);
}

/** Records as a resolved case why money is on a balance that the caller has credited, in its transaction. */
export async function recordCredited(t: App, draft: NewCase & { reference: string; amountKopeks: number }): Promise<void> {
  const { kind, payment, reference, chargeId = null, amountKopeks, currency = null, details = {} } = draft;
  const now = t.clock.now();
  const { method, id: paymentId, userId } = payment;
  const facts = { kind, method, reference, chargeId, paymentId, userId, amountKopeks, currency, details, now };
  const caseId = await insertCase(t.db, facts);
  if (caseId === null) return;
  await closeCase(t.db, 'ignore', { caseId, resolvedBy: RESOLVED_BY, comment: 'credited to the balance', now });
}
