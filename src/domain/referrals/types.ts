export type { ReferralUser } from './repo.ts';

export interface ReferralPair {
  referrerId: number;
  referralId: number;
}
