import type { App } from '../../../core/app.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';

/** SQL: whether a message, broadcast or pinned message has the file `f`. Who writes such a row locks the file (`keepFile`). */
const IS_ATTACHED = `(EXISTS (SELECT 1 FROM ticket_messages r WHERE r.media_file_id = f.file_id)
  OR EXISTS (SELECT 1 FROM broadcast_history r WHERE r.media_file_id = f.file_id)
  OR EXISTS (SELECT 1 FROM pinned_messages r WHERE r.media_file_id = f.file_id))`;

/** Tables of texts and documents of operators, in which the address of a file may stand. All are small and seldom written. */
const TEXT_TABLES = [
  ...['legal_documents', 'faq_pages', 'service_rules', 'user_messages', 'welcome_texts', 'main_menu_buttons', 'menu_layouts'],
  ...['landing_pages', 'email_templates', 'promo_offer_templates', 'system_settings', 'polls', 'poll_questions', 'tariffs'],
  ...['contest_templates', 'referral_contests', 'pinned_messages', 'broadcast_history'],
] as const;

const IS_IN_A_TEXT = TEXT_TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} r WHERE strpos(r::text, f.file_id) > 0)`).join(
  '\n  OR ',
);

export interface UploadPage {
  /** Uploads that no row has. */
  unattached: string[];
  /** The last id that was looked at; null when there are no further ones. */
  last: string | null;
}

/** The next uploads in the order of their ids, of those before a moment. Reads by indexes. */
export async function listUnattached(db: Db, after: string, before: Date, limit: number): Promise<UploadPage> {
  const rows = await db.sql<{ fileId: string; isAttached: boolean | null }>(
    `SELECT f.file_id, CASE WHEN f.source = 'upload' AND f.created_at < $2::timestamptz THEN ${IS_ATTACHED} END AS is_attached
     FROM media_files f WHERE f.file_id > $1 ORDER BY f.file_id LIMIT $3::int`,
    [after, before, limit],
  );
  const unattached = rows.filter(({ isAttached }) => isAttached === false).map(({ fileId }) => fileId);
  return { unattached, last: rows.length < limit ? null : rows.at(-1)!.fileId };
}

/**
 * Deletes the rows of those of these files that nothing refers to, in one transaction. A file that somebody is about to attach is locked, and
 * left out. Everybody else who attaches waits for the end of this transaction, and finds that the file is gone. A text that is being
 * written is waited for, at most two seconds, and then read.
 * @returns how many, and the keys of their contents
 */
export function deleteUnused(app: App, fileIds: readonly string[]): Promise<{ rows: number; keys: string[] }> {
  return inTransaction(app, async ({ db }) => {
    await db.sql("SELECT set_config('lock_timeout', '2s', true) AS timeout");
    await db.sql(`LOCK TABLE ${TEXT_TABLES.join(', ')} IN SHARE MODE`);
    const locked = await db.sql<{ fileId: string }>(
      'SELECT file_id FROM media_files WHERE file_id = ANY($1::text[]) ORDER BY file_id FOR UPDATE SKIP LOCKED',
      [fileIds],
    );
    // A statement of its own: its snapshot is younger than the locks, so that it sees what was attached before them.
    const rows = await db.sql<{ storageKey: string | null }>(
      `DELETE FROM media_files f WHERE f.file_id = ANY($1::text[]) AND NOT ${IS_ATTACHED} AND NOT (${IS_IN_A_TEXT}) RETURNING f.storage_key`,
      [locked.map(({ fileId }) => fileId)],
    );
    return { rows: rows.length, keys: rows.flatMap(({ storageKey }) => storageKey ?? []) };
  });
}

/** Which of these keys no row has. */
export async function listKeysWithoutRow(db: Db, keys: readonly string[]): Promise<string[]> {
  const rows = await db.sql<{ key: string }>(
    `SELECT k.key FROM unnest($1::text[]) AS k (key) WHERE NOT EXISTS (SELECT 1 FROM media_files f WHERE f.storage_key = k.key)`,
    [keys],
  );
  return rows.map(({ key }) => key);
}
