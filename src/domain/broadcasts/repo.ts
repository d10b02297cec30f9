import { plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { AUDIENCE_TABLES, broadcastCondition } from '../audience/segments.ts';
import type { SendChannel } from '../mass-sends/types.ts';
import type { BroadcastRow, CustomButton } from './types.ts';

export type NewBroadcast = Omit<BroadcastRow, 'id' | 'customButtons'> & { customButtons: readonly CustomButton[] };

export async function insertBroadcast(db: Db, { customButtons, ...broadcast }: NewBroadcast): Promise<BroadcastRow> {
  const data = { ...broadcast, customButtons: customButtons.map((button) => ({ ...button })) };
  return plainRow('Broadcast', await db.prisma.broadcast.create({ data }));
}

export async function findBroadcast(db: Db, id: number): Promise<BroadcastRow | null> {
  const row = await db.prisma.broadcast.findUnique({ where: { id } });
  return row && plainRow('Broadcast', row);
}

/** Newest first. */
export async function listBroadcasts(
  db: Db,
  page: { limit: number; offset: number },
): Promise<{ items: BroadcastRow[]; total: number }> {
  const [rows, total] = await Promise.all([
    db.prisma.broadcast.findMany({ orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], take: page.limit, skip: page.offset }),
    db.prisma.broadcast.count(),
  ]);
  return { items: rows.map((row) => plainRow('Broadcast', row)), total };
}

/** Members of several segments, in one pass over the users. */
export async function countSegments(db: Db, channel: SendChannel, targets: readonly string[], now: Date): Promise<number[]> {
  const counts = targets.map(
    (target, index) => `count(*) FILTER (WHERE ${broadcastCondition(channel, target, '$1::timestamptz')})::int AS c${index}`,
  );
  const [row] = await db.sql<Record<string, number>>(
    `SELECT ${counts.join(', ')} FROM ${AUDIENCE_TABLES} WHERE $1::timestamptz IS NOT NULL AND u.status = 'active'`,
    [now],
  );
  return targets.map((_target, index) => row![`c${index}`]!);
}

/** Members of each tariff's segment; a tariff without members has no row. */
export async function countTariffMembers(db: Db, now: Date): Promise<Map<number, number>> {
  const rows = await db.sql<{ tariffId: number; members: number }>(
    `SELECT s.tariff_id, count(*)::int AS members FROM ${AUDIENCE_TABLES}
     WHERE $1::timestamptz IS NOT NULL AND s.tariff_id IS NOT NULL AND ${broadcastCondition('messenger', 'all', '$1::timestamptz')}
       AND s.status = 'active' AND s.end_date > $1::timestamptz GROUP BY s.tariff_id`,
    [now],
  );
  return new Map(rows.map(({ tariffId, members }) => [tariffId, members]));
}

export interface SampleRecipient {
  userId: number;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
}

/** The first recipients by id: those who will get it first. */
export async function listFirst(
  db: Db,
  channel: SendChannel,
  target: string,
  limit: number,
  now: Date,
): Promise<SampleRecipient[]> {
  return db.sql<SampleRecipient>(
    `SELECT u.id AS user_id, u.username, u.first_name, u.last_name, u.email FROM ${AUDIENCE_TABLES}
     WHERE $1::timestamptz IS NOT NULL AND ${broadcastCondition(channel, target, '$1::timestamptz')} ORDER BY u.id LIMIT $2::int`,
    [now, limit],
  );
}
