/** Workers of one broadcast as processes of their own, killed at random: what is promised of it holds whatever happens to a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBroadcast } from '../../src/domain/broadcasts/broadcasts.ts';
import { readSends } from '../../src/domain/mass-sends/control-sends.ts';
import { findSend } from '../../src/domain/mass-sends/repo.ts';
import { aCrowd } from '../support/audience-samples.ts';
import { aBroadcast, FAST, recipientsOf } from '../support/broadcast-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

let t: TestApp;
let database: TestDatabase;

/** Users whom the messenger knows. */
async function aMessengerCrowd(count: number): Promise<number[]> {
  const ids = await aCrowd(t.app, count);
  await t.app.db.sql('UPDATE users SET messenger_id = 7000000000 + id WHERE id = ANY($1::int[]) RETURNING id', [ids]);
  return ids;
}

describe.skipIf(!serverUrl)('10,000 recipients and 20 kills (left out without a server: TEST_DATABASE_URL)', () => {
  const RECIPIENTS = 10_000;
  const KILLS = 20;
  /** What a worker has under way at most: its lanes, one share each. */
  const UNDER_WAY = 75;

  const received = new Map<number, number>();
  let messenger: Server;
  let messages = 0;
  const workers = new Set<ChildProcess>();
  /** Numbers of messages at which the worker is killed. */
  let kills: number[] = [];

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 5 });
    t = await testApp({ environment: FAST, database });
    messenger = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { chat_id: chatId } = JSON.parse(Buffer.concat(chunks).toString()) as { chat_id: number };
        received.set(chatId, (received.get(chatId) ?? 0) + 1);
        messages += 1;
        if (messages === kills[0]) {
          kills.shift();
          // The token names the process that sent this message.
          const pid = Number(/\/bot(\d+)\//.exec(request.url ?? '')?.[1]);
          [...workers].find((worker) => worker.pid === pid)?.kill('SIGKILL');
        }
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ ok: true, result: { message_id: messages, date: 0, chat: { id: chatId, type: 'private' } } }),
        );
      });
    });
    // A stalled process does not find its connection closed.
    messenger.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => messenger.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    messenger.closeAllConnections();
    messenger.close();
    await database.drop();
  });

  test('spec 10 O14: nobody gets it twice, and who may not have got it is unconfirmed (spec 05 section 16, invariant 3)', async () => {
    await t.app.db.sql("UPDATE users SET status = 'blocked' RETURNING id");
    const ids = await aMessengerCrowd(RECIPIENTS);
    const broadcast = await aBroadcast(t.app, 'all');
    // The administrator who sent it is a user too.
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE NOT (id = ANY($1::int[])) RETURNING id", [ids]);
    const [part] = await readSends(t.app, 'broadcast', [broadcast.id]);
    // The same places in each run of the test: 20 of them, spread by a multiplier without a common divisor. With the 75 that each kill can
    // leave unconfirmed without a message, the last still comes before all recipients are through.
    kills = Array.from({ length: KILLS }, (_value, index) => 150 + ((index * 7_919) % 97) * 80).sort((a, b) => a - b);
    const url = `http://127.0.0.1:${(messenger.address() as AddressInfo).port}`;
    let killed = 0;
    const startWorker = async (): Promise<void> => {
      const script = join(import.meta.dirname, '..', 'support', 'send-worker.ts');
      const worker = spawn(process.execPath, [script, database.url!, url, String(part!.id)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      workers.add(worker);
      const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null];
      workers.delete(worker);
      if (signal === null) return expect(code).toBe(0);
      killed += 1;
      return startWorker();
    };
    // One works, the others wait for its lease to end, as on other instances.
    await Promise.all([startWorker(), startWorker(), startWorker()]);
    expect(killed).toBe(KILLS);
    const after = await readBroadcast(t.app, broadcast.id);
    const { unconfirmedCount } = after;
    expect(after).toMatchObject({ status: 'partial', totalCount: RECIPIENTS, failedCount: 0, repeatedCount: 0 });
    expect(after.sentCount + unconfirmedCount).toBe(RECIPIENTS);
    const rows = await recipientsOf(t.app, broadcast);
    expect(rows).toHaveLength(RECIPIENTS);
    const times = (userId: number) => received.get(7_000_000_000 + userId) ?? 0;
    expect(rows.filter(({ userId }) => times(userId) > 1)).toEqual([]);
    expect(rows.filter(({ userId, state }) => times(userId) < 1 && state !== 'unconfirmed')).toEqual([]);
    // Each run but the first has taken the send over from one that was killed, or did not renew its lease because it got no processor.
    const takenOver = (await findSend(t.app.db, part!.id))!.run - 1;
    expect(takenOver).toBeGreaterThanOrEqual(KILLS);
    expect(unconfirmedCount).toBeLessThanOrEqual(takenOver * UNDER_WAY);
  });
});
