import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { LISTED_USER, type ListedUserRow, listedUser } from '../listed-user.ts';
import type { ContestEvent, LeaderboardEntry, RankedParticipant } from './types.ts';

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

export interface Totals {
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
