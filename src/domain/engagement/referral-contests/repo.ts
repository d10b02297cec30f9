import { allColumns, plainRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { ReferralContest } from './types.ts';

const CONTEST = allColumns('ReferralContest');

export type ContestValues = Omit<ReferralContest, 'id' | 'createdAt' | 'updatedAt' | 'lastDailySummaryAt' | 'finalSummarySent'>;
export type ContestChanges = Partial<Omit<ReferralContest, 'id' | 'createdAt' | 'updatedAt'>>;

/** The latest start first; null = every type. */
export async function listContests(
  db: Db,
  contestType: string | null,
  page: { limit: number; offset: number },
): Promise<{ items: ReferralContest[]; total: number }> {
  const where = 'WHERE ($1::text IS NULL OR contest_type = $1::text)';
  const items = await db.sql<ReferralContest>(
    `SELECT ${CONTEST.of()} FROM referral_contests ${where} ORDER BY start_at DESC, id LIMIT $2::int OFFSET $3::bigint`,
    [contestType, page.limit, page.offset],
  );
  const [count] = await db.sql<{ n: number }>(`SELECT count(*)::int AS n FROM referral_contests ${where}`, [contestType]);
  return { items, total: count!.n };
}

export async function findContest(db: Db, id: number): Promise<ReferralContest | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.referralContest.findUnique({ where: { id } });
  return row && plainRow('ReferralContest', row);
}

export async function lockContest(db: Db, id: number): Promise<ReferralContest | null> {
  const [row] = await db.sql<ReferralContest>(`SELECT ${CONTEST.of()} FROM referral_contests WHERE id = $1::bigint FOR UPDATE`, [
    id,
  ]);
  return row ?? null;
}

export async function insertContest(db: Db, values: ContestValues, now: Date): Promise<ReferralContest> {
  const data = { ...values, createdAt: now, updatedAt: now };
  return plainRow('ReferralContest', await db.prisma.referralContest.create({ data }));
}

/** Writes fields of a locked contest. */
export async function updateContest(db: Db, id: number, changes: ContestChanges, now: Date): Promise<ReferralContest> {
  const row = await db.prisma.referralContest.update({ where: { id }, data: { ...changes, updatedAt: now } });
  return plainRow('ReferralContest', row);
}

/** Deletes a contest with its events. */
export async function deleteContest(db: Db, id: number): Promise<void> {
  await db.prisma.referralContest.delete({ where: { id }, select: { id: true } });
}

/** Whether there is such a user, who then cannot be deleted until the end of the transaction. */
export async function lockCreator(db: Db, userId: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [userId])).length > 0;
}

/** Contests whose summaries are to be sent. */
export function listActive(db: Db): Promise<ReferralContest[]> {
  return db.sql<ReferralContest>(
    `SELECT ${CONTEST.of()} FROM referral_contests WHERE is_active AND NOT final_summary_sent ORDER BY id`,
  );
}

/** @returns false when this summary has been sent: the key decides between two at once */
export async function insertSummary(
  db: Db,
  summary: { contestId: number; kind: 'daily' | 'final'; dueAt: Date; now: Date },
): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_summaries (contest_id, kind, due_at, sent_at) VALUES ($1::int, $2, $3::timestamptz, $4::timestamptz)
     ON CONFLICT (contest_id, kind, due_at) DO NOTHING RETURNING contest_id`,
    [summary.contestId, summary.kind, summary.dueAt, summary.now],
  );
  return rows.length > 0;
}
