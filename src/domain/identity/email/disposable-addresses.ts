import type { App } from '../../../core/app.ts';
import type { Db } from '../../../core/db/db.ts';
import { disposableEmail } from '../errors.ts';
import { KNOWN_DISPOSABLE_DOMAINS } from './known-disposable-domains.ts';

/**
 * Refuses an address of a disposable mail box: exact match of the domain against the stored list, or, as long as none was ever
 * fetched, against the built-in one (spec 01 section 2.6). The database is queried each time, so that a new list counts on every instance.
 * @param email in lower case
 * @throws AppError 400 'Disposable email addresses are not allowed'
 */
export async function refuseDisposable(app: App, email: string): Promise<void> {
  if (!app.settings.get('DISPOSABLE_EMAIL_CHECK_ENABLED')) return;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const { isListed, hasList } = await findDisposableDomain(app.db, domain);
  if (hasList ? isListed : KNOWN_DISPOSABLE_DOMAINS.has(domain)) throw disposableEmail();
}

/** @param domain in lower case */
async function findDisposableDomain(db: Db, domain: string): Promise<{ isListed: boolean; hasList: boolean }> {
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
