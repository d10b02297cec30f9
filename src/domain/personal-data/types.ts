import type { Rows } from '../../core/db/columns.ts';

export type DataRequest = Rows['DataRequest'];

/** The last mail to a person who is erased. */
export interface Farewell {
  to: string;
  language: string;
}

/** What can stand against an erasure. */
export const OBLIGATIONS = [
  'pending_withdrawal',
  'pending_payment',
  'waiting_approval',
  'open_case',
  'undelivered_purchase',
  'balance',
  'paid_subscription',
] as const;
export type Obligation = (typeof OBLIGATIONS)[number];
