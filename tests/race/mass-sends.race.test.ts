import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createByToken, readBroadcast, stopBroadcast } from '../../src/domain/broadcasts/broadcasts.ts';
import { leaseSends, pauseSends } from '../../src/domain/mass-sends/pace.ts';
import { aSegment } from '../support/audience-samples.ts';
import { aBroadcast, FAST, recordingMessenger, runParts } from '../support/broadcast-samples.ts';
import { aTariff } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

let t: TestApp;
let database: TestDatabase;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  // Of its own: the segment "all" has the users of this file only.
  database = await freshDatabase();
  t = await testApp({ environment: FAST, database });
});
afterAll(() => database.drop());

describe('the shared pace (spec 05 section 15)', () => {
  test('fifty leases at once follow one another, whoever takes them', async () => {
    await t.app.db.sql('TRUNCATE send_paces');
    const from = performance.now();
    const waits = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const waitMs = await leaseSends(t.app.db, 'messenger', { count: 25, perSecond: 25, maxWaitMs: 1_000_000 });
        return waitMs + performance.now() - from;
      }),
    );
    // The n-th share begins n seconds after the first at the earliest; measured late, so never too early.
    waits.sort((a, b) => a - b);
    for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(index * 1_000);
    expect(waits[49]).toBeLessThan(50_000 + (performance.now() - from));
    await t.app.db.sql('TRUNCATE send_paces');
  });

  test('what would wait too long takes nothing, and a pause is kept', async () => {
    await t.app.db.sql('TRUNCATE send_paces');
    const lease = (count: number, maxWaitMs: number) => leaseSends(t.app.db, 'messenger', { count, perSecond: 25, maxWaitMs });
    expect(await lease(1_000, 0)).toBeLessThanOrEqual(1);
    const [before] = await t.app.db.sql('SELECT next_at FROM send_paces');
    expect(await lease(25, 5_000)).toBeGreaterThan(5_000);
    expect(await t.app.db.sql('SELECT next_at FROM send_paces')).toEqual([before]);
    await t.app.db.sql('TRUNCATE send_paces');
    await pauseSends(t.app.db, 'messenger', 600);
    await pauseSends(t.app.db, 'messenger', 5);
    expect(await lease(1, 1_000)).toBeGreaterThan(500_000);
    await t.app.db.sql('TRUNCATE send_paces');
  });
});

test('spec 10 O8: two instances together send at most 30 messages in any second, each at its own time', async () => {
  await t.app.db.sql('TRUNCATE send_paces');
  const arrivals: number[] = [];
  // Two instances with the default pace and one database; the receiver notes when each message comes.
  const work = async () => {
    const { app } = await testApp({ database });
    const { target } = await aSegment(app, 35);
    const { messenger } = recordingMessenger(app).app.ports;
    const sendMessage: typeof messenger.sendMessage = (...message) => {
      arrivals.push(performance.now());
      return messenger.sendMessage(...message);
    };
    const instance = { ...app, ports: { ...app.ports, messenger: { ...messenger, sendMessage } } };
    return { instance, broadcast: await aBroadcast(instance, target) };
  };
  const parts = [await work(), await work()];
  await Promise.all(
    parts.map(async ({ instance, broadcast }) => {
      // A run whose next time is more than some seconds away ends, and a later one continues.
      while ((await runParts(instance, broadcast)).some(({ isOver }) => !isOver)) await delay(100);
    }),
  );
  expect(arrivals).toHaveLength(70);
  arrivals.sort((a, b) => a - b);
  const inSecondFrom = (from: number) => arrivals.filter((at) => at >= from && at < from + 1_000).length;
  expect(Math.max(...arrivals.map(inSecondFrom))).toBeLessThanOrEqual(30);
  await t.app.db.sql('TRUNCATE send_paces');
});

test('ten workers of one broadcast at once: each recipient gets one message (spec 05 section 16, invariant 3)', async () => {
  const { target, users } = await aSegment(t.app, 60);
  const { app, sent } = recordingMessenger(t.app);
  const broadcast = await aBroadcast(app, target);
  await Promise.all(Array.from({ length: 10 }, () => runParts(app, broadcast)));
  expect(sent.map(({ chatId }) => chatId).sort()).toEqual(users.map(({ messengerId }) => messengerId).sort());
  expect(await readBroadcast(app, broadcast.id)).toMatchObject({ status: 'completed', sentCount: 60, repeatedCount: 0 });
});

test('twenty stops while it is sent: one end, and no message after it (spec 05 section 16, invariant 3)', async () => {
  const { target } = await aSegment(t.app, 200);
  const { app, sent } = recordingMessenger(t.app);
  const broadcast = await aBroadcast(app, target);
  const running = runParts(app, broadcast);
  const stops = await Promise.allSettled(Array.from({ length: 20 }, () => stopBroadcast(app, broadcast.id)));
  await running;
  for (const stop of stops) if (stop.status === 'rejected') expect(stop.reason).toMatchObject({ status: 400 });
  const after = await readBroadcast(app, broadcast.id);
  expect(['cancelled', 'completed']).toContain(after.status);
  expect(after.sentCount).toBe(sent.length);
});

test('ten requests with one Idempotency-Key: one broadcast', async () => {
  const tariff = await aTariff(t.app);
  const request = { target: 'all', messageText: `Once ${tariff}`, media: null, selectedButtons: ['home'] };
  const actor = { kind: 'token', tokenId: 1, name: 'shop' } as const;
  const made = await Promise.all(Array.from({ length: 10 }, () => createByToken(t.app, actor, request, `key-${tariff}`)));
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect(
    await t.app.db.sql('SELECT count(*)::int AS n FROM broadcast_history WHERE message_text = $1', [request.messageText]),
  ).toEqual([{ n: 1 }]);
  await stopBroadcast(t.app, made[0]!.id);
});
