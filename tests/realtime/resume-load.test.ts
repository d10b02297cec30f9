import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { App } from '../../src/core/app.ts';
import type { SqlRunner } from '../../src/core/db/db.ts';
import { deleteApiToken } from '../../src/domain/access/tokens.ts';
import type { RealtimeLimits } from '../../src/realtime/feed-client.ts';
import { eventually } from '../support/eventually.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { accessToken, anApiToken, emit, emitNumbers, startRealtime, type TestRealtime } from './realtime-server.ts';
import { numbersOf, range, resume } from './resuming-client.ts';
import { connect, disconnectAll, type SocketClient } from './socket-client.ts';

/** What a catch-up does with a read of events: the reads of the pool, the bus has another connection. */
type OnRead = <T>(read: () => Promise<T>) => Promise<T>;
const PLAIN: OnRead = (read) => read();
const actor = { kind: 'system', name: 'test' } as const;

let t: TestApp;
let app: App;
let server: TestRealtime;
let token: string;
let onRead: OnRead;
let reads = 0;

beforeAll(async () => {
  t = await testApp();
  token = (await anApiToken(t.app)).token;
  const sql: SqlRunner = async (text, values) => {
    // Raw SQL: the statement of the service is recognised by it.
    if (!text.includes('FROM domain_events')) return t.app.db.sql(text, values);
    reads += 1;
    return onRead(() => t.app.db.sql(text, values));
  };
  app = { ...t.app, db: { ...t.app.db, sql } };
});
beforeEach(() => {
  onRead = PLAIN;
  reads = 0;
});
afterEach(async () => {
  disconnectAll();
  onRead = PLAIN;
  await server.close();
});

async function start(limits: Partial<RealtimeLimits> = {}): Promise<void> {
  server = await startRealtime(app, t.database, { limits });
}

const feed = (after?: unknown, key = token) => resume(server.url, `/ws?token=${key}`, after);
const presentId = async () => {
  const client = await feed();
  client.ws.close();
  await client.closed;
  return client.ids[0];
};
const received = (client: SocketClient, count: number) => eventually(() => expect(client.received.length).toBeGreaterThan(count));

/** A promise that a test resolves. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('a long list of missed events', () => {
  it('arrives completely and in order, whether committed together or one by one', async () => {
    await start();
    const id = await presentId();
    await emitNumbers(t.app, 1, 1_700);
    for (let n = 1_701; n <= 1_900; n += 1) await emitNumbers(t.app, n, n);
    await emitNumbers(t.app, 1_901, 3_500);
    const client = await feed(id);
    await received(client, 3_500);
    await emitNumbers(t.app, 3_501, 3_502);
    await received(client, 3_502);
    expect(numbersOf(client)).toEqual(range(1, 3_502));
    // In the middle of a page.
    const next = await feed(client.ids[1_234]);
    await received(next, 3_502 - 1_234);
    expect(numbersOf(next)).toEqual(range(1_235, 3_502));
  });

  it('of one user contains nothing of the others', async () => {
    await start();
    server.person(41, { receivesStaffEvents: true });
    const path = `/cabinet/ws?token=${accessToken(41)}`;
    const { ids } = await resume(server.url, path);
    await t.app.db.sql(
      `SELECT count(emit_event('balance.change', jsonb_build_object('n', n), CASE n % 4 WHEN 0 THEN 'staff' WHEN 1 THEN 'feed' ELSE 'user' END,
         CASE n % 4 WHEN 2 THEN 41 ELSE 42 END, now())) AS events FROM generate_series(1, 3000) n`,
    );
    const client = await resume(server.url, path, ids[0]);
    await received(client, 1_500);
    await client.ping();
    expect(client.received.slice(1).map(({ n }) => n)).toEqual(range(1, 3_000).filter((n) => n % 2 === 0));
  });

  it('arrives without a gap or a repeat while others are committed', async () => {
    await start();
    const id = await presentId();
    await emitNumbers(t.app, 1, 1_200);
    let last = 1_200;
    let isDone = false;
    const writing = (async () => {
      for (; !isDone; last += 3) {
        await emitNumbers(t.app, last + 1, last + 3);
        // The embedded database answers without giving the sockets a turn.
        await nextTurn();
      }
    })();
    const clients = await Promise.all(range(1, 5).map(() => feed(id)));
    try {
      for (const client of clients) await received(client, 1_300);
      // They continue to receive what is committed now.
      const until = last + 30;
      for (const client of clients) await received(client, until);
    } finally {
      isDone = true;
    }
    await writing;
    for (const client of clients) {
      await received(client, last);
      await client.ping();
      expect(numbersOf(client)).toEqual(range(1, last));
    }
  });

  it('reaches many clients that come back together', async () => {
    await start();
    const id = await presentId();
    await emitNumbers(t.app, 1, 700);
    const clients = await Promise.all(range(1, 60).map(() => feed(id)));
    await emitNumbers(t.app, 701, 705);
    for (const client of clients) {
      await received(client, 705);
      expect(numbersOf(client)).toEqual(range(1, 705));
    }
    expect(server.realtime.counts().ws).toBe(60);
  });
});

describe('a client that catches up', () => {
  it('joins the live events although something new is committed during each read', async () => {
    await start();
    const id = await presentId();
    await emitNumbers(t.app, 1, 2);
    let n = 2;
    onRead = async (read) => {
      const rows = await read();
      n += 1;
      await emitNumbers(t.app, n, n);
      await server.bus.refresh();
      return rows;
    };
    const client = await feed(id);
    await received(client, 3);
    await client.ping();
    const readsBefore = reads;
    await emitNumbers(t.app, n + 1, n + 2);
    await received(client, n + 2);
    expect(numbersOf(client)).toEqual(range(1, n + 2));
    expect(reads).toBe(readsBefore);
  });

  it('misses nothing when more happens during a read than may wait for it', async () => {
    await start({ maxQueuedBytes: 64 * 1024 });
    const id = await presentId();
    await emitNumbers(t.app, 1, 2);
    const live = await feed();
    let n = 2;
    onRead = async (read) => {
      const rows = await read();
      if (reads > 3) return rows;
      await emitNumbers(t.app, n + 1, n + 40, 'f'.repeat(1_000));
      n += 40;
      await received(live, n - 2);
      return rows;
    };
    const client = await feed(id);
    await received(client, 122);
    await emitNumbers(t.app, 123, 124);
    await received(client, 124);
    expect(numbersOf(client)).toEqual(range(1, 124));
    // One more than those during which too much happened.
    expect(reads).toBe(4);
  });

  it('receives more than may wait for a slow client, if it reads', async () => {
    await start({ maxQueuedBytes: 64 * 1024, tickMs: 5 });
    const id = await presentId();
    await emitNumbers(t.app, 1, 1_000, 'f'.repeat(20_000));
    const client = connect(`${server.url}/ws?token=${token}&after=${id}`);
    client.ws.on('message', () => {
      client.ws.pause();
      setImmediate(() => client.ws.resume());
    });
    await received(client, 1_000);
    expect(numbersOf(client)).toEqual(range(1, 1_000));
  });

  it('does not fill the memory when it does not read, and is dropped as one that is gone', async () => {
    const maxQueuedBytes = 256 * 1024;
    await start({ maxQueuedBytes, heartbeatMs: 100, idleMs: 15_000 });
    const id = await presentId();
    await emitNumbers(t.app, 1, 1_000, 'f'.repeat(20_000));
    let socket: Duplex | null = null;
    server.http.once('upgrade', (_request, upgraded: Duplex) => {
      socket = upgraded;
    });
    const client = connect(`${server.url}/ws?token=${token}&after=${id}`);
    client.ws.once('message', () => client.ws.pause());
    let largest = 0;
    await eventually(() => {
      largest = Math.max(largest, socket?.writableLength ?? 0);
      expect(largest).toBeGreaterThan(0);
      expect(server.realtime.counts().ws).toBe(0);
    });
    // A quarter of the queue, and the event with which it was reached.
    expect(largest).toBeLessThan(maxQueuedBytes / 4 + 25_000);
    client.ws.resume();
    expect((await client.closed).code).toBe(1006);
    expect(numbersOf(client).length).toBeLessThan(1_000);
    await server.close();
    await start();
    const rest = await feed(client.ids.at(-1));
    await received(rest, 1_000 - numbersOf(client).length);
    expect([...numbersOf(client), ...numbersOf(rest)]).toEqual(range(1, 1_000));
  });

  it('is closed when its credential is withdrawn, and is sent nothing more', async () => {
    await start();
    const id = await presentId();
    await emitNumbers(t.app, 1, 2);
    const { opened, open } = gate();
    onRead = async (read) => {
      const rows = await read();
      await opened;
      return rows;
    };
    const withdrawn = await anApiToken(t.app);
    const client = await feed(id, withdrawn.token);
    await eventually(() => expect(reads).toBe(1));
    await deleteApiToken(t.app, actor, withdrawn.id);
    expect(await client.closed).toEqual({ code: 1008, reason: 'Unauthorized: Invalid token' });
    open();
    await (await feed()).ping();
    expect([client.greeting.resumed, client.received.length]).toEqual([true, 1]);
  });

  it('is no longer sent events for staff when it loses that right', async () => {
    await start();
    const person = server.person(51, { receivesStaffEvents: true });
    const path = `/cabinet/ws?token=${accessToken(51)}`;
    const { ids } = await resume(server.url, path);
    await emit(t.app, { type: 'ticket.new', payload: { n: 1 }, audience: 'staff' });
    await emit(t.app, { type: 'balance.change', payload: { n: 2 }, audience: 'user', userId: 51 });
    const { opened, open } = gate();
    onRead = async (read) => {
      const rows = await read();
      await opened;
      return rows;
    };
    disconnectAll();
    await eventually(() => expect(server.realtime.counts().cabinet).toBe(0));
    const client = await resume(server.url, path, ids[0]);
    await eventually(() => expect(reads).toBe(1));
    const checks = vi.fn(() => false);
    Object.defineProperty(person, 'receivesStaffEvents', { get: checks });
    await t.app.cache.forget(t.app, ['roles:51']);
    await eventually(() => expect(checks).toHaveBeenCalled());
    open();
    await received(client, 1);
    await client.ping();
    expect(client.received.slice(1)).toEqual([{ type: 'balance.change', n: 2 }]);
  });

  it('is asked to come back later when the events cannot be read, and then receives them', async () => {
    await start();
    const id = await presentId();
    await emitNumbers(t.app, 1, 2);
    onRead = () => Promise.reject(new Error('connection lost'));
    const client = await feed(id);
    expect(await client.closed).toEqual({ code: 1013, reason: 'Try again later' });
    onRead = PLAIN;
    const next = await feed(client.ids.at(-1));
    await received(next, 2);
    expect(numbersOf(next)).toEqual([1, 2]);
  });

  it('waits for its turn to read, and is not read for when it has left', async () => {
    await start();
    const id = await presentId();
    await emitNumbers(t.app, 1, 2);
    const { opened, open } = gate();
    onRead = async (read) => {
      await opened;
      return read();
    };
    const clients = await Promise.all(range(1, 7).map(() => feed(id)));
    await eventually(() => expect(reads).toBe(4));
    const waiting = clients.slice(4);
    waiting[0]!.ws.terminate();
    await eventually(() => expect(server.realtime.counts().ws).toBe(6));
    open();
    for (const client of clients.filter((other) => other !== waiting[0])) await received(client, 2);
    await (await feed()).ping();
    // One for each client that stayed.
    expect(reads).toBe(6);
    expect(waiting[0]!.received).toHaveLength(1);
    expect(server.realtime.counts().ws).toBe(7);
  });
});
