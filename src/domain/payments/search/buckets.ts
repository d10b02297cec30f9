import type { Payment } from '../types.ts';

/** What a payment is to administrators, of all methods alike (spec 03 section 4.4, H20). */
export type Bucket = 'paid' | 'pending' | 'cancelled';

export const BUCKETS: readonly Bucket[] = ['paid', 'pending', 'cancelled'];

/**
 * The one table of all methods: each adapter translates the words of its provider into an outcome, so that no word is unknown here. The SQL
 * function payment_bucket() (prisma/migrations/0011_admin_payments) is the same table; a test compares them.
 */
const BUCKET_OF_OUTCOME: Readonly<Record<Payment['outcome'], Bucket>> = {
  pending: 'pending',
  paid: 'paid',
  failed: 'cancelled',
  expired: 'cancelled',
  amount_mismatch: 'cancelled',
  /** A credited payment that was reversed stays paid. */
  refunded: 'cancelled',
};

export function bucketOf({ isPaid, outcome }: Pick<Payment, 'isPaid' | 'outcome'>): Bucket {
  return isPaid ? 'paid' : BUCKET_OF_OUTCOME[outcome];
}

/** The bucket of a row of `payments` under an alias, in the form that the indexes have. */
export const bucketSql = (alias: string) => `payment_bucket(${alias}.is_paid, ${alias}.outcome::text)`;
