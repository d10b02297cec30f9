/** Interleaved rounds of service and baseline for one path. */
import { setTimeout as wait } from 'node:timers/promises';
import { processorSeconds } from './child-process.ts';
import type { Lab } from './lab.ts';
import type { LoadResult, RequestPlan } from './load-generator.ts';
import type { DatabaseKind } from './options.ts';
import type { MeasuredPath } from './paths.ts';
import { mergeBuckets, percentileMs, type Summary, summarise } from './statistics.ts';

export interface Pace {
  rounds: number;
  secondsPerRound: number;
  warmUpSeconds: number;
}

export interface PathResult {
  name: string;
  title: string;
  database: DatabaseKind;
  /** Answers a second. */
  servicePerSecond: Summary;
  barePerSecond: Summary;
  /** Of each round's pair. */
  ratio: Summary;
  serviceP50Ms: number;
  serviceP99Ms: number;
  bareP99Ms: number;
  /** Processor time a request, microseconds: what a busy machine changes least. Background work included. */
  serviceCpuMicros: number | null;
  bareCpuMicros: number | null;
  requests: number;
  failures: number;
  statuses: Record<string, number>;
  /** Resident memory after all rounds less before them, MiB. */
  memoryGrowthMiB: number | null;
  memoryMiB: number | null;
  /** Highest p99 of the event loop's delay in a round, ms. */
  loopDelayMs: number;
}

/** After a change of sides: time for a paused process to get its breath. */
const SETTLE_MS = 300;

/** Observes the service during its rounds, e.g. its database sessions. */
interface Meter {
  during<T>(work: () => Promise<T>): Promise<T>;
}

const NO_METER: Meter = { during: (work) => work() };

export async function comparePath(lab: Lab, path: MeasuredPath, pace: Pace, meter = NO_METER): Promise<PathResult> {
  const { service } = lab;
  if (path.sameBytes) await checkSameBytes(lab, path);
  const load = (isService: boolean, seconds: number) =>
    lab.load({
      url: isService ? service.url : lab.bareUrl,
      connections: path.connections,
      seconds,
      requests: (isService ? path.service : path.bare)(lab),
    });

  await onService(lab, () => load(true, pace.warmUpSeconds));
  service.pause();
  await load(false, Math.min(2, pace.warmUpSeconds));
  const memoryBefore = service.memoryMiB();
  const mine: LoadResult[] = [];
  const bare: LoadResult[] = [];
  let loopDelayMs = 0;
  const [mineCpu, bareCpu] = [new CpuMeter(service.pid), new CpuMeter(lab.barePid)];
  for (let round = 0; round < pace.rounds; round += 1) {
    const measureService = async () => {
      mine.push(
        await onService(lab, async () => {
          await service.readLoop();
          const result = await meter.during(() => mineCpu.during(() => load(true, pace.secondsPerRound)));
          loopDelayMs = Math.max(loopDelayMs, (await service.readLoop()).delayMs);
          return result;
        }),
      );
      service.pause();
    };
    const measureBare = async () => void bare.push(await bareCpu.during(() => load(false, pace.secondsPerRound)));
    // Whoever comes second finds a warmer machine; so they take turns.
    if (round % 2 === 0) {
      await measureService();
      await measureBare();
    } else {
      await measureBare();
      await measureService();
    }
  }
  service.resume();
  const memoryAfter = service.memoryMiB();
  const perSecond = (result: LoadResult) => result.requests / result.seconds;
  const statuses: Record<string, number> = {};
  for (const result of [...mine, ...bare]) {
    for (const [status, count] of Object.entries(result.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  }
  const latencies = mergeBuckets(mine.map((result) => result.latencies));
  return {
    name: path.name,
    title: path.title,
    database: lab.kind,
    servicePerSecond: summarise(mine.map(perSecond)),
    barePerSecond: summarise(bare.map(perSecond)),
    ratio: summarise(mine.map((result, index) => perSecond(result) / Math.max(1, perSecond(bare[index]!)))),
    serviceP50Ms: percentileMs(latencies, 0.5),
    serviceP99Ms: percentileMs(latencies, 0.99),
    bareP99Ms: percentileMs(mergeBuckets(bare.map((result) => result.latencies)), 0.99),
    serviceCpuMicros: mineCpu.microsPer(sumOf(mine)),
    bareCpuMicros: bareCpu.microsPer(sumOf(bare)),
    requests: [...mine, ...bare].reduce((sum, result) => sum + result.requests, 0),
    failures: [...mine, ...bare].reduce((sum, result) => sum + result.failures, 0),
    statuses,
    memoryGrowthMiB: memoryBefore === null || memoryAfter === null ? null : memoryAfter - memoryBefore,
    memoryMiB: memoryAfter,
    loopDelayMs,
  };
}

const sumOf = (results: readonly LoadResult[]) => results.reduce((sum, result) => sum + result.requests, 0);

/** Adds up the processor time of a process over rounds. */
class CpuMeter {
  readonly #pid: number;
  #seconds: number | null = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const before = processorSeconds(this.#pid);
    const result = await work();
    const after = processorSeconds(this.#pid);
    this.#seconds = before === null || after === null || this.#seconds === null ? null : this.#seconds + after - before;
    return result;
  }

  microsPer(requests: number): number | null {
    return this.#seconds === null || requests === 0 ? null : (this.#seconds * 1e6) / requests;
  }
}

/** The service runs only while it is asked: its jobs must not take the baseline's processor. */
async function onService<T>(lab: Lab, work: () => Promise<T>): Promise<T> {
  lab.service.resume();
  await wait(SETTLE_MS);
  const result = await work();
  await wait(SETTLE_MS);
  return result;
}

/** @throws Error when the two answers differ: then a ratio would compare different work */
async function checkSameBytes(lab: Lab, path: MeasuredPath): Promise<void> {
  if (path.bare(lab).method !== 'GET') return;
  const [mine, theirs] = [await firstAnswer(lab.service.url, path.service(lab)), await firstAnswer(lab.bareUrl, path.bare(lab))];
  if (mine === theirs) return;
  const at = [...mine].findIndex((char, index) => char !== theirs[index]);
  const near = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  throw new Error(`${path.title}: service and baseline answer differently\n  ${near(mine)}\n  ${near(theirs)}`);
}

async function firstAnswer(url: string, plan: RequestPlan): Promise<string> {
  const { path, headers = {} } = plan.items[0]!;
  return (await fetch(`${url}${path}`, { headers })).text();
}
