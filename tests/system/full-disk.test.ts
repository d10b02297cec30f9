/** The disk of DATA_DIR is full (docs/drills.md, bad days): a file system of this test, which only root may mount. */

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createRequester } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { eventually } from '../support/eventually.ts';
import { aPng } from '../support/image-samples.ts';
import { fillMigratedFolder } from '../support/migrated-folder.ts';
import { type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

let disk: SmallDisk | null = null;
let service: ServiceProcess | null = null;
afterEach(async () => {
  await service?.kill();
  disk?.remove();
  disk = service = null;
});

/** @param skip leaves the test out where nothing can be mounted, with the reason */
function mounted(megabytes: number, skip: (reason: string) => never): SmallDisk {
  const made = smallDisk(megabytes);
  if (typeof made === 'string') return skip(made);
  disk = made;
  return made;
}

const start = async (dataDir: string, environment: Record<string, string> = {}) => {
  service = await startServiceProcess({ dataDir, environment: { LOG_LEVEL: 'warn', ...environment } });
  return service;
};

describe('a full disk', () => {
  test('of the embedded database: 503 until there is space, then it goes on, and nothing that was acknowledged is lost', async ({
    skip,
  }) => {
    const { path, fill, empty } = mounted(220, skip);
    await fillMigratedFolder(path);
    const first = await start(path);
    const token = first.apiToken!;
    const operator = createRequester(first.url, { 'x-api-key': token });
    let last = 0;
    const acknowledged: number[] = [];
    /** Each makes new pages, so that the free space inside of the files of the database ends. */
    const write = async () => {
      last += 1;
      const reply = await operator.post('/users', { messenger_id: last, first_name: 'x'.repeat(200) });
      if (reply.status === 200) acknowledged.push(last);
      return reply;
    };
    expect((await write()).status).toBe(200);
    fill();
    const refused = await eventually(async () => {
      const reply = await write();
      expect(reply.status).not.toBe(200);
      return reply;
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    for (let more = 0; more < 5; more += 1) expect([200, 503]).toContain((await write()).status);
    expect((await operator.get(`/users/${acknowledged[0]}`)).status).toBe(200);
    expect((await operator.get('/livez')).status).toBe(200);
    empty();
    await eventually(async () => expect((await write()).status).toBe(200));
    expect(await first.stop()).toBe(0);
    const second = await start(path);
    const again = createRequester(second.url, { 'x-api-key': token });
    for (const id of acknowledged) expect((await again.get(`/users/${id}`)).status, String(id)).toBe(200);
  });

  test.skipIf(!serverUrl)(
    'of uploads, backups and log files: they alone are refused, leave nothing half written, and go on when there is space (left out without a server: TEST_DATABASE_URL)',
    async ({ skip }) => {
      const { path, fill, empty } = mounted(24, skip);
      const database = await emptyDatabaseOnServer();
      onTestFinished(() => database.drop());
      const running = await start(path, {
        DATABASE_URL: database.url,
        BACKUP_LOCATION: join(path, 'backups'),
        LOG_LEVEL: 'debug',
      });
      const credential = { 'x-api-key': running.apiToken! };
      const operator = createRequester(running.url, credential);
      let people = 0;
      const write = async () => {
        people += 1;
        return (await operator.post('/users', { messenger_id: people, first_name: 'Vera' })).status;
      };
      const upload = async () => {
        const form = new FormData();
        form.append('file', new Blob([aPng(64, 64)], { type: 'image/png' }), 'photo.png');
        form.append('media_type', 'photo');
        return fetch(`${running.url}/upload`, { method: 'POST', headers: credential, body: form });
      };
      const backUp = async () => {
        const { task_id: taskId } = (await operator.post('/backups', undefined)).body;
        return eventually(async () => {
          const { status } = (await operator.get(`/backups/status/${taskId}`)).body;
          expect(status).toBeOneOf(['completed', 'failed']);
          return status;
        });
      };
      // Folders are made before what is in them, and the copied metadata of a backup when it is read.
      const files = async () => {
        const found = await readdir(path, { recursive: true, withFileTypes: true });
        const names = found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
        return names.filter((name) => !/\/(?:logs|\.metadata)\/|\/filler$/.test(name)).sort();
      };
      expect([(await upload()).status, await backUp()]).toEqual([200, 'completed']);
      const before = await files();
      fill();
      const refused = await upload();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await backUp()).toBe('failed');
      expect([await write(), (await operator.get('/readyz')).status]).toEqual([200, 200]);
      expect(await files()).toEqual(before);
      empty();
      expect([(await upload()).status, await backUp(), await write()]).toEqual([200, 'completed', 200]);
      const log = join(path, 'logs', 'bot.log');
      const size = async () => (await stat(log)).size;
      const written = await size();
      await eventually(async () => {
        await write();
        expect(await size()).toBeGreaterThan(written);
      });
      expect(await running.stop()).toBe(0);
    },
  );
});
