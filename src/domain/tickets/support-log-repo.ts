import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { listDistinctNames } from '../../core/db/distinct-names.ts';

export interface SupportAction {
  /** Null for API tokens. */
  actorUserId: number | null;
  action: string;
  ticketId: number;
  targetUserId: number;
  details: Record<string, unknown>;
}

export async function insertSupportAction(db: Db, action: SupportAction, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO support_audit_logs (actor_user_id, actor_messenger_id, action, ticket_id, target_user_id, details, created_at)
     VALUES ($1::bigint, (SELECT messenger_id FROM users WHERE id = $1::bigint), $2, $3::bigint, $4::bigint, $5::jsonb, $6::timestamptz)
     RETURNING id`,
    [action.actorUserId, action.action, action.ticketId, action.targetUserId, JSON.stringify(action.details), now],
  );
}

const ENTRY = columns('SupportAuditLog', [
  ...(['id', 'actorUserId', 'actorMessengerId', 'isModerator', 'action'] as const),
  ...(['ticketId', 'targetUserId', 'details', 'createdAt'] as const),
]);

export type SupportEntry = RowOf<typeof ENTRY>;

/** Newest first. @param action null = every action */
export function listSupportEntries(
  db: Db,
  action: string | null,
  page: { limit: number; offset: number },
): Promise<SupportEntry[]> {
  return db.sql<SupportEntry>(
    `SELECT ${ENTRY.of('l')} FROM support_audit_logs l ${action === null ? '' : 'WHERE l.action = $3'}
     ORDER BY l.created_at DESC, l.id DESC LIMIT $1::int OFFSET $2::bigint`,
    [page.limit, page.offset, ...(action === null ? [] : [action])],
  );
}

/** Counts the rows on one side of an id; the log only grows, so the rows below an old id are counted once. */
export async function countSupportEntries(
  db: Db,
  action: string | null,
  range: { above: number } | { upTo: number },
): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `SELECT count(*)::int AS total FROM support_audit_logs
     WHERE id ${'above' in range ? '>' : '<='} $1::bigint AND ($2::text IS NULL OR action = $2::text)`,
    ['above' in range ? range.above : range.upTo, action],
  );
  return row!.total;
}

/** Highest id written before a moment; 0 = none. */
export async function findSupportIdBefore(db: Db, moment: Date): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    'SELECT id FROM support_audit_logs WHERE created_at < $1::timestamptz ORDER BY created_at DESC, id DESC LIMIT 1',
    [moment],
  );
  return row?.id ?? 0;
}

/** Ascending. */
export const listActionNames = (db: Db): Promise<string[]> => listDistinctNames(db, 'support_audit_logs', 'action');
