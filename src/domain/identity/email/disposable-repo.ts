import type { Db } from '../../../core/db/db.ts';

/** @param domain in lower case */
export async function findDisposableDomain(db: Db, domain: string): Promise<{ isListed: boolean; hasList: boolean }> {
  const [row] = await db.sql<{ isListed: boolean; hasList: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM disposable_email_domains WHERE domain = $1) AS is_listed,
       EXISTS (SELECT 1 FROM disposable_email_domains) AS has_list`,
    [domain],
  );
  return row!;
}

export async function countDisposableDomains(db: Db): Promise<number> {
  const [row] = await db.sql<{ domains: number }>('SELECT count(*)::int AS domains FROM disposable_email_domains');
  return row!.domains;
}

/** Replaces the list; rows of both lists are not touched. Call in a transaction. */
export async function replaceDisposableDomains(db: Db, domains: readonly string[]): Promise<void> {
  await db.sql(
    `WITH list AS (SELECT DISTINCT unnest($1::text[]) AS domain),
     removed AS (DELETE FROM disposable_email_domains d WHERE NOT EXISTS (SELECT 1 FROM list WHERE list.domain = d.domain))
     INSERT INTO disposable_email_domains (domain) SELECT domain FROM list ORDER BY domain ON CONFLICT DO NOTHING RETURNING 1 AS written`,
    [domains],
  );
}
