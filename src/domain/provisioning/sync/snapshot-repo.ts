import type { Db } from '../../../core/db/db.ts';
import { storableText } from '../../../core/db/storable-text.ts';
import type { PanelUser } from '../ports.ts';
import type { SnapshotEntry } from './types.ts';

/** A user with moments as JSON stores them. */
type StoredUser = Omit<PanelUser, 'expireAt' | 'onlineAt' | 'firstConnectedAt'> & {
  expireAt: string | null;
  onlineAt: string | null;
  firstConnectedAt: string | null;
};

export interface StoredEntry {
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

export function toEntry({ user, readAt }: StoredEntry): SnapshotEntry {
  const moment = (text: string | null) => (text === null ? null : new Date(text));
  return {
    readAt: new Date(readAt),
    user: {
      ...user,
      expireAt: new Date(user.expireAt ?? Number.NaN),
      onlineAt: moment(user.onlineAt),
      firstConnectedAt: moment(user.firstConnectedAt),
    },
  };
}
