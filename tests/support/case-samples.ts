import type { App } from '../../src/core/app.ts';
import { openCase } from '../../src/domain/payments/open-case.ts';
import { topupBalance } from '../../src/domain/payments/topup-balance.ts';
import { aUser, unique } from './builders.ts';
import { paymentFacts } from './payment-samples.ts';

export const OPERATOR = { kind: 'system', name: 'command line' } as const;

/** An unpaid top-up of a new user at the sandbox's provider. */
export async function anInvoice(app: App, amountKopeks = 50_000) {
  const user = await aUser(app);
  const { paymentId } = await topupBalance(
    app,
    { kind: 'user', userId: user.id },
    { amountKopeks, method: 'sandbox', option: null },
    { idempotencyKey: null },
  );
  return { user, paymentId, externalId: (await paymentFacts(app, paymentId)).externalId! };
}

/** A case about money of an invoice that is not stored here. */
export async function anUnknownPayment(
  app: App,
  facts: { externalId?: string; orderId?: string | null; amountKopeks?: number } = {},
) {
  const { externalId = `unknown-${unique()}`, orderId = null, amountKopeks = 30_000 } = facts;
  await openCase(app, {
    kind: 'unknown_payment',
    payment: { id: null, method: 'sandbox', userId: null },
    reference: externalId,
    amountKopeks,
    currency: 'RUB',
    details: { externalId, orderId },
  });
  return { caseId: await lastCaseId(app), externalId };
}

export async function lastCaseId(app: App): Promise<number> {
  const [row] = await app.db.sql<{ id: number }>('SELECT max(id) AS id FROM payment_cases');
  return row!.id;
}

/** What the audit log has of a case, oldest first. */
export function auditOfCase(app: App, caseId: number) {
  return app.db.sql<{
    actorName: string;
    action: string;
    userId: number | null;
    status: string;
    details: Record<string, unknown>;
  }>('SELECT actor_name, action, user_id, status, details FROM admin_audit_log WHERE resource_id = $1 ORDER BY id', [
    `case ${caseId}`,
  ]);
}
