import type { Db } from '../../core/db/db.ts';

/**
 * The next nonce of a sequence: one more than its last, but not below the Unix seconds, so that a lost database does not repeat nonces, nor
 * below `start` (03a section 10). The statement is a transaction of its own: its row lock orders all instances and ends before the provider is called.
 * @param scope provider, shop and key, without the key itself; at most 100 characters
 * @param start a positive decimal, which may be above the safe integers
 */
export async function nextNonce(db: Db, scope: string, { now, start }: { now: Date; start: string }): Promise<bigint> {
  const [row] = await db.sql<{ nonce: string }>(
    `INSERT INTO provider_nonces AS known (scope, last_nonce) VALUES ($1, GREATEST($2::bigint, $3::bigint))
     ON CONFLICT (scope) DO UPDATE SET last_nonce = GREATEST(known.last_nonce + 1, EXCLUDED.last_nonce)
     RETURNING last_nonce::text AS nonce`,
    [scope, Math.floor(now.getTime() / 1_000), start],
  );
  return BigInt(row!.nonce);
}
