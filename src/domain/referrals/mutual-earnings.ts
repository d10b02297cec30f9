import type { Db } from '../../core/db/db.ts';

/** Deletes the earnings of the two from each other (spec 01 section 8). The money stays where it is. */
export async function deleteMutualEarnings(db: Db, secondaryId: number, primaryId: number): Promise<void> {
  await db.sql(
    `DELETE FROM referral_earnings WHERE (user_id = $1::int AND referral_id = $2::int) OR (user_id = $2::int AND referral_id = $1::int)
     RETURNING id`,
    [secondaryId, primaryId],
  );
}
