import { columns } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { DocumentKind, LegalDocument } from './types.ts';

const DOCUMENT = columns('LegalDocument', ['kind', 'language', 'content', 'isEnabled', 'createdAt', 'updatedAt']);

/** The documents of a kind in all languages. */
export function listDocuments(db: Db, kind: DocumentKind): Promise<LegalDocument[]> {
  return db.sql<LegalDocument>(`SELECT ${DOCUMENT.of()} FROM legal_documents WHERE kind = $1 ORDER BY language`, [kind]);
}

/** The documents of a kind in these languages. */
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
