/** What the operator does by commands: refunds of payments, decisions about cases. Two at once where only one may succeed. */
import { addMs, DAY_MS } from '../../../../../src/core/clock.ts';
import { isAppError } from '../../../../../src/core/errors.ts';
import { requestRefund } from '../../../../../src/domain/payments/refunds.ts';
import { type CaseDecision, listCases, resolveCase } from '../../../../../src/domain/payments/resolve-case.ts';
import { countOne, type DrillContext, perform } from './drill-context.ts';

const OPERATOR = { kind: 'system', name: 'drill' } as const;

/** Requests the refund of a credited top-up, as a whole or in part; twice at once. */
export async function refundPayment(drill: DrillContext): Promise<void> {
  const { app, people } = drill.fixture;
  const refundable = app.ports.payments.all().flatMap(({ method, refund }) => (refund ? [method] : []));
  const [payment] = await app.db.sql<{ id: number; method: string; amountKopeks: number }>(
    `SELECT id, method, amount_kopeks FROM payments p WHERE transaction_id IS NOT NULL AND purpose = 'balance_topup' AND user_id = ANY($2::int[])
       AND NOT EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = p.id)
       AND method = ANY($3::text[])
     ORDER BY md5(p.id::text || $1) LIMIT 1`,
    [String(drill.random.between(0, 1_000_000)), people.shoppers.map(({ id }) => id), refundable],
  );
  if (!payment) return;
  const isPart = (app.ports.payments.byMethod(payment.method)?.canRefundPartly ?? false) && drill.random.next() < 0.7;
  const amountKopeks = isPart ? Math.floor(Number(payment.amountKopeks) / drill.random.between(2, 5)) : null;
  const order = { paymentId: payment.id, amountKopeks, reason: 'drill', requestedBy: OPERATOR.name };
  const once = () => command(drill, 'refund', () => requestRefund(app, order));
  await Promise.all([once(), once()]);
}

/** Decides about the open cases; two decisions at once about each. */
export async function resolveCases(drill: DrillContext): Promise<void> {
  const { app, people } = drill.fixture;
  const { cases } = await listCases(app, { status: 'open', limit: 20, offset: 0 });
  for (const found of cases) {
    const choose = (): CaseDecision => {
      const at = drill.random.next();
      const userId = found.userId ?? drill.random.pick(people.shoppers).id;
      if (at < 0.4) return { resolution: 'credit', userId, kopeks: null, comment: null };
      return at < 0.7 ? { resolution: 'refund', comment: null } : { resolution: 'ignore', comment: 'drill' };
    };
    const once = async (decision: CaseDecision) =>
      command(drill, `case ${found.kind} ${decision.resolution}`, () => resolveCase(app, OPERATOR, found.id, decision));
    await Promise.all([once(choose()), once(choose())]);
  }
}

/**
 * Follows the alarm `payment_refund_stuck` as docs/operations.md says: what CloudPayments has not given back for a day is given back in its
 * cabinet. A refund that it has carried out waits for its notification.
 */
export async function refundByHand(drill: DrillContext): Promise<void> {
  const { app, fakes } = drill.fixture;
  const stuck = await app.db.sql<{ orderId: string; amountKopeks: bigint; known: number }>(
    `SELECT p.order_id, r.amount_kopeks, (SELECT count(*)::int FROM payment_reversals v WHERE v.payment_id = p.id AND v.status = 'done') AS known
     FROM payment_reversals r JOIN payments p ON p.id = r.payment_id
     WHERE r.status = 'requested' AND r.method = 'cloudpayments' AND r.created_at < $1::timestamptz`,
    [addMs(app.clock.now(), -DAY_MS)],
  );
  const invoices = new Map((await fakes.payments.list()).map((invoice) => [invoice.orderId, invoice]));
  for (const { orderId, amountKopeks, known } of stuck) {
    const { id, reversals } = invoices.get(orderId)!;
    if (reversals.length === known && (await perform(drill, id, 'refund', Number(amountKopeks))))
      countOne(drill.deeds.commands, 'refund by hand');
  }
}

/** @throws what is no refusal */
async function command(drill: DrillContext, name: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
    countOne(drill.deeds.commands, name);
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    countOne(drill.deeds.commands, `${name} refused (${error.code})`);
  }
}
