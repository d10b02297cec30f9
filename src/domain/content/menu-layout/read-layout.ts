import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { DEFAULT_LAYOUT } from './default-layout.ts';
import { readDocument } from './read-document.ts';
import { findHistoryEntry, findLayout, listHistoryRows } from './repo.ts';
import type { HistoryEntry, MenuDocument, StoredLayout } from './types.ts';

/** Name of the chat menu's document. */
export const CHAT_LAYOUT = 'chat';

/** A stored text as a document; the default layout when it cannot be read. */
export function documentOf(stored: string): MenuDocument {
  return readDocument(JSON.parse(stored)) ?? DEFAULT_LAYOUT;
}

/** The current layout, read from the database without a cache (spec 05 section 7.1). */
export async function readLayout(app: App): Promise<StoredLayout> {
  const row = await findLayout(app.db, CHAT_LAYOUT);
  return row ? { document: documentOf(row.document), updatedAt: row.updatedAt } : { document: DEFAULT_LAYOUT, updatedAt: null };
}

export const historyNotFound = refusal('menu_history_not_found', 404, 'History entry <n> not found', (id: number) => ({
  detail: `History entry ${id} not found`,
}));

/** Newest first. */
export function listHistory(
  app: App,
  page: { limit: number; offset: number },
): Promise<{ items: HistoryEntry[]; total: number }> {
  return listHistoryRows(app.db, CHAT_LAYOUT, page);
}

/** @throws AppError 404 unknown or pruned entry */
export async function readHistoryEntry(app: App, id: number): Promise<HistoryEntry & { config: MenuDocument }> {
  const entry = await findHistoryEntry(app.db, CHAT_LAYOUT, id);
  if (!entry) throw historyNotFound(id);
  const { document, ...edit } = entry;
  return { ...edit, config: documentOf(document) };
}
