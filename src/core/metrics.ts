import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ReplicaCounters } from './db/replica.ts';

/** `ok` is 2xx and 3xx, `client_error` 4xx, `server_error` 5xx; the rest are the reasons why no answer came. */
export type OutboundOutcome =
  | 'ok'
  | 'client_error'
  | 'server_error'
  | 'timeout'
  | 'network'
  | 'circuit_open'
  | 'blocked'
  | 'aborted';

export interface OutboundMetrics {
  /** Counts one attempt of a call to an outside system. */
  observeOutbound(system: string, outcome: OutboundOutcome, seconds: number): void;
}

interface HttpObservation {
  /** Route pattern, never the path as sent: `/users/{user_id}`; unknown paths share one name. */
  route: string;
  method: string;
  status: number;
  /** Whether the client had the words of the interface or its own; undefined while there is no mount for these (spec 09). */
  mount?: 'own' | 'words' | undefined;
}

interface PoolCounts {
  size: number;
  inUse: number;
  waiting: number;
}

export interface LedgerValues {
  /** False when a check found a difference, or when none has come to its end in time; null = none has, but it is not late yet. */
  isOk: boolean | null;
  /** When the last complete check ended; null = none has. */
  checkedAt: Date | null;
  /** Age of that check; without one, the time for which it is missing. */
  ageSeconds: number;
  /** Age of the last check of everything; null = none has ended. */
  fullAgeSeconds: number | null;
}

interface BackupValues {
  /** Age of the newest backup; null = there is none. */
  ageSeconds: number | null;
  /** Whether the last drill succeeded, and its age; null = there was none. */
  drill: { isOk: boolean; ageSeconds: number } | null;
}

/** Name of a queue, feed … → value. */
type ValuesByName = Readonly<Record<string, number>>;
type Source<T> = () => T | Promise<T>;

/** The values of one metric, as prom-client collects them. */
export interface MetricValues {
  name: string;
  help: string;
  type: string;
  values: { labels: Record<string, string | number>; value: number; metricName?: string }[];
}

/** Prometheus metrics of one process. Sources are read at each scrape; a gauge without a source is left out. */
export interface Metrics extends OutboundMetrics {
  /** Counts one webhook of the panel. */
  countPanelEvent(outcome: string): void;
  /** Records the start of a request; call the result once when it has ended. */
  startHttpRequest(): (observation: HttpObservation) => void;
  setPoolSource(source: Source<PoolCounts>): void;
  setReplicaSource(source: Source<ReplicaCounters>): void;
  /** Age in seconds of the oldest waiting job of each queue. */
  setQueueLagSource(source: Source<ValuesByName>): void;
  /** Age in seconds of the oldest event that was not delivered yet; 0 = none. */
  setOutboxSource(source: Source<number>): void;
  /** Connected sockets of each feed. */
  setWebsocketSource(source: Source<ValuesByName>): void;
  /** What is known about the ledger in the whole cluster. */
  setLedgerSource(source: Source<LedgerValues>): void;
  /** What is known about backups in the whole cluster. */
  setBackupSource(source: Source<BackupValues>): void;
  readonly contentType: string;
  /** The Prometheus text. A source that fails leaves its gauge out and never fails the scrape. */
  render(): Promise<string>;
  /** The same values, for another form. */
  collect(): Promise<MetricValues[]>;
  /** Stops the event loop monitor. */
  close(): void;
}

const HTTP_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const OUTBOUND_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const EVENT_LOOP_RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

/** A separate registry, so that several servers in one process (tests) do not share counts. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_RESOLUTION_MS });

  const httpDuration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer',
    labelNames: ['route', 'method', 'status', 'mount'],
    buckets: HTTP_BUCKETS,
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests being answered now',
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  const outboundTotal = new Counter({
    name: 'outbound_requests_total',
    help: 'Attempts of calls to outside systems',
    labelNames: ['system', 'outcome'],
    registers,
  });
  const outboundDuration = new Histogram({
    name: 'outbound_request_duration_seconds',
    help: 'Time of one attempt of a call to an outside system',
    labelNames: ['system', 'outcome'],
    buckets: OUTBOUND_BUCKETS,
    registers,
  });

  const panelEvents = new Counter({
    name: 'panel_webhook_events_total',
    help: 'Webhooks of the VPN panel: received, refused, ignored, old or repeated, and processed later',
    labelNames: ['outcome'],
    registers,
  });

  function labelledGauge(name: string, help: string, label: string): (source: Source<ValuesByName>) => void {
    let current: Source<ValuesByName> | null = null;
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        this.reset();
        const values = await ask(current);
        for (const [key, value] of Object.entries(values ?? {})) this.set({ [label]: key }, value);
      },
    });
    return (source) => {
      current = source;
    };
  }

  function plainGauge(name: string, help: string, read: () => number | null | Promise<number | null>): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }

  let poolSource: Source<PoolCounts> | null = null;
  let replicaSource: Source<ReplicaCounters> | null = null;
  let outboxSource: Source<number> | null = null;
  plainGauge('db_pool_size', 'Open database connections', async () => (await ask(poolSource))?.size ?? null);
  plainGauge('db_pool_in_use', 'Database connections in use', async () => (await ask(poolSource))?.inUse ?? null);
  plainGauge(
    'db_pool_waiting',
    'Callers that wait for a database connection',
    async () => (await ask(poolSource))?.waiting ?? null,
  );
  const replicaGauge = (name: string, help: string, read: (values: ReplicaCounters) => number) =>
    plainGauge(name, help, async () => {
      const values = await ask(replicaSource);
      return values && read(values);
    });
  replicaGauge('db_replica_usable', '1 = lists and statistics are read from a standby', ({ isUsable }) => Number(isUsable));
  replicaGauge('db_replica_statements', 'Statements that a standby was fresh enough for', ({ answered }) => answered);
  replicaGauge('db_replica_failed_reads', 'Reads that failed on a standby and went to the primary', ({ failed }) => failed);
  plainGauge('outbox_oldest_age_seconds', 'Age of the oldest undelivered event', () => ask(outboxSource));

  let ledgerSource: Source<LedgerValues> | null = null;
  // One query of the source at each scrape, for all of its gauges.
  let ledger: Promise<LedgerValues | null> = Promise.resolve(null);
  const ledgerGauge = (name: string, help: string, read: (values: LedgerValues) => number | null) =>
    plainGauge(name, help, async () => {
      const values = await ledger;
      return values && read(values);
    });
  ledgerGauge('ledger_check_ok', '1 = a recent ledger check found no difference', ({ isOk }) =>
    isOk === null ? null : Number(isOk),
  );
  ledgerGauge('ledger_check_timestamp', 'Unix time of the last complete ledger check', ({ checkedAt }) =>
    checkedAt === null ? null : checkedAt.getTime() / 1000,
  );
  ledgerGauge('ledger_check_age_seconds', 'Age of the last complete ledger check', ({ ageSeconds }) => ageSeconds);
  ledgerGauge(
    'ledger_full_check_age_seconds',
    'Age of the last check of the whole ledger',
    ({ fullAgeSeconds }) => fullAgeSeconds,
  );

  let backupSource: Source<BackupValues> | null = null;
  plainGauge('backup_age_seconds', 'Age of the newest backup', async () => (await ask(backupSource))?.ageSeconds ?? null);
  plainGauge('backup_drill_ok', '1 = the last restore drill succeeded', async () => {
    const drill = (await ask(backupSource))?.drill;
    return drill ? Number(drill.isOk) : null;
  });
  plainGauge(
    'backup_drill_age_seconds',
    'Age of the last restore drill',
    async () => (await ask(backupSource))?.drill?.ageSeconds ?? null,
  );

  const eventLoop = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  eventLoop.enable();
  const eventLoopName = 'event_loop_delay_seconds';
  new Gauge({
    name: eventLoopName,
    help: 'Event loop delay since the last scrape',
    labelNames: ['quantile'],
    registers,
    collect() {
      const isEmpty = eventLoop.count === 0;
      this.set({ quantile: '0.5' }, isEmpty ? 0 : eventLoop.percentile(50) / NANOSECONDS);
      this.set({ quantile: '0.99' }, isEmpty ? 0 : eventLoop.percentile(99) / NANOSECONDS);
      this.set({ quantile: '1' }, isEmpty ? 0 : eventLoop.max / NANOSECONDS);
      eventLoop.reset();
    },
  });

  return {
    startHttpRequest() {
      const startedAt = performance.now();
      inFlight += 1;
      return ({ route, method, status, mount }) => {
        inFlight -= 1;
        const labels = mount === undefined ? { route, method, status } : { route, method, status, mount };
        httpDuration.observe(labels, (performance.now() - startedAt) / 1000);
      };
    },
    countPanelEvent: (outcome) => panelEvents.inc({ outcome }),
    observeOutbound(system, outcome, seconds) {
      outboundTotal.inc({ system, outcome });
      outboundDuration.observe({ system, outcome }, seconds);
    },
    setPoolSource(source) {
      poolSource = source;
    },
    setReplicaSource(source) {
      replicaSource = source;
    },
    setQueueLagSource: labelledGauge('job_queue_lag_seconds', 'Age of the oldest waiting job', 'queue'),
    setOutboxSource(source) {
      outboxSource = source;
    },
    setWebsocketSource: labelledGauge('websocket_clients', 'Connected sockets', 'feed'),
    setLedgerSource(source) {
      ledgerSource = source;
    },
    setBackupSource(source) {
      backupSource = source;
    },
    contentType: registry.contentType,
    render() {
      ledger = ask(ledgerSource);
      return registry.metrics();
    },
    async collect() {
      ledger = ask(ledgerSource);
      return (await registry.getMetricsAsJSON()) as unknown as MetricValues[];
    },
    close() {
      eventLoop.disable();
      registry.removeSingleMetric(eventLoopName);
    },
  };
}

async function ask<T>(source: Source<T> | null): Promise<T | null> {
  if (source === null) return null;
  try {
    return await source();
  } catch {
    // The database may be down exactly when metrics matter most; the other values must still be reported.
    return null;
  }
}
