import type { Db } from '../../../core/db/db.ts';

/** An account whose panel user is not in the panel's list. */
export interface AbsentAccount {
  userId: number;
  messengerId: number;
  vpnpanelUuid: string | null;
  /** The last part of the stored link, which stays when the panel is replaced by another version (spec 10 V1). */
  vpnpanelShortUuid: string | null;
  verifiedEmail: string | null;
}

/**
 * Change of a subscription whose panel user is absent. `blank`: disables it and clears all values of the panel; balance and
 * transactions stay. `blank_live`: the same for live ones only. `disable`: only the status.
 */
export type AbsentTreatment = 'blank' | 'blank_live' | 'disable';

/** Subscriptions that the treatment would change. */
const TREATED: Record<AbsentTreatment, string> = {
  // Not one that is over and has no link to the panel: there is nothing to clear.
  blank: `NOT (s.status IN ('disabled', 'expired') AND u.vpnpanel_uuid IS NULL AND s.vpnpanel_short_uuid IS NULL)`,
  blank_live: `s.status NOT IN ('disabled', 'limited')
    AND NOT (s.status = 'expired' AND u.vpnpanel_uuid IS NULL AND s.vpnpanel_short_uuid IS NULL)`,
  disable: `s.status <> 'disabled' AND NOT (s.status = 'expired' AND u.vpnpanel_uuid IS NULL AND s.vpnpanel_short_uuid IS NULL)`,
};

/**
 * Not newer than the list: no push is due or under way, none was requested or done after the reading began, and the panel sent no
 * webhook since then or within the last minute (guard W). A pending subscription, which waits for a payment, has no panel user yet.
 */
const SETTLED = `s.status <> 'pending' AND NOT (s.provision_state <> 'synced' AND s.provision_requested_at IS NOT NULL)
  AND NOT COALESCE(s.provision_lease_until >= now(), false) AND s.created_at <= $2::timestamptz
  AND COALESCE(s.provision_requested_at, '-infinity') <= $2::timestamptz
  AND COALESCE(s.provisioned_at, '-infinity') <= $2::timestamptz
  AND COALESCE(s.last_webhook_update_at, '-infinity') <= least($2::timestamptz, $3::timestamptz - interval '60 seconds')`;

/** Found neither by uuid, nor by messenger id, nor by confirmed e-mail; accounts without a messenger id are never checked. */
const NOT_LISTED = `NOT EXISTS (SELECT 1 FROM panel_sync_users p WHERE p.run_id = $1::int AND p.panel_uuid = u.vpnpanel_uuid)
  AND NOT EXISTS (SELECT 1 FROM panel_sync_users p WHERE p.run_id = $1::int AND p.messenger_id = u.messenger_id)
  AND NOT (u.email_verified AND EXISTS (SELECT 1 FROM panel_sync_users p WHERE p.run_id = $1::int AND p.email = u.email))`;

/** The panel users of blocked and deleted accounts may have been removed; what they have paid for stays (08 P15). */
const FROM = "FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.messenger_id IS NOT NULL AND u.status = 'active'";

interface AbsentQuery {
  runId: number;
  readAt: Date;
  now: Date;
  treatment: AbsentTreatment;
}

/** `absent`: accounts that the treatment would change. `known`: accounts that could be found at the panel. */
export async function countAbsent(
  db: Db,
  { runId, readAt, now, treatment }: AbsentQuery,
): Promise<{ absent: number; known: number }> {
  const [row] = await db.sql<{ absent: number; known: number }>(
    `SELECT (SELECT count(*)::int ${FROM} AND ${TREATED[treatment]} AND ${SETTLED} AND ${NOT_LISTED}) AS absent,
       (SELECT count(*)::int ${FROM}) AS known`,
    [runId, readAt, now],
  );
  return row!;
}

/** The next ones by user id. */
export function listAbsent(
  db: Db,
  { runId, readAt, now, treatment, afterId, limit }: AbsentQuery & { afterId: number; limit: number },
): Promise<AbsentAccount[]> {
  return db.sql<AbsentAccount>(
    `SELECT u.id AS user_id, u.messenger_id, u.vpnpanel_uuid, s.vpnpanel_short_uuid,
       CASE WHEN u.email_verified THEN u.email END AS verified_email
     ${FROM} AND u.id > $4::int AND ${TREATED[treatment]} AND ${SETTLED} AND ${NOT_LISTED} ORDER BY u.id LIMIT $5::int`,
    [runId, readAt, now, afterId, limit],
  );
}

/** Locks the accounts and returns the subscriptions of those that have not changed since they were listed. */
export async function lockStillAbsent(
  db: Db,
  { runId, readAt, now, treatment, accounts }: AbsentQuery & { accounts: readonly AbsentAccount[] },
): Promise<number[]> {
  const ids = accounts.map((account) => account.userId);
  await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR NO KEY UPDATE', [ids]);
  await db.sql('SELECT id FROM subscriptions WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE', [ids]);
  const rows = await db.sql<{ id: number }>(
    `SELECT s.id ${FROM} AND u.id = ANY($4::int[]) AND ${TREATED[treatment]} AND ${SETTLED} AND ${NOT_LISTED}
       AND u.vpnpanel_uuid IS NOT DISTINCT FROM (
         SELECT a."vpnpanelUuid" FROM jsonb_to_recordset($5::jsonb) AS a("userId" int, "vpnpanelUuid" uuid) WHERE a."userId" = u.id)
     ORDER BY s.id`,
    [runId, readAt, now, ids, JSON.stringify(accounts)],
  );
  return rows.map((row) => row.id);
}

export async function unlinkServers(db: Db, ids: readonly number[]): Promise<void> {
  await db.sql('DELETE FROM subscription_servers WHERE subscription_id = ANY($1::int[]) RETURNING id', [[...ids]]);
}
