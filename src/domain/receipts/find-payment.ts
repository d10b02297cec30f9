import type { App } from '../../core/app.ts';
import { findReceiptPayment } from './repo.ts';
import type { ReceiptPayment } from './types.ts';

/** Payments in a provider's test mode have receipts in the sandbox only, where the tax service is a fake. */
export function includesTestPayments({ ports }: Pick<App, 'ports'>): boolean {
  return ports.instance.sandboxKinds().includes('payments');
}

/** The credited payment, if it has a receipt; else null. */
export function findPayment(t: App, paymentId: number): Promise<ReceiptPayment | null> {
  return findReceiptPayment(t.db, paymentId, { now: t.clock.now(), withTest: includesTestPayments(t) });
}
