import { allColumns } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { ServiceRule } from './types.ts';

const RULE = allColumns('ServiceRule');

/** The active version of each language. */
export function listActiveRules(db: Db): Promise<ServiceRule[]> {
  return db.sql<ServiceRule>(`SELECT ${RULE.of()} FROM service_rules WHERE is_active ORDER BY language`);
}

export function findActiveRules(db: Db, languages: readonly string[]): Promise<ServiceRule[]> {
  return db.sql<ServiceRule>(`SELECT ${RULE.of()} FROM service_rules WHERE is_active AND language = ANY($1::text[])`, [
    [...languages],
  ]);
}

/** Versions of a language, newest first. */
export function listRuleVersions(db: Db, language: string, limit: number): Promise<ServiceRule[]> {
  return db.sql<ServiceRule>(
    `SELECT ${RULE.of()} FROM service_rules WHERE language = $1 ORDER BY created_at DESC, id DESC LIMIT $2::int`,
    [language, limit],
  );
}

export async function findRuleVersion(db: Db, id: number, language: string): Promise<ServiceRule | null> {
  const [row] = await db.sql<ServiceRule>(`SELECT ${RULE.of()} FROM service_rules WHERE id = $1::bigint AND language = $2`, [
    id,
    language,
  ]);
  return row ?? null;
}

/**
 * Changes of the active version of a language run one after another. The old version is deactivated and a new row is added, and a second
 * transaction would not see the row that the first has added.
 */
export async function lockRules(db: Db, language: string): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('content.rules:' || $1::text))::text AS locked", [language]);
}

/** @returns the version that was in force; null = none */
export async function deactivateRules(db: Db, language: string, now: Date): Promise<ServiceRule | null> {
  const [row] = await db.sql<ServiceRule>(
    `UPDATE service_rules SET is_active = false, updated_at = $2::timestamptz WHERE language = $1 AND is_active RETURNING ${RULE.of()}`,
    [language, now],
  );
  return row ?? null;
}

/** Adds an active version. */
export async function insertRules(
  db: Db,
  rules: Pick<ServiceRule, 'language' | 'title' | 'content'>,
  now: Date,
): Promise<ServiceRule> {
  const [row] = await db.sql<ServiceRule>(
    `INSERT INTO service_rules (language, title, content, is_active, created_at, updated_at)
     VALUES ($1, $2, $3, true, $4::timestamptz, $4::timestamptz) RETURNING ${RULE.of()}`,
    [rules.language, rules.title, rules.content, now],
  );
  return row!;
}
