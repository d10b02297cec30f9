import { columns, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { storableText } from '../../../core/db/storable-text.ts';
import type { PanelUser } from '../ports.ts';
import { PUSH_COLUMNS, PUSH_TABLES, type PushRow, type PushTarget, toPushTarget } from '../repo.ts';
import type { SnapshotEntry, SyncedSubscription, SyncedUser } from './types.ts';

/** A user with timestamps as JSON stores them. */
type StoredUser = Omit<PanelUser, 'expireAt' | 'onlineAt' | 'firstConnectedAt'> & {
  expireAt: string | null;
  onlineAt: string | null;
  firstConnectedAt: string | null;
};

interface StoredEntry {
  user: StoredUser;
  readAt: string;
}

const withStorableTexts = (_key: string, value: unknown) => (typeof value === 'string' ? storableText(value) : value);

/** Stores a page; of a user that is on two pages the last reading is stored. */
export async function insertPage(db: Db, runId: number, users: readonly PanelUser[], readAt: Date): Promise<void> {
  if (users.length === 0) return;
  const unique = [...new Map(users.map((user) => [user.uuid, user])).values()];
  await db.sql(
    `INSERT INTO panel_sync_users (run_id, panel_uuid, messenger_id, email, status, expire_at, data)
     SELECT $1::int, (e->>'uuid')::uuid, (e->>'messengerId')::bigint, left(lower(e->>'email'), 255), e->>'status',
       (e->>'expireAt')::timestamptz, jsonb_build_object('user', e, 'readAt', $3::text)
     FROM jsonb_array_elements($2::jsonb) AS e
     ON CONFLICT (run_id, panel_uuid) DO UPDATE SET messenger_id = EXCLUDED.messenger_id, email = EXCLUDED.email,
       status = EXCLUDED.status, expire_at = EXCLUDED.expire_at, data = EXCLUDED.data RETURNING run_id`,
    [runId, JSON.stringify(unique, withStorableTexts), readAt.toISOString()],
  );
}

export async function countSnapshot(db: Db, runId: number): Promise<number> {
  const [row] = await db.sql<{ count: number }>('SELECT count(*)::int AS count FROM panel_sync_users WHERE run_id = $1::int', [
    runId,
  ]);
  return row!.count;
}

export async function clearSnapshot(db: Db, runId: number): Promise<void> {
  await db.sql('DELETE FROM panel_sync_users WHERE run_id = $1::int', [runId]);
}

/**
 * Of several panel users of one messenger id the one with the latest end is applied, then the active one; of those without a messenger
 * id the same by e-mail. The others are marked as applied. ANALYZE comes first, because the planner would assume an empty table and
 * choose slow joins.
 */
export async function skipDuplicates(db: Db, runId: number, now: Date): Promise<void> {
  await db.sql('ANALYZE panel_sync_users');
  const rest = await db.sql<{ panelUuid: string }>(
    `SELECT panel_uuid FROM (
       SELECT panel_uuid, row_number() OVER (
         PARTITION BY messenger_id, CASE WHEN messenger_id IS NULL THEN COALESCE(email, panel_uuid::text) END
         ORDER BY expire_at DESC NULLS LAST, status = 'ACTIVE' DESC, panel_uuid) AS place
       FROM panel_sync_users WHERE run_id = $1::int) ranked
     WHERE place > 1`,
    [runId],
  );
  if (rest.length === 0) return;
  await db.sql(
    `UPDATE panel_sync_users SET applied_at = $2::timestamptz
     WHERE run_id = $1::int AND panel_uuid = ANY($3::uuid[]) RETURNING run_id`,
    [runId, now, rest.map((row) => row.panelUuid)],
  );
}

export interface MatchedEntry {
  entry: SnapshotEntry;
  /** Local account that is linked to the panel user. */
  linkedUserId: number | null;
  /** Local account of the panel user's messenger id. */
  byMessengerId: number | null;
  /** That account is linked to another panel user of the list, which has no messenger id. */
  isAnotherListed: boolean;
  /** Local account that has confirmed the panel user's e-mail. */
  byEmail: number | null;
  /** A local account has the panel user's e-mail, confirmed or not. */
  isEmailTaken: boolean;
}

/** The next users of the list by uuid, with the accounts that they may belong to. */
export async function listMatches(db: Db, runId: number, page: { after: string; limit: number }): Promise<MatchedEntry[]> {
  const rows = await db.sql<Omit<MatchedEntry, 'entry'> & { data: StoredEntry }>(
    `SELECT p.data, h.id AS linked_user_id, m.id AS by_messenger_id, a.panel_uuid IS NOT NULL AS is_another_listed,
       CASE WHEN e.email_verified THEN e.id END AS by_email, e.id IS NOT NULL AS is_email_taken
     FROM (SELECT panel_uuid, messenger_id, email, data FROM panel_sync_users
       WHERE run_id = $1::int AND panel_uuid > $2::uuid AND applied_at IS NULL ORDER BY panel_uuid LIMIT $3::int) p
     LEFT JOIN users h ON h.vpnpanel_uuid = p.panel_uuid
     LEFT JOIN users m ON m.messenger_id = p.messenger_id
     LEFT JOIN panel_sync_users a ON a.run_id = $1::int AND a.panel_uuid = m.vpnpanel_uuid AND a.panel_uuid <> p.panel_uuid
       AND a.messenger_id IS NULL AND a.applied_at IS NULL
     LEFT JOIN users e ON p.messenger_id IS NULL AND e.email = p.email
     ORDER BY p.panel_uuid`,
    [runId, page.after, page.limit],
  );
  return rows.map(({ data, ...match }) => ({ ...match, entry: toEntry(data) }));
}

function toEntry({ user, readAt }: StoredEntry): SnapshotEntry {
  const timestamp = (text: string | null) => (text === null ? null : new Date(text));
  return {
    readAt: new Date(readAt),
    user: {
      ...user,
      expireAt: new Date(user.expireAt ?? Number.NaN),
      onlineAt: timestamp(user.onlineAt),
      firstConnectedAt: timestamp(user.firstConnectedAt),
    },
  };
}

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

const SYNCED = columns('Subscription', [
  ...(['endDate', 'trafficLimitGb', 'trafficUsedGb', 'deviceLimit', 'connectedSquads', 'vpnpanelShortUuid'] as const),
  ...(['subscriptionUrl', 'subscriptionCryptoLink', 'lastWebhookUpdateAt', 'provisionRequestedAt', 'provisionedAt'] as const),
]);

interface AccountRow extends Omit<SyncedSubscription, 'id'>, Pick<Rows['User'], 'messengerId' | 'vpnpanelUuid'> {
  userId: number;
  userStatus: Rows['User']['status'];
  subscriptionId: number | null;
}

/** Accounts with their subscriptions, by id. */
export async function loadAccounts(db: Db, ids: readonly number[]): Promise<Map<number, SyncedUser>> {
  if (ids.length === 0) return new Map();
  const rows = await db.sql<AccountRow>(
    `SELECT u.id AS user_id, u.messenger_id, u.status AS user_status, u.vpnpanel_uuid, s.id AS subscription_id, s.status,
       ${SYNCED.of('s')},
       (s.provision_state <> 'synced' AND s.provision_requested_at IS NOT NULL) OR COALESCE(s.provision_lease_until >= now(), false)
         AS is_push_due
     FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id WHERE u.id = ANY($1::int[])`,
    [[...ids]],
  );
  return new Map(rows.map((row) => [row.userId, toAccount(row)]));
}

function toAccount(row: AccountRow): SyncedUser {
  const { userId, messengerId, userStatus, vpnpanelUuid, subscriptionId, ...synced } = row;
  const subscription = subscriptionId === null ? null : { ...synced, id: subscriptionId };
  return { id: userId, messengerId, status: userStatus, vpnpanelUuid, subscription };
}

/** Users first, subscriptions second, each by id (spec 00, lock order); includes the users that the given panel users are linked to now. */
export async function lockAccounts(db: Db, userIds: readonly number[], panelUuids: readonly string[]): Promise<void> {
  await db.sql(
    'SELECT id FROM users WHERE id = ANY($1::int[]) OR vpnpanel_uuid = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE',
    [[...userIds], [...panelUuids]],
  );
  await db.sql('SELECT id FROM subscriptions WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE', [[...userIds]]);
}

export interface PushCandidate {
  target: PushTarget;
  /** A push was requested and is not done. */
  isPushDue: boolean;
  /** Time of the last successful push. */
  provisionedAt: Date | null;
  /** The linked panel user as the list has it; null = none is linked, or the list does not have it. */
  listed: SnapshotEntry | null;
  /** The list has a user of the owner's messenger id or e-mail. */
  hasNamesake: boolean;
}

/** Subscriptions by id with what the panel's list says about their linked users. */
export async function listPushCandidates(
  db: Db,
  runId: number,
  page: { afterId: number; limit: number },
): Promise<PushCandidate[]> {
  const rows = await db.sql<PushRow & Omit<PushCandidate, 'target' | 'listed'> & { listed: StoredEntry | null }>(
    `SELECT ${PUSH_COLUMNS}, s.provisioned_at,
       s.provision_state <> 'synced' AND s.provision_requested_at IS NOT NULL AS is_push_due, p.data AS listed,
       EXISTS (SELECT 1 FROM panel_sync_users n WHERE n.run_id = $1::int AND n.messenger_id = u.messenger_id)
         OR EXISTS (SELECT 1 FROM panel_sync_users n WHERE n.run_id = $1::int AND n.email = u.email) AS has_namesake
     FROM ${PUSH_TABLES} LEFT JOIN panel_sync_users p ON p.run_id = $1::int AND p.panel_uuid = u.vpnpanel_uuid
     WHERE s.id > $2::int ORDER BY s.id LIMIT $3::int`,
    [runId, page.afterId, page.limit],
  );
  return rows.map(({ isPushDue, provisionedAt, listed, hasNamesake, ...row }) => ({
    target: toPushTarget(row),
    isPushDue,
    provisionedAt,
    hasNamesake,
    listed: listed === null ? null : toEntry(listed),
  }));
}

export async function countSubscriptions(db: Db): Promise<number> {
  const [row] = await db.sql<{ count: number }>('SELECT count(*)::int AS count FROM subscriptions');
  return row!.count;
}

/** Those of the subscriptions whose version or squads are not those of the candidate any more. */
export async function listChangedSince(db: Db, candidates: readonly PushCandidate[]): Promise<number[]> {
  if (candidates.length === 0) return [];
  const read = candidates.map(({ target: { subscriptionId: id, version, connectedSquads: squads } }) => ({
    id,
    version,
    squads,
  }));
  const rows = await db.sql<{ id: number }>(
    `SELECT s.id FROM jsonb_to_recordset($1::jsonb) AS c(id int, version int, squads jsonb) JOIN subscriptions s ON s.id = c.id
     WHERE s.provision_version <> c.version OR s.connected_squads IS DISTINCT FROM c.squads ORDER BY s.id`,
    [JSON.stringify(read)],
  );
  return rows.map((row) => row.id);
}

/** How many of these subscriptions have a panel user now that the list did not have. */
export async function countCreated(db: Db, runId: number, subscriptionIds: readonly number[]): Promise<number> {
  const [row] = await db.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM subscriptions s JOIN users u ON u.id = s.user_id
     WHERE s.id = ANY($2::int[]) AND u.vpnpanel_uuid IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM panel_sync_users p WHERE p.run_id = $1::int AND p.panel_uuid = u.vpnpanel_uuid)`,
    [runId, [...subscriptionIds]],
  );
  return row!.count;
}
