import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { findSend } from '../../src/domain/mass-sends/repo.ts';
import {
  activateMessage,
  broadcastMessage,
  createPinnedMessage,
  deletePinnedMessage,
  listPinnedMessages,
  readActiveMessage,
  unpinMessage,
} from '../../src/domain/pinned-messages/pinned-messages.ts';
import { FAST } from '../support/broadcast-samples.ts';
import { aUser } from '../support/builders.ts';
import { chats, lastPinSend, PINNED, runPinSend, TOKEN, withoutPinnedMessages } from '../support/pinned-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

let t: TestApp;
let apps: App[];
let database: TestDatabase;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  database = await freshDatabase();
  t = await testApp({ environment: FAST, database });
  apps = [t.app, (await testApp({ environment: FAST, database, clock: t.clock })).app];
});
afterAll(() => database.drop());
beforeEach(() => withoutPinnedMessages(t.app));

const app = (n: number) => apps[n % 2]!;
const times = (count: number) => Array.from({ length: count }, (_none, n) => n);
const aMessage = async (by = t.app, broadcast = false) =>
  (await createPinnedMessage(by, TOKEN, PINNED, { broadcast, language: null })).message;

/** Exactly one call succeeded; every other one was to wait. */
function expectOne(results: PromiseSettledResult<unknown>[]): void {
  const lost = results.filter((one) => one.status === 'rejected');
  expect(lost.length).toBe(results.length - 1);
  for (const { reason } of lost) expect(reason).toMatchObject({ status: 429, code: 'broadcast_cooldown' });
}

describe('spec 05 section 4: pinned messages raced, on two instances', () => {
  test('one message is active after additions and activations at once (spec 05 section 16, invariant 5)', async () => {
    const messages = await Promise.all(times(20).map((n) => aMessage(app(n))));
    await Promise.all(messages.map(({ id }, n) => activateMessage(app(n), id, { broadcast: false })));
    await Promise.all(
      messages.map(({ id }, n) => (n % 2 ? activateMessage(app(n), id, { broadcast: false }) : aMessage(app(n)))),
    );
    expect(await listPinnedMessages(t.app, { limit: 100, offset: 0, activeOnly: true })).toMatchObject({ total: 1 });
    expect((await readActiveMessage(t.app))?.isActive).toBe(true);
  });

  test('of twenty broadcasts at once one is started', async () => {
    const { id } = await aMessage();
    expectOne(await Promise.allSettled(times(20).map((n) => broadcastMessage(app(n), id))));
    expect(await t.app.db.sql('SELECT count(*)::int AS n FROM mass_sends WHERE source_id = $1::int', [id])).toEqual([{ n: 1 }]);
  });

  test('additions, activations, broadcasts and unpinning share the minute', async () => {
    const { id } = await aMessage();
    const calls = [
      (by: App) => aMessage(by, true),
      (by: App) => activateMessage(by, id, { broadcast: true }),
      (by: App) => broadcastMessage(by, id),
      (by: App) => unpinMessage(by),
    ];
    expectOne(await Promise.allSettled(times(20).map((n) => calls[n % 4]!(app(n)))));
    const [row] = await t.app.db.sql<{ n: number }>("SELECT count(*)::int AS n FROM mass_sends WHERE state = 'queued'");
    expect(row).toEqual({ n: 1 });
  });

  test('a refused call does not use up the minute of another one', async () => {
    const { id } = await aMessage();
    const results = await Promise.allSettled(times(20).map((n) => broadcastMessage(app(n), n === 10 ? id : 2_147_000_000)));
    expect(results[10]!.status).toBe('fulfilled');
    for (const [n, one] of results.entries()) {
      if (n !== 10 && one.status === 'rejected') expect([404, 429]).toContain(one.reason.status);
    }
  });

  test('a message deleted while ten workers send it: each recipient has it once at most, and none gets it after the end', async () => {
    const users = await Promise.all(times(120).map(() => aUser(t.app)));
    const { app: sending, messages, of, pinsOf } = chats(t.app);
    const { id } = await aMessage(t.app, true);
    const send = await lastPinSend(t.app);
    const running = Promise.all(times(10).map(() => runPinSend(sending, send)));
    await Promise.all([running, deletePinnedMessage(app(1), id, { mayBeActive: true })]);
    const end = (await findSend(t.app.db, send.id))!;
    expect(end.finishedAt).not.toBeNull();
    expect(['cancelled', 'done', 'failed']).toContain(end.state);
    const sent = messages.length;
    expect(end.sent).toBe(sent);
    for (const { messengerId } of users) {
      expect(of(messengerId).length).toBeLessThanOrEqual(1);
      expect(pinsOf(messengerId)).toEqual(of(messengerId).map(({ messageId }) => messageId));
    }
    expect(await runPinSend(sending, send)).toEqual({ isOver: true });
    expect(messages).toHaveLength(sent);
    expect(await readActiveMessage(t.app)).toBeNull();
  });
});
