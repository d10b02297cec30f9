/** Writes of administrators on withdrawal requests. */

import type { App } from '../../src/core/app.ts';
import { aUser } from '../support/builders.ts';
import { rowOf, topUp } from '../support/sale-samples.ts';
import type { AdminWrite } from './admin-write-samples.ts';

/** A request of a user whose balance covers it, written as the service of before left it. */
async function aStoredRequest(app: App, status: 'pending' | 'approved'): Promise<number> {
  const { id: userId } = await aUser(app);
  await topUp(app, userId, 50_000);
  const { id } = await rowOf<{ id: number }>(
    app,
    `INSERT INTO withdrawal_requests (user_id, amount_kopeks, status, payment_details)
     VALUES ($1::int, 20000, $2, 'Card 2200') RETURNING id`,
    [userId, status],
  );
  return id;
}

const decided = (action: string, status: 'pending' | 'approved', body?: object): AdminWrite => ({
  kind: 'change',
  request: async ({ app }) => ({
    path: `/withdrawals/${await aStoredRequest(app, status)}/${action}`,
    ...(body === undefined ? {} : { body }),
  }),
});

export const WITHDRAWAL_WRITES: Record<string, AdminWrite> = {
  'POST /withdrawals/{withdrawal_id}/approve': decided('approve', 'pending', { comment: 'Soon' }),
  'POST /withdrawals/{withdrawal_id}/reject': decided('reject', 'pending', {}),
  'POST /withdrawals/{withdrawal_id}/complete': decided('complete', 'approved'),
};
