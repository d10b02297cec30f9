import type { Db } from '../../../core/db/db.ts';
import { PUSH_MARK } from '../../subscription-state/provision-state.ts';

export interface SquadSyncTarget {
  subscriptionId: number;
  userId: number;
  vpnpanelUuid: string | null;
  /** Changes whenever a push of the subscription is requested or done. */
  pushMark: string;
}

/** Active and trial subscriptions of a tariff by id, a batch at a time. */
export function listSquadSyncTargets(
  db: Db,
  tariffId: number,
  page: { afterId: number; limit: number },
): Promise<SquadSyncTarget[]> {
  return db.sql<SquadSyncTarget>(
    `SELECT s.id AS subscription_id, s.user_id, u.vpnpanel_uuid, ${PUSH_MARK} AS push_mark
     FROM subscriptions s JOIN users u ON u.id = s.user_id
     WHERE s.tariff_id = $1::int AND s.status IN ('active', 'trial') AND s.id > $2::int
     ORDER BY s.id LIMIT $3::int`,
    [tariffId, page.afterId, page.limit],
  );
}
