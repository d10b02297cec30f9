import type { App } from '../../../core/app.ts';
import { countEvents, listEvents, listLeaders } from './event-repo.ts';
import { readReferralContest } from './manage-contests.ts';
import type { ContestDetail, ContestEvent, LeaderboardEntry } from './types.ts';

/** A contest with the first of its leaderboard, without invented participants (spec 04 section 11.4). @throws AppError 404 */
export async function readContestDetail(app: App, id: number, leaderboardLimit: number): Promise<ContestDetail> {
  const contest = await readReferralContest(app, id);
  const totalEvents = await countEvents(app.db, contest.id);
  return { ...contest, totalEvents, leaderboard: await listLeaders(app.db, contest.id, leaderboardLimit) };
}

/** Events of a contest, latest first. @throws AppError 404 */
export async function listContestEvents(
  app: App,
  id: number,
  page: { limit: number; offset: number },
): Promise<{ items: ContestEvent[]; total: number }> {
  const contest = await readReferralContest(app, id);
  return listEvents(app.db, contest.id, page);
}

export interface ContestStatistics {
  totalParticipants: number;
  totalInvited: number;
  totalPaidAmount: number;
  totalUnpaid: number;
  participants: LeaderboardEntry[];
}

/** All participants in the order of the leaderboard, and their sums. @throws AppError 404 */
export async function readContestStatistics(app: App, id: number): Promise<ContestStatistics> {
  const contest = await readReferralContest(app, id);
  const participants = await listLeaders(app.db, contest.id, null);
  const sum = (of: (entry: LeaderboardEntry) => number) => participants.reduce((total, entry) => total + of(entry), 0);
  return {
    totalParticipants: participants.length,
    totalInvited: sum(({ referralsCount }) => referralsCount),
    totalPaidAmount: sum(({ totalAmountKopeks }) => totalAmountKopeks),
    totalUnpaid: sum(({ referralsCount, paidCount }) => referralsCount - paidCount),
    participants,
  };
}
