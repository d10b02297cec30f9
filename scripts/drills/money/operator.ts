/** What the operator does by commands: refunds of payments, decisions about cases. Two at once where only one may succeed. */
import { isAppError } from '../../../src/core/errors.ts';
import { requestRefund } from '../../../src/domain/payments/refunds/request-refund.ts';
import { type CaseDecision, listCases, resolveCase } from '../../../src/domain/payments/resolve-case.ts';
import { countOne, type Shop } from './shop.ts';

const OPERATOR = { kind: 'system', name: 'drill' } as const;

/** Requests the refund of a credited top-up, as a whole or in part; twice at once. */
export async function refundPayment(shop: Shop): Promise<void> {
  const { app, people } = shop.stage;
  const refundable = app.ports.payments.all().flatMap(({ method, refund }) => (refund ? [method] : []));
  const [payment] = await app.db.sql<{ id: number; method: string; amountKopeks: number }>(
    `SELECT id, method, amount_kopeks FROM payments p WHERE transaction_id IS NOT NULL AND purpose = 'balance_topup' AND user_id = ANY($2::int[])
       AND NOT EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = p.id)
       AND method = ANY($3::text[])
     ORDER BY md5(p.id::text || $1) LIMIT 1`,
    [String(shop.random.between(0, 1_000_000)), people.shoppers.map(({ id }) => id), refundable],
  );
  if (!payment) return;
  const isPart = (app.ports.payments.byMethod(payment.method)?.canRefundPartly ?? false) && shop.random.next() < 0.7;
  const amountKopeks = isPart ? Math.floor(Number(payment.amountKopeks) / shop.random.between(2, 5)) : null;
  const order = { paymentId: payment.id, amountKopeks, reason: 'drill', requestedBy: OPERATOR.name };
  const once = () => command(shop, 'refund', () => requestRefund(app, order));
  await Promise.all([once(), once()]);
}

/** Decides about the open cases; two decisions at once about each. */
export async function resolveCases(shop: Shop): Promise<void> {
  const { app, people } = shop.stage;
  const { cases } = await listCases(app, { status: 'open', limit: 20, offset: 0 });
  for (const found of cases) {
    const choose = (): CaseDecision => {
      const at = shop.random.next();
      const userId = found.userId ?? shop.random.pick(people.shoppers).id;
      if (at < 0.4) return { resolution: 'credit', userId, kopeks: null, comment: null };
      return at < 0.7 ? { resolution: 'refund', comment: null } : { resolution: 'ignore', comment: 'drill' };
    };
    const once = async (decision: CaseDecision) =>
      command(shop, `case ${found.kind} ${decision.resolution}`, () => resolveCase(app, OPERATOR, found.id, decision));
    await Promise.all([once(choose()), once(choose())]);
  }
}

/** @throws what is no refusal */
async function command(shop: Shop, name: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
    countOne(shop.deeds.commands, name);
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    countOne(shop.deeds.commands, `${name} refused (${error.code})`);
  }
}
