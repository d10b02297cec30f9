/** One of the two people of a referral, with how to reach them. */
export interface ReferralParty {
  id: number;
  status: string;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  emailVerified: boolean;
  language: string;
  referredById: number | null;
  /** The first top-up has been made and, where it was due, rewarded: no bonus is to come for it. */
  hasMadeFirstTopup: boolean;
  /** Personal commission; null = the service-wide one. */
  commissionPercent: number | null;
}
