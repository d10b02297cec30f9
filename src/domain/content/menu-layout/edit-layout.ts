import type { Actor } from '../../../core/actor.ts';
import { actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { CHAT_LAYOUT, DEFAULT_LAYOUT, documentOf, historyNotFound } from './layout.ts';
import { addHistory, findHistoryEntry, lockLayout, pruneHistory, storeLayout } from './repo.ts';
import type { LayoutAction, MenuDocument, StoredLayout } from './types.ts';

/** The history's maximum of entries. */
const MAX_HISTORY = 200;

const editorName = (actor: Actor): string => (actor.kind === 'token' ? actor.name : actorKey(actor));

/** Stores the document with its entry in the history, in the caller's transaction. */
async function store(t: App, actor: Actor, document: string, action: LayoutAction, changesSummary: string): Promise<void> {
  const now = t.clock.now();
  await storeLayout(t.db, CHAT_LAYOUT, document, now);
  const entry = { layoutName: CHAT_LAYOUT, document, action, changesSummary, userInfo: editorName(actor) };
  await addHistory(t.db, entry, now);
  await pruneHistory(t.db, CHAT_LAYOUT, MAX_HISTORY);
}

export interface LayoutEdit {
  action: 'update' | 'reset' | 'import';
  /** One short sentence for the history. */
  summary: string;
  /** Makes the next document from the current one; when it throws, nothing is stored. */
  change: (document: MenuDocument) => MenuDocument;
}

/**
 * One edit of the chat menu's layout. The document's row is locked from reading to writing, so that edits are sequential; the result is
 * added to the history in the same transaction (spec 05 section 7.4 and section 16, invariant 6).
 * @throws AppError of the change
 */
export function editLayout(app: App, actor: Actor, edit: LayoutEdit): Promise<StoredLayout & { before: MenuDocument }> {
  return inTransaction(app, async (t) => {
    const before = documentOf(await lockLayout(t.db, CHAT_LAYOUT, JSON.stringify(DEFAULT_LAYOUT), t.clock.now()));
    const document = edit.change(before);
    await store(t, actor, JSON.stringify(document), edit.action, edit.summary);
    return { before, document, updatedAt: t.clock.now() };
  });
}

/** Stores the default document. */
export function resetLayout(app: App, actor: Actor): Promise<StoredLayout> {
  return editLayout(app, actor, { action: 'reset', summary: 'Reset to the default layout', change: () => DEFAULT_LAYOUT });
}

/**
 * Restores the document of a history entry, byte by byte; the current one is added to the history first.
 * @throws AppError 404 unknown or pruned entry
 */
export function rollbackLayout(app: App, actor: Actor, historyId: number): Promise<StoredLayout> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    const current = await lockLayout(t.db, CHAT_LAYOUT, JSON.stringify(DEFAULT_LAYOUT), now);
    const entry = await findHistoryEntry(t.db, CHAT_LAYOUT, historyId);
    if (!entry) throw historyNotFound(historyId);
    await store(t, actor, current, 'rollback_backup', `Kept before a rollback to entry ${historyId}`);
    await store(t, actor, entry.document, 'rollback', `Rolled back to entry ${historyId}`);
    return { document: documentOf(entry.document), updatedAt: now };
  });
}
