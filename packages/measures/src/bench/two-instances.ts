/**
 * Two instances of the service on one database under money load, half of the clients each, against one instance with all of them. The
 * second instance runs in both cases: paused in the middle of a transaction, it would keep its locks and stop the first one.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Cleanup } from './cleanup.ts';
import type { Pace } from './compare-path.ts';
import { countLedgerProblems, countStoredAnswers } from './database-facts.ts';
import { type Lab, type LabData, startGenerator, startInstance, startLab } from './lab.ts';
import type { LoadOrder, LoadResult } from './load-generator.ts';
import { LockWaitMeter, type LockWaits } from './lock-waits.ts';
import { pathNamed } from './paths.ts';
import { type Summary, summarise } from './statistics.ts';
import { asPercent, table, type Verdict, verdictOf } from './verdict.ts';

export interface TwoInstancesResult {
  /** Of the load generators together; each instance's pool has as many. */
  connections: number;
  /** Transactions a second. */
  onePerSecond: Summary;
  /** Of both together. */
  twoPerSecond: Summary;
  /** Of each round's pair: two instances as a multiple of one. */
  ratio: Summary;
  /** While both work. */
  lockWaits: LockWaits;
  failures: number;
  statuses: Record<string, number>;
  /** Writes that were answered with success, and their stored answers; more may be stored than answered, because a load ends in mid-request. */
  answered: number;
  stored: number;
  ledgerProblems: number;
}

const CLIENTS = 32;
const SETTLE_MS = 300;

export async function measureTwoInstances(data: LabData, pace: Pace): Promise<TwoInstancesResult> {
  const cleanup = new Cleanup();
  try {
    const lab = cleanup.add(await startLab(data, { poolSize: CLIENTS }), (processes) => processes.close());
    const second = cleanup.add(await startInstance(data, { poolSize: CLIENTS }), (instance) => instance.stop());
    const generator = cleanup.add(startGenerator(), (worker) => worker.stop());
    const meter = cleanup.add(await LockWaitMeter.open(data.database.url!), (opened) => opened.close());
    const storedBefore = await countStoredAnswers(data.database);
    const results: LoadResult[] = [];
    const one = async (seconds: number) => {
      const result = await lab.load(orderFor(lab, lab.service.url, CLIENTS, 0, seconds));
      await wait(SETTLE_MS);
      results.push(result);
      return perSecond(result);
    };
    const two = async (seconds: number) => {
      const half = CLIENTS / 2;
      const pair = await meter.during(() =>
        Promise.all([
          lab.load(orderFor(lab, lab.service.url, half, 0, seconds)),
          generator.ask(orderFor(lab, second.url, half, lab.userIds.length >> 1, seconds)),
        ]),
      );
      await wait(SETTLE_MS);
      results.push(...pair);
      return perSecond(pair[0]) + perSecond(pair[1]);
    };
    await one(pace.warmUpSeconds);
    await two(pace.warmUpSeconds);
    const rounds: { one: number; two: number }[] = [];
    for (let round = 0; round < pace.rounds; round += 1) {
      const inOrder = round % 2 === 0;
      const first = await (inOrder ? one : two)(pace.secondsPerRound);
      const last = await (inOrder ? two : one)(pace.secondsPerRound);
      rounds.push(inOrder ? { one: first, two: last } : { one: last, two: first });
    }
    const statuses: Record<string, number> = {};
    for (const [status, count] of results.flatMap((result) => Object.entries(result.statuses)))
      statuses[status] = (statuses[status] ?? 0) + count;
    return {
      connections: CLIENTS,
      onePerSecond: summarise(rounds.map((round) => round.one)),
      twoPerSecond: summarise(rounds.map((round) => round.two)),
      ratio: summarise(rounds.map((round) => round.two / Math.max(1, round.one))),
      lockWaits: meter.waits(),
      failures: results.reduce((sum, result) => sum + result.failures, 0),
      statuses,
      answered: results.reduce((sum, result) => sum + result.requests, 0),
      stored: (await countStoredAnswers(data.database)) - storedBefore,
      ledgerProblems: await countLedgerProblems(data.database),
    };
  } finally {
    await cleanup.run();
  }
}

/** Balance writes; the two halves of the clients begin with different users. */
function orderFor(lab: Lab, url: string, connections: number, from: number, seconds: number): LoadOrder {
  const requests = pathNamed('balance-write').service(lab);
  const items = [...requests.items.slice(from), ...requests.items.slice(0, from)];
  return { url, connections, seconds, requests: { ...requests, items } };
}

const perSecond = (result: LoadResult) => result.requests / result.seconds;

export function twoInstancesVerdicts(result: TwoInstancesResult): Verdict[] {
  return [verdictOf('two instances: waits for Lock: object', result.lockWaits.share, { atMost: 0 }, asPercent)];
}

export function twoInstancesFaults(result: TwoInstancesResult): string[] {
  const { failures, statuses, answered, stored, ledgerProblems } = result;
  return [
    ...(failures > 0 ? [`two instances: ${failures} failures ${JSON.stringify(statuses)}`] : []),
    ...(stored < answered ? [`two instances: ${answered} writes were answered, ${stored} are stored`] : []),
    ...(ledgerProblems > 0 ? [`two instances: ledger check: ${ledgerProblems} problems`] : []),
  ];
}

export function twoInstancesTable(rows: readonly TwoInstancesResult[]): string {
  return table(
    [
      'Two instances',
      'One /s',
      'Two /s',
      'Two of one (spread)',
      'Lock: object (samples)',
      'Answered',
      'Stored',
      'Ledger problems',
    ],
    rows.map((row) => [
      `${row.connections} connections`,
      row.onePerSecond.median.toFixed(0),
      row.twoPerSecond.median.toFixed(0),
      `${row.ratio.median.toFixed(2)} (${row.ratio.min.toFixed(2)}–${row.ratio.max.toFixed(2)})`,
      `${asPercent(row.lockWaits.share)} (${row.lockWaits.samples})`,
      String(row.answered),
      String(row.stored),
      String(row.ledgerProblems),
    ]),
  );
}
