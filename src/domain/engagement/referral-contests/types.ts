import type { Rows } from '../../../core/db/columns.ts';
import type { ListedUser } from '../listed-user.ts';

/** Contests of referrers. Times are UTC, amounts kopeks. */

export type ReferralContest = Rows['ReferralContest'];

export interface LeaderboardEntry extends ListedUser {
  referralsCount: number;
  /** Referrals that paid something. */
  paidCount: number;
  totalAmountKopeks: number;
}

export interface ContestDetail extends ReferralContest {
  /** All events, also those outside of the period as it is now. */
  totalEvents: number;
  leaderboard: LeaderboardEntry[];
}

export interface ContestEvent {
  id: number;
  contestId: number;
  referrer: ListedUser;
  referral: ListedUser;
  eventType: Rows['ReferralContestEvent']['eventType'];
  amountKopeks: number;
  occurredAt: Date;
}

/** Somebody in a summary: a referrer, or an invented participant. */
export interface RankedParticipant {
  name: string;
  referralsCount: number;
  totalAmountKopeks: number;
}
