/** Report of a run: tables, one JSON file for comparisons, and the verdict. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdminStatisticsResult, adminStatisticsTable } from './admin-statistics.ts';
import type { BigListResult } from './big-lists.ts';
import type { PathResult } from './compare-path.ts';
import { type EventLatencyResult, eventLatencyFaults, eventLatencyTable, eventLatencyVerdicts } from './event-latency.ts';
import { type HistoryResult, historyTable, historyVerdicts } from './history.ts';
import type { HotAccountResult } from './hot-account.ts';
import {
  type InterfaceWordsCost,
  interfaceWordsFaults,
  interfaceWordsTable,
  interfaceWordsVerdicts,
} from './interface-words-cost.ts';
import { type MemoryResult, memoryFaults, memoryTable, memoryVerdicts } from './memory.ts';
import { type MoneyGrowthResult, moneyGrowthFaults, moneyGrowthTable, moneyGrowthVerdicts } from './money-growth.ts';
import { PATHS } from './paths.ts';
import { SIGN_INS_AT_ONCE, type SignInBurstResult } from './sign-in-burst.ts';
import { MESSAGES_PER_SECOND, type SocketResult } from './sockets.ts';
import type { StallResult } from './stall.ts';
import type { StartResult } from './start-and-memory.ts';
import { type TelemetryCost, telemetryFaults, telemetryTable, telemetryVerdicts } from './telemetry-cost.ts';
import { type TwoInstancesResult, twoInstancesFaults, twoInstancesTable, twoInstancesVerdicts } from './two-instances.ts';
import { asMs, asMultiple, describeAim, table, type Verdict, verdictOf, withUnit } from './verdict.ts';

export interface BenchResults {
  machine: Record<string, unknown>;
  options: object;
  starts: StartResult[];
  memories: MemoryResult[];
  paths: PathResult[];
  hotAccounts: HotAccountResult[];
  moneyGrowths: MoneyGrowthResult[];
  twoInstances: TwoInstancesResult[];
  eventLatencies: EventLatencyResult[];
  telemetryCosts: TelemetryCost[];
  interfaceWordsCosts: InterfaceWordsCost[];
  signInBursts: SignInBurstResult[];
  bigLists: BigListResult[];
  adminStatistics: AdminStatisticsResult[];
  histories: HistoryResult[];
  stalls: StallResult[];
  sockets: SocketResult[];
  /** What was left out, and why. */
  remarks: string[];
}

/** Growth of one path above which it counts as a leak, MiB. */
const MEMORY_GROWTH_LIMIT = 200;

const AIMS = {
  hotAccount: { atLeast: 400 },
  signInLoop: { atMost: 50 },
  bigList: { atMost: 50 },
  stall: { atMost: 0.2 },
  start: { postgres: { atMost: 3_000 }, embedded: { atMost: 6_000 } },
  idleMemory: { atMost: 220 },
  socketLoop: { atMost: 50 },
  messages: { atLeast: MESSAGES_PER_SECOND },
} as const;

/** Every aim that the run measured. */
export function verdicts(results: BenchResults): Verdict[] {
  return [
    ...results.paths.flatMap((result) => {
      const path = PATHS.find((candidate) => candidate.name === result.name)!;
      const subject = `${result.title} [${result.database}]`;
      return [
        verdictOf(`${subject}: throughput`, result.ratio.median, path.ratioAim, asMultiple),
        ...(path.p99Aim ? [verdictOf(`${subject}: p99`, result.serviceP99Ms / result.bareP99Ms, path.p99Aim, asMultiple)] : []),
      ];
    }),
    ...results.hotAccounts.flatMap((result) => [
      verdictOf(`one hot account [${result.database}]`, result.perSecond, AIMS.hotAccount, withUnit(0, '/s')),
      verdictOf(`deadlocks on it [${result.database}]`, result.deadlocks ?? 0, { atMost: 0 }, withUnit(0, '')),
    ]),
    ...results.moneyGrowths.flatMap(moneyGrowthVerdicts),
    ...results.twoInstances.flatMap(twoInstancesVerdicts),
    ...eventLatencyVerdicts(results.eventLatencies),
    ...telemetryVerdicts(results.telemetryCosts),
    ...interfaceWordsVerdicts(results.interfaceWordsCosts),
    ...results.signInBursts.map((result) =>
      verdictOf(
        `event loop delay p99 with ${SIGN_INS_AT_ONCE} sign-ins at once [${result.database}]`,
        result.loopDelayP99Ms,
        AIMS.signInLoop,
        asMs,
      ),
    ),
    ...results.bigLists.map((result) =>
      verdictOf(`${result.title} [${result.users} users]: p95`, result.p95Ms, AIMS.bigList, asMs),
    ),
    ...results.adminStatistics.map((result) => verdictOf(`${result.title}: p95`, result.one.p95Ms, AIMS.bigList, asMs)),
    ...results.histories.flatMap(historyVerdicts),
    ...results.stalls.map((result) =>
      verdictOf(`p99 while panel and receiver stall [${result.database}]`, result.growth, AIMS.stall, (value) =>
        withUnit(0, ' %')(value * 100),
      ),
    ),
    ...results.starts.flatMap((result) => [
      verdictOf(
        `ready after start [${result.database}]`,
        result.database === 'embedded' ? result.firstStartMs : result.laterStartMs,
        AIMS.start[result.database],
        withUnit(0, ' ms'),
      ),
      ...(result.database === 'postgres' && result.idleMemoryMiB !== null
        ? [verdictOf('idle memory [postgres]', result.idleMemoryMiB, AIMS.idleMemory, withUnit(0, ' MiB'))]
        : []),
    ]),
    ...memoryVerdicts(results.memories),
    ...results.sockets.flatMap((result) => [
      verdictOf(`event loop delay p99 with ${result.sockets} sockets`, result.loopDelayP99Ms, AIMS.socketLoop, asMs),
      verdictOf(
        'messages a second to them',
        Math.max(result.floodPerSecond, result.askedPerSecond),
        AIMS.messages,
        withUnit(0, '/s'),
      ),
    ]),
  ];
}

/** What `--check` measured against its floors (docs/performance.md). */
export function floorVerdicts(results: BenchResults): Verdict[] {
  return results.paths.map(({ name, title, database, ratio }) => {
    const floor = { atLeast: PATHS.find((path) => path.name === name)!.ratioFloor };
    return verdictOf(`${title} [${database}]: floor`, ratio.median, floor, asMultiple);
  });
}

/** Results that fail a run on any machine. */
export function faults(results: BenchResults): string[] {
  return [
    ...results.paths
      .filter((result) => result.failures > 0)
      .map((result) => `${result.title} [${result.database}]: ${result.failures} failures ${JSON.stringify(result.statuses)}`),
    ...results.paths
      .filter((result) => (result.memoryGrowthMiB ?? 0) > MEMORY_GROWTH_LIMIT)
      .map((result) => `${result.title} [${result.database}]: memory grew by ${result.memoryGrowthMiB?.toFixed(0)} MiB`),
    ...results.hotAccounts
      .filter((result) => result.failures > 0)
      .map((result) => `one hot account: ${JSON.stringify(result.statuses)}`),
    ...results.hotAccounts
      .filter((result) => (result.ledgerProblems ?? 0) > 0)
      .map((result) => `ledger check: ${result.ledgerProblems} problems [${result.database}]`),
    ...results.moneyGrowths.flatMap(moneyGrowthFaults),
    ...results.twoInstances.flatMap(twoInstancesFaults),
    ...memoryFaults(results.memories),
    ...eventLatencyFaults(results.eventLatencies),
    ...telemetryFaults(results.telemetryCosts),
    ...interfaceWordsFaults(results.interfaceWordsCosts),
    ...results.signInBursts
      .filter((result) => result.failures > 0)
      .map((result) => `sign-ins at once [${result.database}]: ${JSON.stringify(result.statuses)}`),
    ...results.bigLists.filter((result) => result.failures > 0).map((result) => `${result.title}: ${result.failures} failures`),
    ...results.histories.filter((result) => result.failures > 0).map((result) => `history: ${result.failures} failures`),
    ...results.adminStatistics.flatMap((result) => result.failures.map((failure) => `${result.title}: ${failure}`)),
    ...results.stalls.filter((result) => result.failures > 0).map((result) => `stall: ${JSON.stringify(result.statuses)}`),
    ...results.sockets
      .filter((result) => result.received < result.expected)
      .map((result) => `sockets: ${result.received} of ${result.expected} messages came`),
  ];
}

/** The tables, as Markdown. */
export function render(results: BenchResults): string {
  const range = ({ min, max }: { min: number; max: number }) => `${min.toFixed(2)}–${max.toFixed(2)}`;
  const optional = (value: number | null, digits = 0) => (value === null ? '–' : value.toFixed(digits));
  const parts: string[] = [];
  if (results.paths.length > 0) {
    parts.push(
      table(
        [
          'Path',
          'Database',
          'Service /s',
          'Bare /s',
          'Ratio (spread)',
          'p50 ms',
          'p99 ms',
          'bare p99',
          'CPU µs',
          'bare CPU',
          'Loop p99',
          'Memory MiB (growth)',
        ],
        results.paths.map((row) => [
          row.title,
          row.database,
          row.servicePerSecond.median.toFixed(0),
          row.barePerSecond.median.toFixed(0),
          `${row.ratio.median.toFixed(2)} (${range(row.ratio)})`,
          row.serviceP50Ms.toFixed(1),
          row.serviceP99Ms.toFixed(1),
          row.bareP99Ms.toFixed(1),
          optional(row.serviceCpuMicros),
          optional(row.bareCpuMicros),
          row.loopDelayMs.toFixed(0),
          `${optional(row.memoryMiB)} (${optional(row.memoryGrowthMiB)})`,
        ]),
      ),
    );
  }
  parts.push(...results.moneyGrowths.map(moneyGrowthTable));
  if (results.twoInstances.length > 0) parts.push(twoInstancesTable(results.twoInstances));
  if (results.eventLatencies.length > 0) parts.push(eventLatencyTable(results.eventLatencies));
  if (results.telemetryCosts.length > 0) parts.push(telemetryTable(results.telemetryCosts));
  if (results.interfaceWordsCosts.length > 0) parts.push(interfaceWordsTable(results.interfaceWordsCosts));
  parts.push(...results.histories.map(historyTable));
  if (results.adminStatistics.length > 0) parts.push(adminStatisticsTable(results.adminStatistics));
  if (results.bigLists.length > 0) {
    parts.push(
      table(
        ['List', 'Users', 'p50 ms', 'p95 ms', 'max ms'],
        results.bigLists.map((row) => [
          row.title,
          String(row.users),
          row.p50Ms.toFixed(1),
          row.p95Ms.toFixed(1),
          row.maxMs.toFixed(1),
        ]),
      ),
    );
  }
  if (results.starts.length > 0) {
    parts.push(
      table(
        ['Start', 'First start ms', 'Later start ms', 'Idle memory MiB'],
        results.starts.map((row) => [
          row.database,
          row.firstStartMs.toFixed(0),
          row.laterStartMs.toFixed(0),
          optional(row.idleMemoryMiB),
        ]),
      ),
    );
  }
  parts.push(...results.memories.map(memoryTable));
  if (results.signInBursts.length > 0) {
    parts.push(
      table(
        [`${SIGN_INS_AT_ONCE} sign-ins at once`, 'Sign-ins /s', 'Slowest ms', 'Loop p99 ms'],
        results.signInBursts.map((row) => [
          row.database,
          row.perSecond.toFixed(1),
          row.slowestMs.toFixed(0),
          row.loopDelayP99Ms.toFixed(1),
        ]),
      ),
    );
  }
  for (const row of results.sockets) parts.push(row.lines.join('\n'));
  parts.push(
    table(
      ['Aim', 'Wanted', 'Measured', ''],
      verdicts(results).map((row) => [row.subject, describeAim(row.aim), row.text, row.isMet ? 'met' : 'MISSED']),
    ),
  );
  parts.push(...results.remarks);
  return parts.join('\n\n');
}

/** @returns path of the file */
export async function keepJson(folder: string, results: BenchResults, at: Date): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${at.toISOString().replaceAll(':', '-').slice(0, 19)}.json`);
  await writeFile(path, `${JSON.stringify({ at, ...results, verdicts: verdicts(results), faults: faults(results) }, null, 2)}\n`);
  return path;
}
