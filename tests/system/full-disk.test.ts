/** The disk of DATA_DIR is full (docs/drills.md, bad days): a file system of this test, which only root may mount. */

import { afterEach, describe, expect, test } from 'vitest';
import { createRequester } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { eventually } from '../support/eventually.ts';
import { fillMigratedFolder } from '../support/migrated-folder.ts';
import { type SmallDisk, smallDisk } from '../support/small-disk.ts';

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
});
