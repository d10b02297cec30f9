/** Files that are attached while the purge of unused uploads runs (spec 05 section 10): a stored reference always has its file. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { runOutsideTransaction } from '../../src/core/db/root-guard.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { keepFile, recordReceived } from '../../src/domain/media/media.ts';
import { purgeUnusedMedia } from '../../src/domain/media/purge-unused.ts';
import { answerTicket, answerTicketByToken } from '../../src/domain/tickets/write-ticket.ts';
import { anAdmin } from '../support/admins.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { settled, times, won } from '../support/parallel.ts';
import { anOldStore, anUpload, isKnown } from '../support/stored-contents.ts';
import { storeRow } from '../support/stored-rows.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { aPerson, aTicket, token } from '../support/ticket-fixture.ts';

const FILES = 24;
const { signal } = new AbortController();
let stored: Awaited<ReturnType<typeof anOldStore>>;
let app: App;
let other: App;

beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  stored = await anOldStore();
  [app, other] = [await anInstance(), await anInstance()];
});
afterAll(() => stored.remove());

async function anInstance(): Promise<App> {
  const { app: made, ports } = await testApp();
  const messenger = Object.assign(Object.create(ports.messenger) as typeof ports.messenger, { isConfigured: () => false });
  return { ...made, ports: { ...ports, messenger, mediaStore: stored.store } };
}

/** Every stored reference of these files has its row and its content. */
async function expectWhole(
  files: readonly { fileId: string; storageKey: string }[],
  attached: readonly boolean[],
): Promise<void> {
  const keys = new Set(await stored.keys());
  for (const [index, { fileId, storageKey }] of files.entries()) {
    if (!attached[index]) continue;
    expect([await isKnown(app, fileId), keys.has(storageKey)]).toEqual([true, true]);
  }
}

test('answers of administrators: either the answer is refused or the file stays', async () => {
  const admin = await anAdmin(app);
  for (let round = 0; round < 4; round += 1) {
    const files = await times(FILES, () => anUpload(app, 30));
    const tickets = await times(FILES, async () => aTicket(app, await aPerson(app)));
    const draft = (fileId: string) => ({ text: 'see', mediaType: 'photo' as const, mediaFileId: fileId, mediaCaption: null });
    const purges = [purgeUnusedMedia(app, signal), purgeUnusedMedia(other, signal)];
    const answers = await settled(FILES, (n) =>
      answerTicket(n % 2 ? app : other, admin, tickets[n]!.id, draft(files[n]!.fileId)),
    );
    await Promise.all(purges);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 422 });
    await expectWhole(
      files,
      answers.map(({ status }) => status === 'fulfilled'),
    );
    await purgeUnusedMedia(app, signal);
    const left = await times(FILES, (n) => isKnown(app, files[n]!.fileId));
    expect(left.filter(Boolean)).toHaveLength(won(answers).length);
  }
});

test('a file that is locked is left out, and kept once it is attached', async () => {
  const { fileId, storageKey } = await anUpload(app, 30);
  const person = await aPerson(app);
  const ticket = await aTicket(app, person);
  await inTransaction(app, async (t) => {
    expect(await keepFile(t, fileId)).toBe(true);
    await purgeElsewhere();
    await storeRow(t, 'TicketMessage', {
      ticketId: ticket.id,
      userId: person.userId,
      messageText: 'x',
      hasMedia: true,
      mediaType: 'photo',
      mediaFileId: fileId,
    });
  });
  await purgeUnusedMedia(app, signal);
  expect([await isKnown(app, fileId), (await stored.keys()).includes(storageKey)]).toEqual([true, true]);
});

test('a text that is being written is waited for', async () => {
  const { fileId, storageKey } = await anUpload(app, 30);
  let purge: Promise<void> | undefined;
  await inTransaction(app, async (t) => {
    await storeRow(t, 'FaqPage', { language: 'xx', title: 'A page', content: `/media/${fileId}` });
    purge = purgeElsewhere();
    // It gives up after two seconds, perhaps before that was seen.
    await Promise.race([someoneWaitsForALock(app, 'LOCK TABLE'), purge]);
  });
  await purge;
  expect([await isKnown(app, fileId), (await stored.keys()).includes(storageKey)]).toEqual([true, true]);
});

test('API tokens: a file that is purged meanwhile is an id of the messenger, one that is not keeps its content', async () => {
  const files = await times(FILES, () => anUpload(app, 30));
  const tickets = await times(FILES, async () => aTicket(app, await aPerson(app)));
  const media = (n: number) => ({ mediaType: 'photo' as const, mediaFileId: files[n]!.fileId, mediaCaption: null });
  const purge = purgeUnusedMedia(other, signal);
  await times<unknown>(FILES, (n) =>
    n % 2 === 0
      ? answerTicketByToken(app, token, tickets[n]!.id, media(n))
      : inTransaction(app, async (t) => {
          await recordReceived(t, files[n]!.fileId, 'photo', 'pinned');
          await storeRow(t, 'PinnedMessage', { content: '', mediaType: 'photo', mediaFileId: files[n]!.fileId, isActive: false });
        }),
  );
  await purge;
  await purgeUnusedMedia(app, signal);
  const rows = await app.db.sql<{ fileId: string; storageKey: string | null }>(
    'SELECT file_id, storage_key FROM media_files WHERE file_id = ANY($1::text[])',
    [files.map(({ fileId }) => fileId)],
  );
  expect(rows).toHaveLength(FILES);
  const keys = new Set(await stored.keys());
  for (const { storageKey } of rows) if (storageKey !== null) expect(keys.has(storageKey)).toBe(true);
});

/** A purge of another instance, in the context of no transaction. */
function purgeElsewhere(): Promise<void> {
  return runOutsideTransaction(() => purgeUnusedMedia(other, signal));
}
