import { describe, expect, test } from 'vitest';
import { assessDelivery } from '../../../packages/measures/src/bench/delivery.ts';
import {
  type EventLatencyResult,
  eventLatencyFaults,
  eventLatencyTable,
  eventLatencyVerdicts,
  resultOf,
} from '../../../packages/measures/src/bench/event-latency.ts';
import { eventText, numberInFrame } from '../../../packages/measures/src/bench/event-text.ts';
import { nextNumber, userIndexOf, writeSteadily } from '../../../packages/measures/src/bench/steady-writes.ts';

/** Two users: even and odd numbers. */
const userOf = (number: number) => number % 2;

describe('delivery', () => {
  test('latencies run from the answer to the commit, and from the sending, where a frame before the answer counts as 0', () => {
    const committed: [number, number, number][] = [
      [0, 90, 100],
      [1, 95, 101],
    ];
    const delivery = assessDelivery(
      committed,
      [
        [1, 99],
        [0, 107.5],
      ],
      userOf,
    );
    expect(delivery).toEqual({
      latencies: [
        [0, 1],
        [750, 1],
      ],
      latenciesFromSending: [
        [400, 1],
        [1750, 1],
      ],
      lost: 0,
      doubled: 0,
      outOfOrder: 0,
    });
  });

  test('missing and repeated frames and a broken order of one user are counted', () => {
    const committed = [0, 1, 2, 3, 4, 6].map((number): [number, number, number] => [number, 0, 0]);
    // 1 is overtaken by 3; 0 comes twice; 6 is missing; 99 is no event of this measurement.
    const arrivals = [0, 3, 2, 1, 0, 4, 99].map((number): [number, number] => [number, 1]);
    expect(assessDelivery(committed, arrivals, userOf)).toMatchObject({ lost: 1, doubled: 1, outOfOrder: 1 });
  });

  test('events of two users may overtake each other', () => {
    const committed = [0, 1, 2, 3].map((number): [number, number, number] => [number, 0, 0]);
    const arrivals = [1, 3, 0, 2].map((number): [number, number] => [number, 1]);
    expect(assessDelivery(committed, arrivals, userOf)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
  });
});

describe('steady writes', () => {
  test('every number is written once, one after the other within a lane, and failures are counted apart', async () => {
    const running = new Set<number>();
    const result = await writeSteadily({ rate: 10_000, seconds: 0.005, from: 8, lanes: 4 }, async (number, lane) => {
      expect(running.has(lane)).toBe(false);
      running.add(lane);
      await Promise.resolve();
      running.delete(lane);
      expect(number % 4).toBe(lane);
      if (number === 9) throw new Error('refused');
    });
    const numbers = result.committed.map(([number]) => number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 8).filter((number) => number !== 9));
    expect(result).toMatchObject({ failures: 1, firstFailure: 'Error: refused' });
    expect(result.committed.every(([, sentMs, answeredMs]) => answeredMs >= sentMs)).toBe(true);
  });

  test('a user belongs to one lane, also of the next order', () => {
    const order = { rate: 10, seconds: 1, from: 0, lanes: 4 };
    expect(nextNumber(order)).toBe(12);
    const laneOfUser = new Map<number, number>();
    for (let number = 0; number < 200; number += 1) {
      const user = userIndexOf(number, 4, 11);
      expect(laneOfUser.get(user) ?? number % 4).toBe(number % 4);
      laneOfUser.set(user, number % 4);
    }
    expect(laneOfUser.size).toBe(8);
  });
});

describe('event latency', () => {
  const quiet: EventLatencyResult = resultOf(
    { source: 'service', eventsPerSecond: 10, socket: 'first instance' },
    {
      committed: [
        [0, 0, 10],
        [1, 5, 20],
      ],
      failures: 0,
      firstFailure: null,
      seconds: 0.4,
    },
    {
      latencies: [
        [500, 1],
        [9_000, 1],
      ],
      latenciesFromSending: [[9_500, 2]],
      lost: 0,
      doubled: 0,
      outOfOrder: 0,
    },
  );

  test('a balance write counts as two events', () => {
    expect(quiet).toMatchObject({ writtenPerSecond: 10, p50Ms: 5, p95Ms: 90, p99Ms: 90, p95FromSendingMs: 95, committed: 2 });
  });

  test('the aim depends on the load and on the writer, and a load must be reached', () => {
    const loaded = { ...quiet, eventsPerSecond: 1_000, writtenPerSecond: 899, p95Ms: 500 };
    const elsewhere = { ...loaded, socket: 'second instance', p95Ms: 501 } as const;
    const unannounced = { ...quiet, source: 'unannounced', p95Ms: 1_100 } as const;
    expect(eventLatencyVerdicts([quiet, loaded, elsewhere, unannounced]).map(({ text, isMet }) => [text, isMet])).toEqual([
      ['90.0 ms', true],
      ['899/s', false],
      ['500.0 ms', true],
      ['501.0 ms', false],
      ['1100.0 ms', true],
    ]);
  });

  test('lost, doubled and reordered events and failed writes are faults', () => {
    expect(eventLatencyFaults([quiet, { ...quiet, lost: 1, outOfOrder: 2, failures: 3, firstFailure: 'status 503' }])).toEqual([
      'events through the service, 10 a second, first instance: 1 lost, 2 out of order, 3 writes failed (status 503)',
    ]);
  });

  test('the table names writer, load and socket', () => {
    expect(eventLatencyTable([quiet])).toContain('| through the service | 10        | 10         | first instance |');
  });

  test('an event is known by its text in a frame', () => {
    expect(numberInFrame(JSON.stringify({ type: 'x', payload: { description: eventText(17) } }))).toBe(17);
    expect(numberInFrame('{"type":"payment.completed","payload":{"description":"Top-up 17"}}')).toBeNull();
  });
});
