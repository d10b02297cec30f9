import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import type { Database } from '../../../src/core/db/database.ts';
import { purgeUnusedMedia } from '../../../src/domain/media/purge-unused.ts';
import { answerTicketByToken } from '../../../src/domain/tickets/write-ticket.ts';
import { anOldStore, anUpload, isKnown } from '../../support/stored-contents.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';
import { emptyDatabase } from '../../support/test-database.ts';
import { aPerson, aTicket, token } from '../../support/ticket-fixture.ts';

const { signal } = new AbortController();
let app: App;
let database: Database;
let stored: Awaited<ReturnType<typeof anOldStore>>;
beforeEach(async () => {
  stored = await anOldStore();
  app = await anApp();
});
afterEach(async () => {
  await stored.remove();
  await emptyDatabase(database);
});

async function anApp(environment: Record<string, string> = {}): Promise<App> {
  const t = await testApp({ environment });
  database = t.database;
  const messenger = Object.assign(Object.create(t.ports.messenger) as typeof t.ports.messenger, { isConfigured: () => false });
  return { ...t.app, ports: { ...t.ports, messenger, mediaStore: stored.store } };
}

const A_YEAR_AGO = addDays(new Date(), -365);
const aPinnedMessage = (mediaFileId: string) =>
  storeRow(app, 'PinnedMessage', { content: '', mediaType: 'photo', mediaFileId, isActive: false });

/** Everything that refers to a file. */
const REFERENCES: [name: string, refer: (fileId: string) => Promise<unknown>][] = [
  [
    'a message of a ticket',
    async (fileId) => {
      const ticket = await aTicket(app, await aPerson(app));
      return answerTicketByToken(app, token, ticket.id, { mediaType: 'photo', mediaFileId: fileId, mediaCaption: null });
    },
  ],
  [
    'a broadcast',
    (mediaFileId) => storeRow(app, 'Broadcast', { targetType: 'all', hasMedia: true, mediaType: 'photo', mediaFileId }),
  ],
  [
    'the mail of a broadcast',
    (fileId) =>
      storeRow(app, 'Broadcast', {
        targetType: 'all_email',
        channel: 'email',
        emailHtmlContent: `<img src="https://bot.example.com/media/${fileId}">`,
      }),
  ],
  ['a pinned message that is not active', (fileId) => aPinnedMessage(fileId)],
  [
    'a welcome text that is not active',
    (fileId) => storeRow(app, 'WelcomeText', { text: `<a href="/media/${fileId}">file</a>`, isActive: false }),
  ],
  ['a page', (fileId) => storeRow(app, 'FaqPage', { language: 'ru', title: 'A page', content: `<img src="/media/${fileId}">` })],
  [
    'the template of a mail',
    (fileId) =>
      storeRow(app, 'EmailTemplate', {
        notificationType: 'balance_topup',
        language: 'ru',
        subject: 'S',
        bodyHtml: `<img src="/media/${fileId}">`,
      }),
  ],
];

describe('uploads that nothing refers to', () => {
  test('are deleted with their content after the days of the setting, and not before', async () => {
    const [old, young] = [await anUpload(app, 8), await anUpload(app, 6)];
    await purgeUnusedMedia(app, signal);
    expect(await isKnown(app, old.fileId)).toBe(false);
    expect(await isKnown(app, young.fileId)).toBe(true);
    expect(await stored.keys()).toEqual([young.storageKey]);
    const other = await anApp({ MEDIA_UNUSED_DAYS: '5' });
    await purgeUnusedMedia(other, signal);
    expect(await isKnown(app, young.fileId)).toBe(false);
  });

  test('are kept for ever with 0', async () => {
    const { fileId, storageKey } = await anUpload(app, 4_000);
    await purgeUnusedMedia(await anApp({ MEDIA_UNUSED_DAYS: '0' }), signal);
    expect([await isKnown(app, fileId), await stored.keys()]).toEqual([true, [storageKey]]);
  });

  test.each(REFERENCES)('are kept while there is %s', async (_, refer) => {
    const [used, unused] = [await anUpload(app, 30), await anUpload(app, 30)];
    await refer(used.fileId);
    await purgeUnusedMedia(app, signal);
    expect(await isKnown(app, used.fileId)).toBe(true);
    expect(await isKnown(app, unused.fileId)).toBe(false);
    expect(await stored.keys()).toEqual([used.storageKey]);
  });

  test('ids of the messenger that came with a message are no uploads, and stay', async () => {
    await storeRow(app, 'MediaFile', {
      fileId: 'AgADreceived',
      mediaType: 'photo',
      source: 'ticket',
      messengerFileId: 'AgADreceived',
      createdAt: A_YEAR_AGO,
    });
    await purgeUnusedMedia(app, signal);
    expect(await isKnown(app, 'AgADreceived')).toBe(true);
  });

  test('many are deleted page by page, those behind used ones too', async () => {
    const { fileId } = await anUpload(app, 30);
    const many = Array.from({ length: 2_500 }, (_, n) => ({
      fileId: `file_many_${n + 1}`,
      mediaType: 'photo' as const,
      source: 'upload' as const,
      createdAt: A_YEAR_AGO,
    }));
    await storeRows(app, 'MediaFile', many);
    for (const id of [fileId, 'file_many_7']) await aPinnedMessage(id);
    await purgeUnusedMedia(app, signal);
    const rows = await app.db.sql<{ fileId: string }>('SELECT file_id FROM media_files ORDER BY file_id');
    expect(rows.map((row) => row.fileId).sort()).toEqual([fileId, 'file_many_7'].sort());
  });

  test('nothing is deleted while a backup or restore is under way', async () => {
    const { fileId, storageKey } = await anUpload(app, 30);
    await app.db.long!.alone(() => purgeUnusedMedia(app, signal));
    expect([await isKnown(app, fileId), await stored.keys()]).toEqual([true, [storageKey]]);
    await purgeUnusedMedia(app, signal);
    expect(await stored.keys()).toEqual([]);
  });
});

describe('contents without a row', () => {
  const LOST = 'lost-content-of-a-test-0123';

  test('are deleted when they are older than a day, also what an interrupted upload left', async () => {
    const { storageKey } = await anUpload(app, 1);
    await stored.store.put(LOST, Buffer.from('lost'), 'image/png');
    const young = 'young-content-of-a-test-01';
    await mkdir(join(stored.folder, 'yo'), { recursive: true });
    await writeFile(join(stored.folder, 'yo', young), 'young');
    const part = `${LOST}.0123456789ab.part`;
    await writeFile(join(stored.folder, 'lo', part), 'part');
    await utimes(join(stored.folder, 'lo', part), addDays(new Date(), -2), addDays(new Date(), -2));
    await writeFile(join(stored.folder, 'lo', 'notes.txt'), 'somebody else has put this here');
    await purgeUnusedMedia(app, signal);
    expect(await stored.keys()).toEqual([storageKey, young].sort());
  });

  test('whose rows are gone although their deletion failed are deleted by the next run', async () => {
    const { fileId, storageKey } = await anUpload(app, 30);
    const broken = { ...stored.store, delete: () => Promise.reject(new Error('away')) };
    await purgeUnusedMedia({ ...app, ports: { ...app.ports, mediaStore: broken } }, signal);
    expect([await isKnown(app, fileId), await stored.keys()]).toEqual([false, [storageKey]]);
    await purgeUnusedMedia(app, signal);
    expect(await stored.keys()).toEqual([]);
  });

  test('are kept when most contents have no row: the storage is probably not of this database', async () => {
    const { storageKey } = await anUpload(app, 1);
    const keys = Array.from({ length: 30 }, (_, n) => `content-of-another-database-${n}`);
    for (const key of keys) await stored.store.put(key, Buffer.from('x'), 'image/png');
    await purgeUnusedMedia(app, signal);
    expect(await stored.keys()).toEqual([...keys, storageKey].sort());
  });

  test('a storage that is away leaves everything as it is', async () => {
    await anUpload(app, 1);
    const away = {
      ...stored.store,
      // biome-ignore lint/correctness/useYield: it fails before it has anything
      list: async function* () {
        throw new Error('the storage is away');
      },
    };
    await expect(purgeUnusedMedia({ ...app, ports: { ...app.ports, mediaStore: away } }, signal)).rejects.toThrow('away');
    expect(await stored.keys()).toHaveLength(1);
  });
});
