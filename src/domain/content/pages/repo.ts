import { allColumns, columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { DocumentKind, FaqPage, LegalDocument, ServiceRule } from './types.ts';

const PAGE = allColumns('FaqPage');
const SETTING = columns('FaqSetting', ['language', 'isEnabled']);
const ORDER = 'ORDER BY display_order, id';
const MAX_ORDER = 2_147_483_647;

export type FaqSetting = RowOf<typeof SETTING>;

/** Active pages of all languages. */
export function listActivePages(db: Db): Promise<FaqPage[]> {
  return db.sql<FaqPage>(`SELECT ${PAGE.of()} FROM faq_pages WHERE is_active ${ORDER}`);
}

export function listFaqSettings(db: Db): Promise<FaqSetting[]> {
  return db.sql<FaqSetting>(`SELECT ${SETTING.of()} FROM faq_settings`);
}

export function findPages(db: Db, languages: readonly string[], includeInactive: boolean): Promise<FaqPage[]> {
  return db.sql<FaqPage>(
    `SELECT ${PAGE.of()} FROM faq_pages WHERE language = ANY($1::text[]) AND (is_active OR $2::boolean) ${ORDER}`,
    [[...languages], includeInactive],
  );
}

export function findFaqSettings(db: Db, languages: readonly string[]): Promise<FaqSetting[]> {
  return db.sql<FaqSetting>(`SELECT ${SETTING.of()} FROM faq_settings WHERE language = ANY($1::text[])`, [[...languages]]);
}

export async function findPage(db: Db, id: number): Promise<FaqPage | null> {
  const [row] = await db.sql<FaqPage>(`SELECT ${PAGE.of()} FROM faq_pages WHERE id = $1::bigint`, [id]);
  return row ?? null;
}

/** Locks the switch of a language until the transaction ends, so that changes of its pages run one after another; made if missing. */
export async function lockFaqSetting(db: Db, language: string, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO faq_settings (language, is_enabled, created_at, updated_at) VALUES ($1, true, $2::timestamptz, $2::timestamptz)
     ON CONFLICT (language) DO UPDATE SET language = EXCLUDED.language RETURNING language`,
    [language, now],
  );
}

export async function saveFaqSetting(db: Db, { language, isEnabled }: FaqSetting, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO faq_settings (language, is_enabled, created_at, updated_at) VALUES ($1, $3::boolean, $2::timestamptz, $2::timestamptz)
     ON CONFLICT (language) DO UPDATE SET is_enabled = EXCLUDED.is_enabled, updated_at = EXCLUDED.updated_at RETURNING language`,
    [language, now, isEnabled],
  );
}

/** @param page without `displayOrder`: after the last one of the language */
export async function insertPage(
  db: Db,
  page: Pick<FaqPage, 'language' | 'title' | 'content' | 'isActive'> & { displayOrder: number | null },
  now: Date,
): Promise<FaqPage> {
  const [row] = await db.sql<FaqPage>(
    `INSERT INTO faq_pages (language, title, content, is_active, display_order, created_at, updated_at)
     SELECT $1::text, $2, $3, $4::boolean, COALESCE($5::int, (SELECT LEAST(COALESCE(max(display_order), 0)::bigint + 1, ${MAX_ORDER})
       FROM faq_pages WHERE language = $1::text)), $6::timestamptz, $6::timestamptz
     RETURNING ${PAGE.of()}`,
    [page.language, page.title, page.content, page.isActive, page.displayOrder, now],
  );
  return row!;
}

export async function updatePage(db: Db, { id, ...page }: FaqPage): Promise<void> {
  await db.prisma.faqPage.update({ where: { id }, data: page, select: { id: true } });
}

/** The page, locked until the transaction ends. */
export async function lockPage(db: Db, id: number): Promise<FaqPage | null> {
  const [row] = await db.sql<FaqPage>(`SELECT ${PAGE.of()} FROM faq_pages WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

/** @returns what it was; null when there is no such page */
export async function deletePage(db: Db, id: number): Promise<FaqPage | null> {
  const [row] = await db.sql<FaqPage>(`DELETE FROM faq_pages WHERE id = $1::bigint RETURNING ${PAGE.of()}`, [id]);
  return row ?? null;
}

/** The pages of a language in their order, locked until the transaction ends; new pages of it wait for the lock of its switch. */
export async function lockPages(db: Db, language: string): Promise<FaqPage[]> {
  await db.sql('SELECT language FROM faq_settings WHERE language = $1 FOR UPDATE', [language]);
  await db.sql('SELECT id FROM faq_pages WHERE language = $1 ORDER BY id FOR UPDATE', [language]);
  return db.sql<FaqPage>(`SELECT ${PAGE.of()} FROM faq_pages WHERE language = $1 ${ORDER}`, [language]);
}

/** Numbers the pages 1, 2, … in this order; those that have their number already stay untouched. */
export async function numberPages(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE faq_pages p SET display_order = n.place, updated_at = $2::timestamptz
     FROM unnest($1::int[]) WITH ORDINALITY AS n(id, place) WHERE p.id = n.id AND p.display_order <> n.place RETURNING p.id`,
    [[...ids], now],
  );
}

const DOCUMENT = columns('LegalDocument', ['kind', 'language', 'content', 'isEnabled', 'createdAt', 'updatedAt']);

/** The documents of a kind in all languages. */
export function listDocuments(db: Db, kind: DocumentKind): Promise<LegalDocument[]> {
  return db.sql<LegalDocument>(`SELECT ${DOCUMENT.of()} FROM legal_documents WHERE kind = $1 ORDER BY language`, [kind]);
}

export function findDocuments(db: Db, kind: DocumentKind, languages: readonly string[]): Promise<LegalDocument[]> {
  return db.sql<LegalDocument>(`SELECT ${DOCUMENT.of()} FROM legal_documents WHERE kind = $1 AND language = ANY($2::text[])`, [
    kind,
    [...languages],
  ]);
}

/** The document of a language, locked until the transaction ends; null = there is none. */
export async function lockDocument(db: Db, kind: DocumentKind, language: string): Promise<LegalDocument | null> {
  const [row] = await db.sql<LegalDocument>(
    `SELECT ${DOCUMENT.of()} FROM legal_documents WHERE kind = $1 AND language = $2 FOR UPDATE`,
    [kind, language],
  );
  return row ?? null;
}

/** Writes the document of a language. @param isEnabled null = as it is; a new one is enabled */
export async function saveDocument(
  db: Db,
  document: Pick<LegalDocument, 'kind' | 'language' | 'content'> & { isEnabled: boolean | null },
  now: Date,
): Promise<LegalDocument> {
  const { kind, language, content, isEnabled } = document;
  const [row] = await db.sql<LegalDocument>(
    `INSERT INTO legal_documents AS d (kind, language, content, is_enabled, created_at, updated_at)
     VALUES ($1, $2, $3, COALESCE($4::boolean, true), $5::timestamptz, $5::timestamptz)
     ON CONFLICT (kind, language) DO UPDATE SET content = EXCLUDED.content,
       is_enabled = COALESCE($4::boolean, d.is_enabled), updated_at = EXCLUDED.updated_at
     RETURNING ${DOCUMENT.of('d')}`,
    [kind, language, content, isEnabled, now],
  );
  return row!;
}

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
