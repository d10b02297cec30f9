/**
 * The time from the commit of an event to its frame on `/ws`, quiet and under load: for events of money writes through an instance, whose
 * commits that instance announces, and for events that a foreign process inserts and nobody announces, which the instances' sweep finds.
 */
import { startWorker } from './child-process.ts';
import { Cleanup } from './cleanup.ts';
import { assessDelivery, type Delivery } from './delivery.ts';
import type { WriterOrder } from './event-writer.ts';
import type { ReaderAnswer, ReaderOrder } from './feed-reader.ts';
import { type LabData, startInstance, startLab } from './lab.ts';
import { percentileMs } from './statistics.ts';
import { nextNumber, type SteadyResult, userIndexOf } from './steady-writes.ts';
import { asMs, table, type Verdict, verdictOf, withUnit } from './verdict.ts';

/** `service`: written through an instance. `unannounced`: written by SQL alone. */
type EventSource = 'service' | 'unannounced';

export interface EventLatencyResult {
  source: EventSource;
  /** Events a second: asked for, and written. */
  eventsPerSecond: number;
  writtenPerSecond: number;
  /** Where the socket is: on the instance that was written through, or on another one. */
  socket: 'first instance' | 'second instance';
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** With the time of the write, in which the commit happened. */
  p95FromSendingMs: number;
  /** Events whose frame was looked for. */
  committed: number;
  lost: number;
  doubled: number;
  outOfOrder: number;
  /** Writes that were refused or failed. */
  failures: number;
  firstFailure: string | null;
}

const QUIET = 10;
const LOADED = 1_000;
/** A balance write emits two events: one for the feed, whose frame is looked for, and one for the user. */
const EVENTS_PER_WRITE: Record<EventSource, number> = { service: 2, unannounced: 1 };
const LANES: Record<EventSource, number> = { service: 32, unannounced: 16 };
/** Time for the last frames, the sweep included. */
const LATE_MS = 5_000;
const WARM_UP_SECONDS = 1;

export async function measureEventLatency(
  data: LabData,
  seconds: number,
  progress: (text: string) => void,
): Promise<EventLatencyResult[]> {
  const cleanup = new Cleanup();
  try {
    const lab = cleanup.add(await startLab(data, { poolSize: LANES.service }), (processes) => processes.close());
    const second = cleanup.add(await startInstance(data, { poolSize: LANES.service }), (instance) => instance.stop());
    const writer = cleanup.add(startWorker<WriterOrder, SteadyResult>('event-writer.ts'), (worker) => worker.stop());
    const sockets = (['first instance', 'second instance'] as const).map((socket) => ({
      socket,
      url: socket === 'first instance' ? lab.service.url : second.url,
      reader: cleanup.add(startWorker<ReaderOrder, ReaderAnswer>('feed-reader.ts'), (worker) => worker.stop()),
    }));
    const token = encodeURIComponent(lab.operator['x-api-key']!);
    for (const { url, reader } of sockets) {
      await reader.ask({ connect: { url: `${url.replace('http', 'ws')}/ws?token=${token}` } });
    }
    const targets: Record<EventSource, WriterOrder['target']> = {
      service: { serviceUrl: lab.service.url, headers: lab.operator },
      unannounced: { databaseUrl: data.database.url! },
    };
    // Stays a multiple of both numbers of lanes, because the one is a multiple of the other.
    let from = 0;
    const measure = async (source: EventSource, eventsPerSecond: number, length: number): Promise<EventLatencyResult[]> => {
      const lanes = LANES[source];
      const order = { rate: eventsPerSecond / EVENTS_PER_WRITE[source], seconds: length, from, lanes };
      from = nextNumber(order);
      const written = await writer.ask({ ...order, userIds: data.userIds, target: targets[source] });
      const take = { count: written.committed.length, withinMs: LATE_MS };
      const answers = await Promise.all(sockets.map(({ reader }) => reader.ask({ take })));
      return answers.map(({ arrivals, isClosed }, index) => {
        if (isClosed) throw new Error(`the server closed the socket of the ${sockets[index]!.socket}`);
        const userOf = (number: number) => userIndexOf(number, lanes, data.userIds.length);
        return resultOf(
          { source, eventsPerSecond, socket: sockets[index]!.socket },
          written,
          assessDelivery(written.committed, arrivals, userOf),
        );
      });
    };
    const results: EventLatencyResult[] = [];
    for (const source of ['service', 'unannounced'] as const) {
      await measure(source, LOADED / 10, WARM_UP_SECONDS);
      for (const rate of [QUIET, LOADED]) {
        progress(`events ${NAMES[source]}, ${rate} a second`);
        results.push(...(await measure(source, rate, seconds)));
      }
    }
    return results;
  } finally {
    await cleanup.run();
  }
}

type Circumstances = Pick<EventLatencyResult, 'source' | 'eventsPerSecond' | 'socket'>;

/** @param written by one order */
export function resultOf(circumstances: Circumstances, written: SteadyResult, delivery: Delivery): EventLatencyResult {
  const { latencies, latenciesFromSending, lost, doubled, outOfOrder } = delivery;
  const committed = written.committed.length;
  return {
    ...circumstances,
    writtenPerSecond: (committed * EVENTS_PER_WRITE[circumstances.source]) / Math.max(written.seconds, Number.EPSILON),
    p50Ms: percentileMs(latencies, 0.5),
    p95Ms: percentileMs(latencies, 0.95),
    p99Ms: percentileMs(latencies, 0.99),
    p95FromSendingMs: percentileMs(latenciesFromSending, 0.95),
    ...{ committed, lost, doubled, outOfOrder, failures: written.failures, firstFailure: written.firstFailure },
  };
}

const NAMES: Record<EventSource, string> = { service: 'through the service', unannounced: 'by an unannounced writer' };
/** Of the sweep, which runs each second. */
const SWEEP_AIM = { atMost: 1_100 };
const SERVICE_AIMS: Record<number, { atMost: number }> = { [QUIET]: { atMost: 100 }, [LOADED]: { atMost: 500 } };
/** A latency under load counts only where the load was reached. */
const REACHED_SHARE = 0.9;

const nameOf = ({ source, eventsPerSecond, socket }: Circumstances) =>
  `events ${NAMES[source]}, ${eventsPerSecond} a second, ${socket}`;

export function eventLatencyVerdicts(results: readonly EventLatencyResult[]): Verdict[] {
  return results.flatMap((result) => {
    const aim = result.source === 'service' ? SERVICE_AIMS[result.eventsPerSecond]! : SWEEP_AIM;
    const latency = verdictOf(`${nameOf(result)}: p95`, result.p95Ms, aim, asMs);
    if (result.socket !== 'first instance' || result.eventsPerSecond !== LOADED) return [latency];
    const rateAim = { atLeast: LOADED * REACHED_SHARE };
    const written = `events written ${NAMES[result.source]}, of ${LOADED} a second`;
    return [verdictOf(written, result.writtenPerSecond, rateAim, withUnit(0, '/s')), latency];
  });
}

export function eventLatencyFaults(results: readonly EventLatencyResult[]): string[] {
  return results.flatMap((result) => {
    const { lost, doubled, outOfOrder, failures, firstFailure } = result;
    const counts = Object.entries({ lost, doubled, 'out of order': outOfOrder, 'writes failed': failures });
    const wrong = counts.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`);
    return wrong.length === 0
      ? []
      : [`${nameOf(result)}: ${wrong.join(', ')}${firstFailure === null ? '' : ` (${firstFailure})`}`];
  });
}

export function eventLatencyTable(results: readonly EventLatencyResult[]): string {
  const head = ['Commit to socket', 'Events /s', 'Written /s', 'Socket', 'p50 ms', 'p95 ms', 'p99 ms', 'p95 from sending'];
  return table(
    [...head, 'Events', 'Lost', 'Doubled', 'Out of order'],
    results.map((row) => [
      NAMES[row.source],
      String(row.eventsPerSecond),
      row.writtenPerSecond.toFixed(0),
      row.socket,
      ...[row.p50Ms, row.p95Ms, row.p99Ms, row.p95FromSendingMs].map((ms) => ms.toFixed(1)),
      ...[row.committed, row.lost, row.doubled, row.outOfOrder].map(String),
    ]),
  );
}
