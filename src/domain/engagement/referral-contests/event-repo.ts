import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { LISTED_USER, type ListedUserRow, listedUser } from '../listed-user.ts';
import type { ContestEvent, LeaderboardEntry, RankedParticipant } from './types.ts';

/** Events that count: inside of the period of their contest as it is now. */
const COUNTED = `referral_contest_events e JOIN referral_contests c ON c.id = e.contest_id
  AND e.occurred_at >= c.start_at AND e.occurred_at <= c.closes_at`;

/** Events of a contest, also outside of its period. */
export async function countEvents(db: Db, contestId: number): Promise<number> {
  return db.prisma.referralContestEvent.count({ where: { contestId } });
}

/** Referrers by their referrals, then by what those paid, then by id (spec 04 section 11.4). @param limit null = all of them */
export async function listLeaders(db: Db, contestId: number, limit: number | null): Promise<LeaderboardEntry[]> {
  const rows = await db.sql<
    ListedUserRow & Pick<LeaderboardEntry, 'referralsCount' | 'paidCount' | 'totalAmountKopeks'> & { id: number }
  >(
    `SELECT f.*, ${LISTED_USER.of('u')} FROM (
       SELECT e.referrer_id AS id, count(*)::int AS referrals_count, (count(*) FILTER (WHERE e.amount_kopeks > 0))::int AS paid_count,
         sum(abs(e.amount_kopeks))::bigint AS total_amount_kopeks
       FROM ${COUNTED} WHERE e.contest_id = $1::int GROUP BY e.referrer_id
       ORDER BY referrals_count DESC, total_amount_kopeks DESC, e.referrer_id LIMIT $2::int) f
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
    `SELECT count(DISTINCT e.referrer_id)::int AS participants, count(*)::int AS referrals,
       coalesce(sum(abs(e.amount_kopeks)), 0)::bigint AS amount_kopeks FROM ${COUNTED} WHERE e.contest_id = $1::int`,
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
  const from = `FROM referral_contest_events e JOIN users f ON f.id = e.referrer_id AND f.status <> 'deleted'
    JOIN users r ON r.id = e.referral_id AND r.status <> 'deleted' WHERE e.contest_id = $1::int`;
  const rows = await db.sql<RowOf<typeof EVENT> & Prefixed<'referrer'> & Prefixed<'referral'>>(
    `SELECT ${EVENT.of('e')}, ${named('f', 'referrer')}, ${named('r', 'referral')} ${from}
     ORDER BY e.occurred_at DESC, e.id LIMIT $2::int OFFSET $3::bigint`,
    [contestId, page.limit, page.offset],
  );
  const [count] = await db.sql<{ n: number }>(`SELECT count(*)::int AS n ${from}`, [contestId]);
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
