/** Writes of administrators on payments and payment methods. */
import { seedPaymentMethods } from '../../src/domain/payments/payment-methods.ts';
import { unique } from '../support/builders.ts';
import type { AdminWrite } from './admin-write-samples.ts';

const METHODS = '/payment-methods';

export const PAYMENT_WRITES: Record<string, AdminWrite> = {
  [`PUT ${METHODS}/order`]: {
    kind: 'change',
    request: async ({ app }) => {
      await seedPaymentMethods(app);
      const methods = await app.db.sql<{ methodId: string }>(
        'SELECT method_id FROM payment_method_configs ORDER BY sort_order DESC, method_id DESC',
      );
      return { path: `${METHODS}/order`, body: { method_ids: methods.map(({ methodId }) => methodId) } };
    },
  },
  [`PUT ${METHODS}/{method_id}`]: {
    kind: 'change',
    request: async ({ app }) => {
      await seedPaymentMethods(app);
      return { path: `${METHODS}/wata`, body: { display_name: `Card ${unique()}` } };
    },
  },
  // Without a change of the state the row tells what the check found.
  'POST /payments/{method}/{payment_id}/check': {
    kind: 'summary',
    request: async ({ app }) => {
      const [payment] = await app.db.sql<{ id: number }>(
        `INSERT INTO payments (method, order_id, amount_kopeks, status) VALUES ('wata', $1, 100, 'opened') RETURNING id`,
        [`order-${unique()}`],
      );
      return { path: `/payments/wata/${payment!.id}/check` };
    },
  },
};
