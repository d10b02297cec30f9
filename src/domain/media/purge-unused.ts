import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { LOCK_NOT_AVAILABLE, sqlState } from '../../core/db/db-errors.ts';
import { deleteUnused, listKeysWithoutRow, listUnattached } from './repo.ts';

/** Rows that one statement looks at. */
const PAGE = 1_000;
/** Files of one transaction: texts are searched for each of them. */
const BATCH = 50;
/** An upload stores the content first and its row shortly afterwards; a restore takes longer. */
const MIN_AGE_DAYS = 1;
/** Without a row may be few contents only: else the database is probably not the one of this storage. */
const MAX_SHARE_WITHOUT_ROW = 0.5;
const FEW = 20;

/**
 * Deletes uploads that nothing refers to for `MEDIA_UNUSED_DAYS` days after they were uploaded, and then contents without a row (job `media.purge`,
 * daily). Rows go first: a process that ends between them leaves a content, which a later run finds. Backups and restores are excluded
 * meanwhile, batch by batch, because they read contents after the rows; while one is under way nothing is deleted, and the next run does it.
 */
export async function purgeUnusedMedia(app: App, signal: AbortSignal): Promise<void> {
  const days = app.env.mediaUnusedDays;
  if (days === 0) return;
  const uploads = await purgeUploads(app, addDays(app.clock.now(), -days), signal);
  const contents = await purgeContents(app, signal);
  if (uploads + contents > 0) app.log.info({ uploads, contents }, 'unused uploads deleted');
}

async function purgeUploads(app: App, before: Date, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (let after: string | null = ''; after !== null && !signal.aborted; ) {
    const page = await listUnattached(app.db, after, before, PAGE);
    for (let start = 0; start < page.unattached.length && !signal.aborted; start += BATCH) {
      const fileIds = page.unattached.slice(start, start + BATCH);
      const done = await app.db.long!.alone(async () => {
        const { rows, keys } = await deleteUnless(app, fileIds);
        for (const key of keys) await deleteContent(app, key);
        return rows;
      });
      if (done === null) return deleted;
      deleted += done.result;
    }
    after = page.last;
  }
  return deleted;
}

/** Somebody writes a text for longer than is waited: these files are left to the next run. */
async function deleteUnless(app: App, fileIds: readonly string[]): ReturnType<typeof deleteUnused> {
  try {
    return await deleteUnused(app, fileIds);
  } catch (error) {
    if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    // Any failure: only a lock that was waited for in vain comes here.
    app.log.info('unused uploads: a table is in use');
    return { rows: 0, keys: [] };
  }
}

/** Of the contents of the storage those without a row: uploads whose process ended, and rows that were deleted by a former run. */
async function purgeContents(app: App, signal: AbortSignal): Promise<number> {
  const newest = addDays(new Date(), -MIN_AGE_DAYS);
  const found: string[] = [];
  let looked = 0;
  let keys: string[] = [];
  const look = async () => {
    found.push(...(await listKeysWithoutRow(app.db, keys)));
    looked += keys.length;
    keys = [];
  };
  for await (const { key, storedAt } of app.ports.mediaStore.list()) {
    if (signal.aborted) return 0;
    if (storedAt < newest) keys.push(key);
    if (keys.length === PAGE) await look();
  }
  await look();
  if (found.length > FEW && found.length > looked * MAX_SHARE_WITHOUT_ROW) {
    app.log.error(
      { contents: looked, withoutRow: found.length },
      'most contents of the storage of uploads have no row: they are kept, because this may not be their database',
    );
    return 0;
  }
  let deleted = 0;
  for (let start = 0; start < found.length && !signal.aborted; start += BATCH) {
    const done = await app.db.long!.alone(async () => {
      // A restore may have stored their rows since.
      const gone = await listKeysWithoutRow(app.db, found.slice(start, start + BATCH));
      for (const key of gone) await deleteContent(app, key);
      return gone.length;
    });
    if (done === null) break;
    deleted += done.result;
  }
  return deleted;
}

/** A content that could not be deleted has no row any more: the next run finds it. */
async function deleteContent(app: App, key: string): Promise<void> {
  await app.ports.mediaStore
    .delete(key)
    .catch((error: unknown) => app.log.warn({ err: error }, 'the content of an unused upload could not be deleted yet'));
}
