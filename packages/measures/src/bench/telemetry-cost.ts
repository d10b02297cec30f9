/**
 * What OpenTelemetry costs: processor time a request of two instances of one build on one database, one without a collector and one that records
 * a tenth of the traces, in interleaved rounds. Without a collector no statement and no request is wrapped; what remains is measured by itself and
 * compared with the processor time of a request.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { NO_TRACING, splitTrace } from '../../../../src/core/telemetry/tracing.ts';
import { processorTime, startWorker } from './child-process.ts';
import { Cleanup } from './cleanup.ts';
import type { Pace } from './compare-path.ts';
import { type LabData, startLab } from './lab.ts';
import type { LoadResult } from './load-generator.ts';
import { PATHS } from './paths.ts';
import { startService } from './service.ts';
import { growth, median, type Summary, summarise } from './statistics.ts';
import type { CollectorAnswer } from './trace-collector.ts';
import { asPercent, table, type Verdict, verdictOf } from './verdict.ts';

export interface TelemetryCost {
  title: string;
  /** Processor time a request, median of the rounds, microseconds; background work included. */
  offMicros: number;
  onMicros: number;
  /** Of each round's pair: by how much recording exceeds the other, as a share. */
  growth: Summary;
  /** What remains without a collector for a request, with a job and a call of an outside system, microseconds. */
  seamMicros: number;
  /** Spans that the collector received during the rounds. */
  spans: number;
  requests: number;
  failures: number;
}

const SAMPLED = '0.1';
const MEASURED = ['own-balance', 'balance-write'];
/** The exporter sends every five seconds. */
const EXPORT_MS = 5_500;
const SEAM_CALLS = 200_000;
const SEAM_ROUNDS = 5;

/** @throws Error where the system does not report the processor time of processes */
export async function measureTelemetry(data: LabData, pace: Pace, progress: (text: string) => void): Promise<TelemetryCost[]> {
  const cleanup = new Cleanup();
  try {
    const collector = cleanup.add(startWorker<object, CollectorAnswer>('trace-collector.ts'), (worker) => worker.stop());
    const { url } = await collector.ask({});
    const lab = cleanup.add(await startLab(data), (opened) => opened.close());
    const environment = { ...data.environment, OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: SAMPLED };
    const recording = cleanup.add(await startService(environment), (service) => service.stop());
    const seamMicros = await measureSeam();
    const results: TelemetryCost[] = [];
    for (const path of PATHS.filter(({ name }) => MEASURED.includes(name))) {
      progress(`${path.title}, without and with a collector`);
      const load = (service: { url: string }, seconds: number) =>
        lab.load({ url: service.url, connections: path.connections, seconds, requests: path.service(lab) });
      const services = [lab.service, recording] as const;
      for (const service of services) await load(service, pace.warmUpSeconds);
      await wait(EXPORT_MS);
      const before = (await collector.ask({})).spans;
      const rounds: LoadResult[] = [];
      const micros: [off: number[], on: number[]] = [[], []];
      for (let round = 0; round < pace.rounds; round += 1) {
        // Of both over the time of both loads: what one has recorded is sent, and its background work done, while the other one is asked.
        const began = services.map(({ pid }) => processorTime(pid));
        const pair: LoadResult[] = [];
        // Whichever comes second finds a warmer machine; so they take turns.
        for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) pair[side] = await load(services[side]!, pace.secondsPerRound);
        for (const side of [0, 1] as const) {
          const used = processorTime(services[side].pid) - began[side]!;
          micros[side].push((used * 1e6) / Math.max(1, pair[side]!.requests));
        }
        rounds.push(...pair);
      }
      await wait(EXPORT_MS);
      results.push({
        title: path.title,
        offMicros: median(micros[0]),
        onMicros: median(micros[1]),
        growth: summarise(micros[0].map((off, round) => growth(off, micros[1][round]!))),
        seamMicros,
        spans: (await collector.ask({})).spans - before,
        requests: rounds.reduce((sum, result) => sum + result.requests, 0),
        failures: rounds.reduce((sum, result) => sum + result.failures, 0),
      });
    }
    return results;
  } finally {
    await cleanup.run();
  }
}

/** @returns microseconds that the calls without a collector add to an asynchronous function */
async function measureSeam(): Promise<number> {
  const work = async (): Promise<number> => 1;
  const payload = { callbackId: 1 };
  const attributes = { 'messaging.destination.name': 'bench' };
  const withSeam = () => {
    // A request that sends a job, the job, and its call of an outside system.
    NO_TRACING.startRequest('GET', attributes, undefined);
    NO_TRACING.traceparent();
    const { traceparent } = splitTrace(payload);
    return NO_TRACING.inJob('job bench', attributes, traceparent, () => NO_TRACING.inSpan('client', 'GET', attributes, work));
  };
  const added: number[] = [];
  for (let round = 0; round <= SEAM_ROUNDS; round += 1) {
    const bare = await microsOf(work);
    const difference = (await microsOf(withSeam)) - bare;
    // The first round only warms up.
    if (round > 0) added.push(Math.max(0, difference));
  }
  return median(added);
}

async function microsOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < SEAM_CALLS; index += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / SEAM_CALLS;
}

const AIMS = { off: { atMost: 0.03 }, on: { atMost: 0.1 } };

export function telemetryVerdicts(results: readonly TelemetryCost[]): Verdict[] {
  return results.flatMap(({ title, growth: { median: share }, seamMicros, offMicros }) => [
    verdictOf(`${title}: processor time for tracing without a collector`, seamMicros / offMicros, AIMS.off, asPercent),
    verdictOf(`${title}: more processor time with a tenth of the traces recorded`, share, AIMS.on, asPercent),
  ]);
}

export function telemetryFaults(results: readonly TelemetryCost[]): string[] {
  return results.flatMap(({ title, failures, spans }) => [
    ...(failures > 0 ? [`${title}: ${failures} failures`] : []),
    ...(spans === 0 ? [`${title}: the collector received no span, so nothing was measured`] : []),
  ]);
}

export function telemetryTable(results: readonly TelemetryCost[]): string {
  return table(
    ['OpenTelemetry', 'CPU µs off', 'CPU µs on, 10 %', 'More (spread)', 'Seam off ns', 'Spans', 'Requests'],
    results.map((row) => [
      row.title,
      row.offMicros.toFixed(0),
      row.onMicros.toFixed(0),
      `${asPercent(row.growth.median)} (${asPercent(row.growth.min)} to ${asPercent(row.growth.max)})`,
      (row.seamMicros * 1_000).toFixed(0),
      String(row.spans),
      String(row.requests),
    ]),
  );
}
