/**
 * Whether the throughput of money writes grows with load: balance writes of many users at 4 to 64 connections, service and baseline each
 * with a pool of the same size, with and without the flush to the disk.
 */
import { Cleanup } from './cleanup.ts';
import { comparePath, type Pace } from './compare-path.ts';
import { countLedgerProblems } from './database-facts.ts';
import { durabilities } from './durability.ts';
import { type LabData, prepareLab, startLab } from './lab.ts';
import { LockWaitMeter, type LockWaits } from './lock-waits.ts';
import { pathNamed } from './paths.ts';
import type { SeedSize } from './seed-data.ts';
import type { Aim, Summary } from './statistics.ts';
import { asMultiple, asPercent, table, type Verdict, verdictOf } from './verdict.ts';

/** Connections of the load generator, and of the pools. The first one is what the others are compared with. */
const CONNECTIONS = [4, 16, 32, 64] as const;

export interface MoneyGrowthRow {
  /** Of the server, e.g. `fsync on`. */
  durability: string;
  connections: number;
  /** Transactions a second. */
  servicePerSecond: Summary;
  barePerSecond: Summary;
  ratio: Summary;
  serviceP99Ms: number;
  lockWaits: LockWaits;
  failures: number;
  statuses: Record<string, number>;
}

export interface MoneyGrowthResult {
  rows: MoneyGrowthRow[];
  /** Violations of the ledger afterwards, by durability. */
  ledgerProblems: Record<string, number>;
}

export async function measureMoneyGrowth(
  serverUrl: string,
  size: SeedSize,
  pace: Pace,
  progress: (text: string) => void,
): Promise<MoneyGrowthResult> {
  const result: MoneyGrowthResult = { rows: [], ledgerProblems: {} };
  for await (const { name, serverUrl: url, databaseSettings, stop } of durabilities(serverUrl)) {
    try {
      progress(`money writes, ${name}`);
      const data = await prepareLab({ kind: 'postgres', serverUrl: url, size, databaseSettings, progress });
      try {
        for (const connections of CONNECTIONS) {
          progress(`${connections} connections`);
          result.rows.push({ durability: name, connections, ...(await measureAt(data, connections, pace)) });
        }
        result.ledgerProblems[name] = await countLedgerProblems(data.database);
      } finally {
        await data.close();
      }
    } finally {
      await stop();
    }
  }
  return result;
}

async function measureAt(data: LabData, connections: number, pace: Pace) {
  const cleanup = new Cleanup();
  try {
    const lab = cleanup.add(await startLab(data, { poolSize: connections }), (processes) => processes.close());
    const meter = cleanup.add(await LockWaitMeter.open(data.database.url!), (opened) => opened.close());
    const measured = await comparePath(lab, { ...pathNamed('balance-write'), connections }, pace, meter);
    const { servicePerSecond, barePerSecond, ratio, serviceP99Ms, failures, statuses } = measured;
    return { servicePerSecond, barePerSecond, ratio, serviceP99Ms, failures, statuses, lockWaits: meter.waits() };
  } finally {
    await cleanup.run();
  }
}

export interface GrowthRow extends MoneyGrowthRow {
  /** Throughput as a multiple of that at the fewest connections. */
  serviceGrowth: number;
  bareGrowth: number;
}

/** Each row beside the first one of its durability. */
export function withGrowth(rows: readonly MoneyGrowthRow[]): GrowthRow[] {
  return rows.map((row) => {
    const first = rows.find(({ durability }) => durability === row.durability)!;
    return {
      ...row,
      serviceGrowth: row.servicePerSecond.median / Math.max(1, first.servicePerSecond.median),
      bareGrowth: row.barePerSecond.median / Math.max(1, first.barePerSecond.median),
    };
  });
}

const GROWTH_AIM = { connections: 32, atLeast: 2.5 };

/**
 * The growth that is wanted at a number of connections. Where the hand-written statement itself does not grow by as much, the processors
 * (or the disk) are the limit: then the throughput must only not fall.
 */
export function growthAim({ connections, bareGrowth }: Pick<GrowthRow, 'connections' | 'bareGrowth'>): Aim {
  const processorsAllow = bareGrowth >= GROWTH_AIM.atLeast;
  return { atLeast: connections === GROWTH_AIM.connections && processorsAllow ? GROWTH_AIM.atLeast : 1 };
}

export function moneyGrowthVerdicts({ rows }: MoneyGrowthResult): Verdict[] {
  return withGrowth(rows).flatMap((row) => {
    const subject = `money writes, ${row.durability}, ${row.connections} connections`;
    const isFirst = row.connections === CONNECTIONS[0];
    return [
      verdictOf(`${subject}: throughput`, row.ratio.median, pathNamed('balance-write').ratioAim, asMultiple),
      ...(isFirst ? [] : [verdictOf(`${subject}: of that at ${CONNECTIONS[0]}`, row.serviceGrowth, growthAim(row), asMultiple)]),
      verdictOf(`${subject}: waits for Lock: object`, row.lockWaits.share, { atMost: 0 }, asPercent),
    ];
  });
}

export function moneyGrowthFaults({ rows, ledgerProblems }: MoneyGrowthResult): string[] {
  return [
    ...rows
      .filter(({ failures }) => failures > 0)
      .map((row) => `money writes, ${row.durability}, ${row.connections} connections: ${JSON.stringify(row.statuses)}`),
    ...Object.entries(ledgerProblems)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `money writes, ${name}: ledger check: ${count} problems`),
  ];
}

export function moneyGrowthTable({ rows }: MoneyGrowthResult): string {
  return table(
    [
      'Money writes',
      'Connections',
      'Service /s',
      'x of 4',
      'Bare /s',
      'x of 4',
      'Ratio (spread)',
      'p99 ms',
      'Lock: object (samples)',
    ],
    withGrowth(rows).map((row) => [
      row.durability,
      String(row.connections),
      row.servicePerSecond.median.toFixed(0),
      row.serviceGrowth.toFixed(2),
      row.barePerSecond.median.toFixed(0),
      row.bareGrowth.toFixed(2),
      `${row.ratio.median.toFixed(2)} (${row.ratio.min.toFixed(2)}–${row.ratio.max.toFixed(2)})`,
      row.serviceP99Ms.toFixed(1),
      `${asPercent(row.lockWaits.share)} (${row.lockWaits.samples})`,
    ]),
  );
}
