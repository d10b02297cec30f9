import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, SECOND_MS } from '../../src/core/clock.ts';
import type { SqlRunner } from '../../src/core/db/db.ts';
import { parsePosition, positionTexts } from '../../src/core/events/event-position.ts';
import { eventually } from '../support/eventually.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { accessToken, anApiToken, emit, emitNumbers, startRealtime, type TestRealtime } from './realtime-server.ts';
import { numbersOf, range, resume } from './resuming-client.ts';
import { connect, disconnectAll } from './socket-client.ts';

let t: TestApp;
let server: TestRealtime;
let token: string;

beforeAll(async () => {
  t = await testApp();
  server = await startRealtime(t.app, t.database);
  token = (await anApiToken(t.app)).token;
});
// No event of another test is delivered to the clients of this one.
beforeEach(() => server.bus.refresh());
afterEach(disconnectAll);
afterAll(() => server.close());

const feed = (after?: unknown, url = server.url) => resume(url, `/ws?token=${token}`, after);
const cabinet = (userId: number, after?: unknown) => resume(server.url, `/cabinet/ws?token=${accessToken(userId)}`, after);
const received = (client: Awaited<ReturnType<typeof feed>>, last: number) =>
  eventually(() => expect(numbersOf(client).at(-1)).toBe(last));

const originAt = (issuedAt: number) => ({ ...server.bus.origin, issuedAt: Math.floor(issuedAt / SECOND_MS) });

/** The same place in the feed as of `id`, made at another time. */
function reissued(id: unknown, issuedAt: number, later = 0): string {
  const { base, target, throughId } = parsePosition(String(id))!.position;
  const moved = { base, target: { ...target, next: target.next + later } };
  return positionTexts(later === 0 ? { base, target } : moved, originAt(issuedAt))(throughId);
}

describe('frames', () => {
  it('have ids that differ, the greeting too, while an answer to a ping has none', async () => {
    server.person(1, { receivesStaffEvents: true });
    const [client, user] = [await feed(), await cabinet(1)];
    const pong = new Promise((resolve) =>
      client.ws.on('message', (data) => String(data).includes('pong') && resolve(String(data))),
    );
    await client.ping();
    expect(await pong).toBe('{"type":"pong"}');
    await emitNumbers(t.app, 1, 3);
    await emit(t.app, { type: 'balance.topup', payload: { id: 7 }, audience: 'user', userId: 1 });
    await emit(t.app, { type: 'ticket.new', payload: { id: 8 }, audience: 'staff' });
    await received(client, 3);
    await eventually(() => expect(user.received).toHaveLength(3));
    for (const { ids } of [client, user]) {
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(parsePosition(String(id))).not.toBeNull();
    }
    expect(client.greeting).not.toHaveProperty('resumed');
    expect(user.greeting).not.toHaveProperty('resumed');
  });
});

describe('/ws', () => {
  it('sends what was missed since the last id, then what happens, each once and in order', async () => {
    const before = await feed();
    await emitNumbers(t.app, 1, 2);
    await received(before, 2);
    before.ws.close();
    await before.closed;
    for (let n = 3; n <= 6; n += 1) await emitNumbers(t.app, n, n);
    const after = await feed(before.ids.at(-1));
    expect(after.greeting).toEqual({
      type: 'connection',
      status: 'connected',
      message: 'WebSocket connection established',
      resumed: true,
    });
    expect(after.ids[0]).toBe(before.ids.at(-1));
    await received(after, 6);
    await emitNumbers(t.app, 7, 8);
    await received(after, 8);
    expect(numbersOf(after)).toEqual(range(3, 8));
  });

  it('continues after the greeting when nothing came after it, and when nothing was missed', async () => {
    const before = await feed();
    before.ws.close();
    await before.closed;
    const none = await feed(before.ids[0]);
    await none.ping();
    expect([none.greeting.resumed, none.received.length]).toEqual([true, 1]);
    await emitNumbers(t.app, 1, 3);
    const after = await feed(before.ids[0]);
    await received(after, 3);
    await received(none, 3);
    expect([numbersOf(after), numbersOf(none)]).toEqual([range(1, 3), range(1, 3)]);
  });

  it('continues in the middle of events that were committed together', async () => {
    const before = await feed();
    await emitNumbers(t.app, 1, 5);
    await received(before, 5);
    await emitNumbers(t.app, 6, 7);
    await received(before, 7);
    for (const seen of range(0, 7)) {
      const after = await feed(before.ids[seen]);
      if (seen < 7) await received(after, 7);
      await after.ping();
      expect(numbersOf(after)).toEqual(seen < 7 ? range(seen + 1, 7) : []);
    }
  });

  it('can continue from each frame of an earlier resume', async () => {
    const start = (await feed()).ids[0];
    await emitNumbers(t.app, 1, 2);
    await emitNumbers(t.app, 3, 4);
    const first = await feed(start);
    await received(first, 4);
    expect(numbersOf(first)).toEqual(range(1, 4));
    for (const seen of range(1, 3)) {
      const next = await feed(first.ids[seen]);
      await received(next, 4);
      expect(numbersOf(next)).toEqual(range(seen + 1, 4));
    }
  });

  it('gives replayed events positions as old as the one that was continued: what comes after them is deleted as early', async () => {
    const start = (await feed()).ids[0];
    await emitNumbers(t.app, 1, 2);
    const old = Math.floor(Date.now() / SECOND_MS) - 6 * 86_400;
    const client = await feed(reissued(start, old * SECOND_MS));
    await received(client, 2);
    await emitNumbers(t.app, 3, 3);
    await received(client, 3);
    const issuedAt = client.ids.map((id) => parsePosition(String(id))!.issuedAt);
    expect(issuedAt.slice(0, 3)).toEqual([old, old, old]);
    expect(issuedAt[3]).toBeGreaterThan(old + 5 * 86_400);
  });

  it('continues on another instance what one that is ahead has sent', async () => {
    let gate: Promise<void> = Promise.resolve();
    const sql: SqlRunner = async (text, values) => {
      await gate;
      return t.database.side.sql(text, values);
    };
    const side = { sql, listen: async () => undefined, notify: async () => undefined };
    const other = await startRealtime(t.app, { ...t.database, side });
    let open = (): void => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const here = await feed();
    await emitNumbers(t.app, 1, 2);
    await emitNumbers(t.app, 3, 3);
    await received(here, 3);
    const positionBefore = other.bus.position;
    const there = feed(here.ids[2], other.url);
    await (await feed()).ping();
    expect(other.bus.position).toBe(positionBefore);
    open();
    const client = await there;
    await received(client, 3);
    await emitNumbers(t.app, 4, 4);
    await received(client, 4);
    expect([client.greeting.resumed, numbersOf(client)]).toEqual([true, [3, 4]]);
    await other.close();
  });
});

describe('/cabinet/ws', () => {
  it('sends a user what this user missed, and staff what staff missed', async () => {
    for (const userId of [11, 12]) server.person(userId);
    server.person(13, { isAdmin: true, receivesStaffEvents: true });
    const before = [await cabinet(11), await cabinet(12), await cabinet(13)];
    const emitRound = async (n: number) => {
      for (const userId of [11, 12, 13])
        await emit(t.app, { type: 'balance.change', payload: { n, userId }, audience: 'user', userId });
      await emit(t.app, { type: 'ticket.new', payload: { n }, audience: 'staff', userId: 11 });
      await emitNumbers(t.app, n, n);
    };
    await emitRound(1);
    await eventually(() => expect(before.map((client) => client.received.length)).toEqual([2, 2, 3]));
    for (const client of before) {
      client.ws.close();
      await client.closed;
    }
    await emitRound(2);
    const after = [
      await cabinet(11, before[0]!.ids[1]),
      await cabinet(12, before[1]!.ids[1]),
      await cabinet(13, before[2]!.ids[2]),
    ];
    await eventually(() => expect(after.map((client) => client.received.length)).toEqual([2, 2, 3]));
    await emitRound(3);
    await eventually(() => expect(after.map((client) => client.received.length)).toEqual([3, 3, 5]));
    const change = (userId: number, n: number) => ({ type: 'balance.change', n, userId });
    const ticket = (n: number) => ({ type: 'ticket.new', n });
    expect(after[0]!.greeting).toEqual({ type: 'connected', user_id: 11, is_admin: false, resumed: true });
    expect(after.map((client) => client.received.slice(1))).toEqual([
      [change(11, 2), change(11, 3)],
      [change(12, 2), change(12, 3)],
      [change(13, 2), ticket(2), change(13, 3), ticket(3)],
    ]);
  });

  it('shows nothing of others to a user with a foreign or a forged position', async () => {
    for (const userId of [21, 22]) server.person(userId);
    const [foreign, raw] = [await cabinet(21), await feed()];
    await emit(t.app, { type: 'balance.topup', payload: { n: 1 }, audience: 'user', userId: 21 });
    await emit(t.app, { type: 'ticket.new', payload: { n: 1 }, audience: 'staff' });
    await emit(t.app, { type: 'balance.topup', payload: { n: 2 }, audience: 'user', userId: 22 });
    await emitNumbers(t.app, 1, 1);
    await eventually(() => expect([foreign.received.length, raw.received.length]).toEqual([2, 2]));
    const all = { next: 0, running: [] };
    const now = originAt(Date.now());
    const { target } = parsePosition(String(raw.ids[1]))!.position;
    const forged = [
      positionTexts({ base: all, target: all }, now)(0),
      positionTexts({ base: all, target }, now)(0),
      positionTexts({ base: { next: target.next, running: [1, 2, 3] }, target }, now)(0),
    ];
    for (const after of [foreign.ids[0], raw.ids[0], ...forged.slice(0, 2)]) {
      const client = await cabinet(22, after);
      await eventually(() => expect(client.received).toHaveLength(2));
      await client.ping();
      expect(client.received.slice(1)).toEqual([{ type: 'balance.topup', n: 2 }]);
    }
    const none = await cabinet(22, forged[2]);
    await none.ping();
    expect(none.received).toHaveLength(1);
  });
});

describe('a position that cannot be continued', () => {
  const huge = Number.MAX_SAFE_INTEGER;
  const text = (next: number, throughId: number) =>
    positionTexts(
      { base: { next, running: [] }, target: { next, running: [] } },
      { ...server.bus.origin, issuedAt: 1e10 },
    )(throughId);
  const ofAnotherDatabase = (id: string) => {
    const { position, database, issuedAt } = parsePosition(id)!;
    return positionTexts(position, { database: (database + 1) % 2 ** 32, issuedAt })(position.throughId);
  };

  it.each([
    ['nothing', () => ''],
    ['blanks', () => '   '],
    ['random text', () => 'abcdefgh.12'],
    ['no text of ours', () => "'; DROP TABLE domain_events; --"],
    ['characters of other alphabets', () => 'привет\u0000\ud83d\ude00'],
    ['a truncated id', (id: string) => id.slice(0, 5)],
    ['an id without its end', (id: string) => id.split('.')[0]],
    ['an id with something behind it', (id: string) => `${id}!`],
    ['a huge event id', (id: string) => `${id.split('.')[0]}.zzzzzzzzzzz`],
    ['huge numbers', () => text(huge, huge)],
    ['a number that no counter holds', () => `${Buffer.alloc(3_000, 0xff).toString('base64url')}.1`],
    ['zeros', () => `${Buffer.alloc(3_000, 0x80).toString('base64url')}.1`],
    ['12 kB', () => 'A'.repeat(12_000)],
    ['an id older than what is kept', (id: string) => reissued(id, Date.now() - 7 * DAY_MS)],
    ['an id of another database', (id: string) => ofAnotherDatabase(id)],
    ['an id of the future', (id: string) => reissued(id, Date.now(), 1e9)],
  ])('is answered by resumed: false and live events: %s', async (_name, positionOf) => {
    const { ids } = await feed();
    await emitNumbers(t.app, 1, 1);
    server.person(31);
    const after = positionOf(String(ids[0]));
    const [client, user] = [await feed(after), await cabinet(31, after)];
    expect([client.greeting.resumed, user.greeting.resumed]).toEqual([false, false]);
    expect(parsePosition(String(client.ids[0]))).not.toBeNull();
    await emitNumbers(t.app, 2, 2);
    await received(client, 2);
    await client.ping();
    expect(numbersOf(client).filter((n) => n === 2)).toEqual([2]);
  });

  it('is the first one when there are two', async () => {
    const { ids } = await feed();
    await emitNumbers(t.app, 1, 1);
    const client = await resume(server.url, `/ws?token=${token}&after=${encodeURIComponent(String(ids[0]))}&after=other`);
    expect(client.greeting.resumed).toBe(true);
    await received(client, 1);
    const other = await resume(server.url, `/ws?token=${token}&after=other&after=${encodeURIComponent(String(ids[0]))}`);
    expect(other.greeting.resumed).toBe(false);
  });

  it('does not reach the service when it is longer than a request may be', async () => {
    const refused = connect(`${server.url}/ws?token=${token}&after=${'A'.repeat(20_000)}`);
    await expect(refused.closed).rejects.toThrow('431');
    await (await feed()).ping();
  });
});
