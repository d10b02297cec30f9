import type { Db } from '../../core/db/db.ts';

/** @returns whether nobody was notified of this release before; of several callers at once, one gets true */
export async function insertNotice(db: Db, repo: string, tag: string, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO release_notices (repo, tag, created_at) VALUES ($1, $2, $3::timestamptz)
     ON CONFLICT (repo, tag) DO NOTHING RETURNING repo`,
    [repo, tag, now],
  );
  return rows.length > 0;
}
