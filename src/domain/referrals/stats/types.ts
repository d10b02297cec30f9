export type { TopReferral, TopReferrer } from './repo.ts';

/** Registrations of referrals and rewards within a time; kopeks. */
export interface WindowSums {
  referralsCount: number;
  earningsKopeks: number;
}

export interface DayStats extends WindowSums {
  /** `YYYY-MM-DD`, UTC. */
  date: string;
}

export interface PeriodChange {
  absolute: number;
  percent: number;
  trend: 'up' | 'down' | 'stable';
}

/** Sums since midnight UTC and over the last 7, 30 and 365 times 24 hours. */
export interface PeriodSums {
  allTime: WindowSums;
  year: WindowSums;
  month: WindowSums;
  week: WindowSums;
  today: WindowSums;
}

/** Referrals and earnings of one referrer (spec 04 section 5, item 1). */
export interface ReferrerStats extends PeriodSums {
  totalReferrals: number;
  paidReferrals: number;
  /** With a subscription that is active now. */
  activeReferrals: number;
}

/** The same of the whole service (spec 04 section 5, item 3). */
export interface GlobalStats extends PeriodSums {
  totalReferrers: number;
  totalReferrals: number;
  paidReferrals: number;
}

export interface ComparedPeriod extends WindowSums {
  days: number;
  start: Date;
  end: Date;
}
