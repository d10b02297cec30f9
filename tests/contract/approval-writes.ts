/** Decisions of administrators on changes of money that wait. */
import { aUser } from '../support/builders.ts';
import { rowOf } from '../support/sale-samples.ts';
import type { AdminWrite } from './admin-write-samples.ts';

/** @param byCaller whether the caller asked for it, else another administrator */
const decided = (action: string, byCaller: boolean, body?: object): AdminWrite => ({
  kind: 'change',
  request: async ({ app, boss }) => {
    const { id: userId } = await aUser(app);
    const requesterId = byCaller ? boss.user.id : (await aUser(app)).id;
    const { id } = await rowOf<{ id: number }>(
      app,
      `INSERT INTO approvals (kind, status, user_id, amount_kopeks, requested_by, requester_id, created_at, expires_at)
       VALUES ('balance_change', 'waiting', $1::int, 20000, $2, $3::int, $4::timestamptz, $4::timestamptz + interval '1 day') RETURNING id`,
      [userId, `admin:${requesterId}`, requesterId, app.clock.now()],
    );
    return { path: `/approvals/${id}/${action}`, ...(body === undefined ? {} : { body }) };
  },
});

export const APPROVAL_WRITES: Record<string, AdminWrite> = {
  'POST /approvals/{approval_id}/approve': decided('approve', false),
  'POST /approvals/{approval_id}/refuse': decided('refuse', false, { reason: 'Not agreed' }),
  'POST /approvals/{approval_id}/withdraw': decided('withdraw', true),
};
