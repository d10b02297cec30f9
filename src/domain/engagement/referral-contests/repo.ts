import { allColumns, columns, plainRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { ReferralPair } from '../../referrals/types.ts';
import { LISTED_USER, type ListedUserRow, listedUser } from '../listed-user.ts';
import type { ContestEvent, LeaderboardEntry, RankedParticipant, ReferralContest } from './types.ts';

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

// Sums are read from the scores of the referrers (prisma/sql/contest-scores.sql), which are exact whatever the number of events.

/** Events of a contest, also outside of its period. */
export async function countEvents(db: Db, contestId: number): Promise<number> {
  const [row] = await db.sql<{ n: number }>(
    'SELECT coalesce(sum(events), 0)::int AS n FROM referral_contest_scores WHERE contest_id = $1::int',
    [contestId],
  );
  return row!.n;
}

/** Referrers by their referrals, then by what those paid, then by id (spec 04 section 11.4). @param limit null = all of them */
export async function listLeaders(db: Db, contestId: number, limit: number | null): Promise<LeaderboardEntry[]> {
  const rows = await db.sql<
    ListedUserRow & Pick<LeaderboardEntry, 'referralsCount' | 'paidCount' | 'totalAmountKopeks'> & { id: number }
  >(
    `SELECT f.*, ${LISTED_USER.of('u')} FROM (
       SELECT s.referrer_id AS id, s.referrals AS referrals_count, s.paid AS paid_count, s.amount_kopeks AS total_amount_kopeks
       FROM referral_contest_scores s WHERE s.contest_id = $1::int AND s.referrals > 0
       ORDER BY s.referrals DESC, s.amount_kopeks DESC, s.referrer_id LIMIT $2::int) f
     JOIN users u ON u.id = f.id ORDER BY f.referrals_count DESC, f.total_amount_kopeks DESC, f.id`,
    [contestId, limit],
  );
  return rows.map(({ referralsCount, paidCount, totalAmountKopeks, ...user }) => ({
    ...listedUser(user),
    ...{ referralsCount, paidCount, totalAmountKopeks },
  }));
}

interface Totals {
  participants: number;
  referrals: number;
  amountKopeks: number;
}

/** Sums of the events that count, without invented participants. */
export async function sumEvents(db: Db, contestId: number): Promise<Totals> {
  const [row] = await db.sql<Totals>(
    `SELECT count(*)::int AS participants, coalesce(sum(referrals), 0)::int AS referrals, coalesce(sum(amount_kopeks), 0)::bigint AS amount_kopeks
     FROM referral_contest_scores WHERE contest_id = $1::int AND referrals > 0`,
    [contestId],
  );
  return row!;
}

/** Invented participants, in the order in which they were added. */
export async function listVirtual(db: Db, contestId: number): Promise<RankedParticipant[]> {
  return db.sql<RankedParticipant>(
    `SELECT display_name AS name, referral_count AS referrals_count, total_amount_kopeks FROM referral_contest_virtual_participants
     WHERE contest_id = $1::int ORDER BY id`,
    [contestId],
  );
}

export const rankedOf = ({ fullName: name, referralsCount, totalAmountKopeks }: LeaderboardEntry): RankedParticipant => ({
  ...{ name, referralsCount, totalAmountKopeks },
});

const EVENT = columns('ReferralContestEvent', ['id', 'contestId', 'eventType', 'amountKopeks', 'occurredAt']);
/** The users of an event under their own names. */
const named = (alias: string, prefix: string) =>
  ['id', ...LISTED_USER.of().split(', ')].map((column) => `${alias}.${column} AS ${prefix}_${column}`).join(', ');
type Prefixed<P extends string> = {
  [F in keyof (ListedUserRow & { id: number }) as `${P}${Capitalize<F>}`]: (ListedUserRow & { id: number })[F];
};

/** Latest first, without those of deleted accounts. */
export async function listEvents(
  db: Db,
  contestId: number,
  page: { limit: number; offset: number },
): Promise<{ items: ContestEvent[]; total: number }> {
  const rows = await db.sql<RowOf<typeof EVENT> & Prefixed<'referrer'> & Prefixed<'referral'>>(
    `SELECT ${EVENT.of('e')}, ${named('f', 'referrer')}, ${named('r', 'referral')} FROM (
       SELECT o.* FROM referral_contest_events o JOIN users x ON x.id = o.referrer_id AND x.status <> 'deleted'
       WHERE o.contest_id = $1::int AND o.is_listed ORDER BY o.occurred_at DESC, o.id LIMIT $2::int OFFSET $3::bigint) e
     JOIN users f ON f.id = e.referrer_id JOIN users r ON r.id = e.referral_id ORDER BY e.occurred_at DESC, e.id`,
    [contestId, page.limit, page.offset],
  );
  const [count] = await db.sql<{ n: number }>(
    'SELECT coalesce(sum(listed), 0)::int AS n FROM referral_contest_scores WHERE contest_id = $1::int AND NOT is_deleted',
    [contestId],
  );
  const items = rows.map((row) => ({
    ...{
      id: row.id,
      contestId: row.contestId,
      eventType: row.eventType,
      amountKopeks: row.amountKopeks,
      occurredAt: row.occurredAt,
    },
    referrer: listedUser({
      ...{ id: row.referrerId, messengerId: row.referrerMessengerId, username: row.referrerUsername },
      ...{ firstName: row.referrerFirstName, lastName: row.referrerLastName, email: row.referrerEmail },
    }),
    referral: listedUser({
      ...{ id: row.referralId, messengerId: row.referralMessengerId, username: row.referralUsername },
      ...{ firstName: row.referralFirstName, lastName: row.referralLastName, email: row.referralEmail },
    }),
  }));
  return { items, total: count!.n };
}

/** What the referral of an event has paid for subscriptions in the period of contest `c`; `referral` is SQL of the user's id. */
const paidBy = (referral: string) => `coalesce((SELECT sum(abs(p.amount_kopeks)) FROM transactions p
  WHERE p.user_id = ${referral} AND p.type = 'subscription_payment' AND p.is_completed AND NOT p.is_internal
    AND p.created_at >= c.start_at AND p.created_at <= c.closes_at), 0)::bigint`;

/** Contests of a type that run at a given time and to whose period the registration of user `u` belongs. */
const scoring = (type: string, at: string) => `referral_contests c ON c.is_active AND c.contest_type = '${type}'
  AND c.start_at <= ${at} AND c.closes_at >= ${at} AND u.created_at >= c.start_at AND u.created_at <= c.closes_at`;

/** Who paid, and who invited the payer; null when nobody did. */
export async function findPayer(db: Db, transactionId: number): Promise<ReferralPair | null> {
  const [row] = await db.sql<ReferralPair>(
    `SELECT u.id AS referral_id, u.referred_by_id AS referrer_id FROM transactions t JOIN users u ON u.id = t.user_id
     WHERE t.id = $1::int AND u.referred_by_id IS NOT NULL`,
    [transactionId],
  );
  return row ?? null;
}

/** Who was invited, and by whom; null when nobody did. */
export async function findReferral(db: Db, referralId: number): Promise<ReferralPair | null> {
  const [row] = await db.sql<ReferralPair>(
    'SELECT id AS referral_id, referred_by_id AS referrer_id FROM users WHERE id = $1::int AND referred_by_id IS NOT NULL',
    [referralId],
  );
  return row ?? null;
}

/**
 * Scores a payment in all contests that run at its time: the first payment of a referral is its event, and every payment renews the sum
 * from the movements themselves, so that repeated and reordered runs come to the same. Under the lock of the payer.
 * @returns number of contests
 */
export async function scorePayment(db: Db, transactionId: number): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events AS e (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'subscription_purchase', ${paidBy('u.id')}, t.created_at
     FROM transactions t JOIN users u ON u.id = t.user_id JOIN ${scoring('referral_paid', 't.created_at')}
     WHERE t.id = $1::int AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal AND u.referred_by_id IS NOT NULL
     ORDER BY c.id
     ON CONFLICT (contest_id, referral_id) DO UPDATE SET amount_kopeks = EXCLUDED.amount_kopeks,
       occurred_at = least(e.occurred_at, EXCLUDED.occurred_at) RETURNING e.id`,
    [transactionId],
  );
  return rows.length;
}

/** Scores a registration in all contests of registrations that run at its time; once each. */
export async function scoreRegistration(db: Db, referralId: number, at: Date): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'referral_registration', 0, $2::timestamptz
     FROM users u JOIN ${scoring('referral_registered', '$2::timestamptz')}
     WHERE u.id = $1::int AND u.referred_by_id IS NOT NULL ORDER BY c.id
     ON CONFLICT (contest_id, referral_id) DO NOTHING RETURNING id`,
    [referralId, at],
  );
  return rows.length;
}

/** A place in the order in which `listCandidates` reads. */
export interface CandidatePlace {
  createdAt: Date;
  id: number;
}

/** Referrals whose registration belongs to the period of a contest, whether they have scored or not. @param after the last one before */
export function listCandidates(
  db: Db,
  contestId: number,
  after: CandidatePlace | null,
  limit: number,
): Promise<(ReferralPair & CandidatePlace)[]> {
  return db.sql<ReferralPair & CandidatePlace>(
    `SELECT u.id, u.id AS referral_id, u.referred_by_id AS referrer_id, u.created_at
     FROM users u JOIN referral_contests c ON c.id = $1::int AND c.is_active AND u.created_at >= c.start_at AND u.created_at <= c.closes_at
     WHERE u.referred_by_id IS NOT NULL AND ($2::timestamptz IS NULL OR (u.created_at, u.id) > ($2::timestamptz, $3::int))
     ORDER BY u.created_at, u.id LIMIT $4::int`,
    [contestId, after?.createdAt ?? null, after?.id ?? 0, limit],
  );
}

/** Scores everything that these referrals have paid in the period, as `scorePayment` would have. @returns number of events */
export async function scorePaid(db: Db, contestId: number, referralIds: readonly number[]): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'subscription_purchase', p.kopeks, p.first_at
     FROM referral_contests c JOIN users u ON u.id = ANY($2::int[]) AND u.created_at >= c.start_at AND u.created_at <= c.closes_at
     CROSS JOIN LATERAL (SELECT sum(abs(t.amount_kopeks))::bigint AS kopeks, min(t.created_at) AS first_at FROM transactions t
       WHERE t.user_id = u.id AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal
         AND t.created_at >= c.start_at AND t.created_at <= c.closes_at) p
     WHERE c.id = $1::int AND c.is_active AND c.contest_type = 'referral_paid' AND u.referred_by_id IS NOT NULL AND p.first_at IS NOT NULL
     ORDER BY u.id
     ON CONFLICT (contest_id, referral_id) DO UPDATE SET amount_kopeks = EXCLUDED.amount_kopeks, occurred_at = EXCLUDED.occurred_at
     RETURNING id`,
    [contestId, [...referralIds]],
  );
  return rows.length;
}

/** Scores the registrations of these referrals likewise. @returns number of new events */
export async function scoreRegistered(db: Db, contestId: number, referralIds: readonly number[]): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'referral_registration', 0, min(r.created_at)
     FROM referral_contests c JOIN users u ON u.id = ANY($2::int[]) AND u.created_at >= c.start_at AND u.created_at <= c.closes_at
     JOIN referral_earnings r ON r.referral_id = u.id AND r.reason = 'referral_registration_pending'
       AND r.created_at >= c.start_at AND r.created_at <= c.closes_at
     WHERE c.id = $1::int AND c.is_active AND c.contest_type = 'referral_registered' AND u.referred_by_id IS NOT NULL
     GROUP BY c.id, u.id ORDER BY u.id
     ON CONFLICT (contest_id, referral_id) DO NOTHING RETURNING id`,
    [contestId, [...referralIds]],
  );
  return rows.length;
}

/** Renews the sums of a user's events, after movements have become the user's. */
export async function renewAmounts(db: Db, referralId: number): Promise<void> {
  await db.sql(
    `UPDATE referral_contest_events e SET amount_kopeks = ${paidBy('e.referral_id')} FROM referral_contests c
     WHERE c.id = e.contest_id AND e.referral_id = $1::int AND e.event_type = 'subscription_purchase' RETURNING e.id`,
    [referralId],
  );
}

/** Deletes the events by which the two have invited each other. */
export async function deleteMutualEvents(db: Db, a: number, b: number): Promise<void> {
  await db.sql(
    `DELETE FROM referral_contest_events WHERE (referrer_id = $1::int AND referral_id = $2::int)
       OR (referrer_id = $2::int AND referral_id = $1::int) RETURNING id`,
    [a, b],
  );
}
