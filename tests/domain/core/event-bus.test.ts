import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import type { SideConnection } from '../../../src/core/db/database.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { type DeliveredEvent, EventBus } from '../../../src/core/events/event-bus.ts';
import { eventually } from '../../support/eventually.ts';
import { inventEvents } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { freshDatabase, serverUrl } from '../../support/test-database.ts';

let t: TestApp;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  t = await testApp();
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** A bus of another instance, and what it delivered: the payload's `n` of events of this file. */
async function aBus(options: { side?: SideConnection; drained?: () => Promise<void> } = {}) {
  const bus = new EventBus(options.side ?? t.database.side, t.app.log);
  await bus.start();
  stops.push(() => bus.stop());
  const seen: number[] = [];
  const events: DeliveredEvent[] = [];
  bus.subscribe((event) => {
    if (event.type !== 'test.counted') return;
    seen.push(Number(event.payload.n));
    events.push(event);
  }, options.drained);
  return { bus, seen, events };
}

/** Records an event that nobody announces, as a process does that ends after its commit. */
async function record(app: App, n: number): Promise<void> {
  inventEvents();
  await app.db.sql('SELECT emit_event($1, $2::jsonb, $3, $4::int, $5::timestamptz) AS id', [
    'test.counted',
    JSON.stringify({ n }),
    'feed',
    null,
    app.clock.now(),
  ]);
}

async function recordMany(app: App, count: number): Promise<void> {
  await app.db.sql(
    `SELECT count(emit_event('test.counted', jsonb_build_object('n', n), 'feed', NULL, $2::timestamptz))
     FROM generate_series(0, $1::int - 1) n`,
    [count, app.clock.now()],
  );
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('the event bus', () => {
  it('delivers what is committed, in order and once, and nothing that is rolled back', async () => {
    const { seen } = await aBus();
    await expect(
      inTransaction(t.app, async (tx) => {
        await record(tx, -1);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    for (const n of numbers(50)) await inTransaction(t.app, (tx) => record(tx, n));
    await eventually(() => expect(seen).toEqual(numbers(50)));
  });

  it('delivers events that nobody announced', async () => {
    const { seen } = await aBus();
    await record(t.app, 1);
    await eventually(() => expect(seen).toEqual([1]));
  });

  it('does not deliver what was committed before it started', async () => {
    await record(t.app, 1);
    const { bus, seen } = await aBus();
    await record(t.app, 2);
    await bus.refresh();
    expect(seen).toEqual([2]);
  });

  it('says when everything that was committed before has been delivered', async () => {
    const { bus, seen } = await aBus();
    for (const n of numbers(20)) {
      await record(t.app, n);
      await bus.refresh();
      expect(seen.at(-1)).toBe(n);
    }
  });

  it('delivers nothing of before its start, though another instance announces events at that time', async () => {
    for (const n of [1, 2, 3]) await record(t.app, n);
    const { side } = t.database;
    const hasty: SideConnection = {
      notify: (channel, payload) => side.notify(channel, payload),
      listen: async (channel, onNotice) => {
        await side.listen(channel, onNotice);
        onNotice('another instance');
      },
      sql: async (text, values) => {
        // A listener has subscribed before the answer to the notice is there.
        if (text.includes('LATERAL')) await pause(50);
        return side.sql<never>(text, values);
      },
    };
    const { bus, seen } = await aBus({ side: hasty });
    await bus.refresh();
    await record(t.app, 4);
    await bus.refresh();
    expect(seen).toEqual([4]);
  });

  it('reads a long list in pages and waits between them until its listeners have sent what they have', async () => {
    const lengths: number[] = [];
    let seen: number[] = [];
    const one = await aBus({
      drained: async () => {
        lengths.push(seen.length);
        await pause(1);
      },
    });
    seen = one.seen;
    await recordMany(t.app, 3_500);
    await one.bus.refresh();
    expect(seen).toEqual(numbers(3_500));
    expect(lengths).toEqual([1_000, 2_000, 3_000, 3_500]);
    await record(t.app, 3_500);
    await one.bus.refresh();
    expect(seen).toEqual(numbers(3_501));
  });

  it('08 L2: loses nothing by reads that fail, in the middle of a long list either', async () => {
    const { side } = t.database;
    let failures = 0;
    let pages = 0;
    const flaky: SideConnection = {
      listen: (channel, onNotice) => side.listen(channel, onNotice),
      notify: async () => {
        throw new Error('not sent');
      },
      sql: async (text, values) => {
        if (failures > 0) {
          failures -= 1;
          throw new Error('connection lost');
        }
        const rows = await side.sql<never>(text, values);
        // Every second page is read, and then the connection is lost.
        if (text.includes('ORDER BY id LIMIT') && ++pages % 2 === 0) throw new Error('connection lost');
        return rows;
      },
    };
    const { bus, seen } = await aBus({ side: flaky });
    failures = 3;
    await recordMany(t.app, 2_300);
    bus.announce();
    await eventually(() => expect(seen).toHaveLength(2_300));
    failures = 2;
    await recordMany(t.app, 5);
    await eventually(() => expect(seen).toHaveLength(2_305));
    expect(seen).toEqual([...numbers(2_300), ...numbers(5)]);
  });

  it('keeps the other listeners when one throws, and calls them outside of any transaction', async () => {
    const { bus, seen } = await aBus();
    bus.subscribe(() => {
      throw new Error('listener');
    });
    const read: Promise<unknown>[] = [];
    bus.subscribe(() => read.push(t.app.db.sql('SELECT 1 AS one')));
    await inTransaction(t.app, async (tx) => {
      await record(tx, 1);
      bus.announce();
    });
    await eventually(() => expect(seen).toEqual([1]));
    expect(await Promise.all(read)).not.toHaveLength(0);
  });

  it('goes on after the clock went back', async () => {
    const { bus, seen } = await aBus();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    await record(t.app, 1);
    await bus.refresh();
    clock.mockRestore();
    await record(t.app, 2);
    await bus.refresh();
    expect(seen).toEqual([1, 2]);
  });

  it('gives every event a position of its own', async () => {
    const { bus, events } = await aBus();
    await recordMany(t.app, 30);
    await bus.refresh();
    expect(new Set(events.map(({ positionText }) => positionText)).size).toBe(30);
  });

  it('08 S5: delivers what a new timeline commits, whatever ids it uses', async () => {
    // A database of its own: a bus that has seen the pretended timeline takes everything of the real one for seen.
    const database = await freshDatabase();
    stops.push(() => database.drop());
    const { app } = await testApp({ database });
    const { bus, seen } = await aBus({ side: database.side });
    await record(app, 1);
    await bus.refresh();
    await database.jobDatabase.executeSql(
      `CREATE OR REPLACE FUNCTION event_timeline() RETURNS bigint LANGUAGE sql VOLATILE AS
       $$ SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint + 1 $$`,
    );
    await record(app, 2);
    await bus.refresh();
    await record(app, 3);
    await bus.refresh();
    expect(seen).toEqual([1, 2, 3]);
    await bus.stop();
  });

  it('does not deliver the events of a dump of another server', async () => {
    await record(t.app, 1);
    await t.app.db.sql('UPDATE domain_events SET transaction_number = 9007199254740000 RETURNING id');
    const { bus, seen } = await aBus();
    await record(t.app, 2);
    await bus.refresh();
    expect(seen).toEqual([2]);
  });

  it('08 S4: reads by the index of transaction numbers, however many events there are', async () => {
    await recordMany(t.app, 20_000);
    await t.database.jobDatabase.executeSql('ANALYZE domain_events');
    const plans: string[] = [];
    const explained: SideConnection = {
      ...t.database.side,
      listen: (channel, onNotice) => t.database.side.listen(channel, onNotice),
      sql: async (text, values) => {
        if (text.includes('LEFT JOIN LATERAL')) {
          const plan = await t.database.side.sql<Record<string, string>>(`EXPLAIN ${text}`, values);
          plans.push(plan.map((row) => Object.values(row)[0]).join('\n'));
        }
        return t.database.side.sql(text, values);
      },
    };
    const { bus, seen } = await aBus({ side: explained });
    await record(t.app, 7);
    await bus.refresh();
    expect(seen).toEqual([7]);
    expect(plans.at(-1)).toContain('domain_events_transaction_number_id_idx');
    expect(plans.at(-1)).not.toContain('Seq Scan on domain_events_1');
  });
});

describe.skipIf(!serverUrl)(
  'transactions that overlap (left out without a server: the embedded database has one connection)',
  () => {
    it('08 L1: delivers an event with a lower id that is committed later, and delivers none twice', async () => {
      const { bus, seen } = await aBus();
      const [recorded, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = inTransaction(t.app, async (tx) => {
        await record(tx, 1);
        recorded.resolve();
        await release.promise;
      });
      await recorded.promise;
      await inTransaction(t.app, (tx) => record(tx, 2));
      await bus.refresh();
      expect(seen).toEqual([2]);
      release.resolve();
      await slow;
      await bus.refresh();
      await bus.refresh();
      expect(seen).toEqual([2, 1]);
    });

    it('does not wait for a long transaction to deliver what others commit', async () => {
      const { bus, seen } = await aBus();
      const [recorded, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = inTransaction(t.app, async (tx) => {
        await record(tx, -1);
        recorded.resolve();
        await release.promise;
      });
      await recorded.promise;
      for (const n of numbers(10)) {
        await inTransaction(t.app, (tx) => record(tx, n));
        await bus.refresh();
      }
      expect(seen).toEqual(numbers(10));
      release.resolve();
      await slow;
      await eventually(() => expect(seen).toEqual([...numbers(10), -1]));
    });

    it('finds everything after its connection was ended by the server', async () => {
      const { seen } = await aBus();
      for (const n of numbers(5)) {
        await t.app.db.sql(
          `SELECT pg_terminate_backend(pid)::text AS ended FROM pg_stat_activity
         WHERE application_name = 'subscription-service-beside' AND datname = current_database()`,
        );
        await inTransaction(t.app, (tx) => record(tx, n));
      }
      await eventually(() => expect(seen).toEqual(numbers(5)));
    });
  },
);
