import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { MERGED } from '../users/merged-account.ts';
import type { OwnedColumn } from './owned-columns.ts';

const MERGING = columns('User', ['id', 'status', 'balanceKopeks', 'emailChangeNew', ...MERGED]);

/** A user under the merge's lock. */
export type MergingUser = RowOf<typeof MERGING>;

/**
 * Locks both users in the order of their ids (spec 01 H17), then their subscriptions, and only then the users so that no new row can
 * reference them. One step would deadlock with a job that has locked a subscription and checks its foreign key.
 * Missing users are left out.
 */
export async function lockUsers(db: Db, ids: readonly [number, number]): Promise<MergingUser[]> {
  await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR NO KEY UPDATE', [ids]);
  await lockSubscriptions(db, ids);
  return db.sql<MergingUser>(`SELECT ${MERGING.of()} FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE`, [ids]);
}

/** Locks the subscriptions of both, after the users (spec 00, lock order). */
export async function lockSubscriptions(db: Db, userIds: readonly [number, number]): Promise<{ id: number; userId: number }[]> {
  return db.sql<{ id: number; userId: number }>(
    'SELECT id, user_id FROM subscriptions WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE',
    [userIds],
  );
}

/** Moves the transactions to the primary; the secondary's wallet must be empty. @returns rows moved */
export async function moveTransactions(db: Db, secondaryId: number, primaryId: number): Promise<number> {
  const [row] = await db.sql<{ moved: number }>('SELECT move_transactions($1::int, $2::int) AS moved', [secondaryId, primaryId]);
  return row!.moved;
}

/**
 * Changes the secondary's rows of one column as the list says; the names come from the list, never from a request.
 * @returns how many rows became the primary's
 */
export async function transferColumn(db: Db, owned: OwnedColumn, secondaryId: number, primaryId: number): Promise<number> {
  const { table, column } = owned;
  const ids = [secondaryId, primaryId];
  const move = (condition = '') =>
    db.sql(`UPDATE ${table} SET ${column} = $2::int WHERE ${column} = $1::int${condition} RETURNING 1 AS moved`, ids);
  switch (owned.on) {
    case 'move':
      return (await move()).length;
    case 'move_distinct': {
      await removeDuplicates(db, owned, ids);
      const isFree = ` AND NOT EXISTS (SELECT 1 FROM ${table} p WHERE p.${column} = $2::int)`;
      return (await move(owned.isOnePerUser ? isFree : '')).length;
    }
    case 'clear':
      await db.sql(`UPDATE ${table} SET ${column} = NULL WHERE ${column} = $1::int RETURNING 1 AS cleared`, [secondaryId]);
      return 0;
    case 'delete':
      await db.sql(`DELETE FROM ${table} WHERE ${column} = $1::int RETURNING 1 AS gone`, [secondaryId]);
      return 0;
    default:
      return 0;
  }
}

/** Removes the secondary's rows that would be duplicates of the primary's, or the primary's rows that they replace. */
async function removeDuplicates(
  db: Db,
  owned: Extract<OwnedColumn, { on: 'move_distinct' }>,
  ids: readonly number[],
): Promise<void> {
  const { table, column, key, where, closes, replaces } = owned;
  const equal = key.map((name) => `p.${name} IS NOT DISTINCT FROM r.${name}`);
  const taken = [`p.${column} = $2::int`, ...equal, ...(where ? [where.replaceAll('r.', 'p.')] : [])].join(' AND ');
  const rows = [`r.${column} = $1::int`, ...(where ? [where] : []), `EXISTS (SELECT 1 FROM ${table} p WHERE ${taken})`].join(
    ' AND ',
  );
  const action = closes ? `UPDATE ${table} r SET ${closes}` : `DELETE FROM ${table} r`;
  const remove = (condition: string) => db.sql(`${action} WHERE ${condition} RETURNING 1 AS removed`, ids);
  if (replaces !== undefined) {
    const better = [`p.${column} = $1::int`, ...equal, replaces('p', 'r')].join(' AND ');
    await remove(`r.${column} = $2::int AND EXISTS (SELECT 1 FROM ${table} p WHERE ${better})`);
  }
  await remove(rows);
}

/** Whether this user is one of the two, or was invited by one of them, directly or through others. */
export async function isInvitedByEither(db: Db, userId: number, ids: readonly [number, number]): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `WITH RECURSIVE ancestors (id) AS (
       SELECT $1::int UNION SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
     SELECT id FROM ancestors WHERE id = ANY($2::int[])`,
    [userId, ids],
  );
  return rows.length > 0;
}

const PREVIEW = columns('Subscription', [
  ...(['status', 'isTrial', 'endDate', 'trafficLimitGb', 'trafficUsedGb', 'deviceLimit', 'autopayEnabled'] as const),
]);

/** Traffic in GB. */
export type MergePreviewSubscription = RowOf<typeof PREVIEW> & { tariffName: string | null };

/** The subscription as the merge page shows it; null without one. */
export async function findPreviewSubscription(db: Db, userId: number): Promise<MergePreviewSubscription | null> {
  const [row] = await db.sql<MergePreviewSubscription>(
    `SELECT ${PREVIEW.of('s')}, t.name AS tariff_name
     FROM subscriptions s LEFT JOIN tariffs t ON t.id = s.tariff_id WHERE s.user_id = $1::int`,
    [userId],
  );
  return row ?? null;
}

const RECORD = columns('AccountMerge', [
  ...(['tokenHash', 'primaryUserId', 'secondaryUserId', 'retainedSubscriptionOf', 'balanceMovedKopeks', 'moved'] as const),
  ...(['abandonedPanelUuid', 'formerMessengerId', 'formerEmails'] as const),
]);

/** The record of a merge for support. The unique `tokenHash` (SHA-256, hex) allows one merge per token, regardless of the key store. */
export type MergeRecord = RowOf<typeof RECORD>;

/** @returns the record's id; null when this token has merged before */
export async function insertMerge(db: Db, merge: MergeRecord, now: Date): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO account_merges (${RECORD.of()}, panel_state, created_at)
     VALUES ($1, $2::int, $3::int, $4::int, $5::bigint, $6::jsonb, $7::uuid, $8::bigint, $9::jsonb,
       CASE WHEN $7::uuid IS NULL THEN 'none' ELSE 'pending' END, $10::timestamptz)
     ON CONFLICT (token_hash) DO NOTHING RETURNING id`,
    [
      merge.tokenHash,
      merge.primaryUserId,
      merge.secondaryUserId,
      merge.retainedSubscriptionOf,
      merge.balanceMovedKopeks,
      JSON.stringify(merge.moved),
      merge.abandonedPanelUuid,
      merge.formerMessengerId,
      JSON.stringify(merge.formerEmails),
      now,
    ],
  );
  return row?.id ?? null;
}

/** The panel user that a merge still has to remove; null without one, or when it has been removed. */
export async function findAbandonedPanelUser(db: Db, mergeId: number): Promise<string | null> {
  const where = { id: mergeId, panelState: { in: ['pending', 'failed'] } };
  const merge = await db.prisma.accountMerge.findFirst({ where, select: { abandonedPanelUuid: true } });
  return merge?.abandonedPanelUuid ?? null;
}

export async function savePanelState(db: Db, mergeId: number, state: 'done' | 'failed', error: string | null): Promise<void> {
  const data = { panelState: state, panelError: error?.slice(0, 500) ?? null };
  await db.prisma.accountMerge.updateMany({ where: { id: mergeId }, data });
}
