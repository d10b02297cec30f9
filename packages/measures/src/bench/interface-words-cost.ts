/**
 * What the words of clients cost (spec 09 section 6): processor time of a request on the mount against the same one at the root, both of one process, in
 * interleaved rounds.
 */
import { processorTime } from './child-process.ts';
import type { Pace } from './compare-path.ts';
import { type LabData, startLab } from './lab.ts';
import type { LoadResult, RequestPlan } from './load-generator.ts';
import { PATHS } from './paths.ts';
import { growth, median, type Summary, summarise } from './statistics.ts';
import { asPercent, table, type Verdict, verdictOf } from './verdict.ts';

export interface InterfaceWordsCost {
  title: string;
  /** Processor time a request, median of the rounds, microseconds; background work included. */
  rootMicros: number;
  mountMicros: number;
  /** Of each round's pair: by how much the mount exceeds the root, as a share. */
  growth: Summary;
  requests: number;
  failures: number;
}

const PREFIX = '/compat';
/** Callbacks are not on the mount; sign-ins by password are all hashing. */
const MEASURED = PATHS.filter(({ name }) => name !== 'callback' && name !== 'login');

const below = (prefix: string, plan: RequestPlan): RequestPlan => ({
  ...plan,
  items: plan.items.map((item) => ({ ...item, path: `${prefix}${item.path}` })),
});

/** @throws Error where the system does not report the processor time of processes */
export async function measureInterfaceWords(
  data: LabData,
  pace: Pace,
  progress: (text: string) => void,
): Promise<InterfaceWordsCost[]> {
  const environment = {
    ...data.environment,
    INTERFACE_WORDS: 'telegram=messenger,remnawave=vpnpanel',
    INTERFACE_WORDS_PREFIX: PREFIX,
  };
  const lab = await startLab({ ...data, environment });
  try {
    const { url, pid } = lab.service;
    const results: InterfaceWordsCost[] = [];
    for (const path of MEASURED) {
      progress(`${path.title}, at the root and on the mount`);
      const prefixes = ['', PREFIX] as const;
      const load = (prefix: string, seconds: number) =>
        lab.load({ url, connections: path.connections, seconds, requests: below(prefix, path.service(lab)) });
      for (const prefix of prefixes) await load(prefix, pace.warmUpSeconds);
      const rounds: LoadResult[] = [];
      const micros: [root: number[], mount: number[]] = [[], []];
      for (let round = 0; round < pace.rounds; round += 1) {
        // Whichever comes second finds a warmer machine; so they take turns.
        for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          const before = processorTime(pid);
          const result = await load(prefixes[side], pace.secondsPerRound);
          micros[side].push(((processorTime(pid) - before) * 1e6) / Math.max(1, result.requests));
          rounds.push(result);
        }
      }
      results.push({
        title: path.title,
        rootMicros: median(micros[0]),
        mountMicros: median(micros[1]),
        growth: summarise(micros[0].map((root, round) => growth(root, micros[1][round]!))),
        requests: rounds.reduce((sum, result) => sum + result.requests, 0),
        failures: rounds.reduce((sum, result) => sum + result.failures, 0),
      });
    }
    return results;
  } finally {
    await lab.close();
  }
}

const AIMS = { median: { atMost: 0.1 }, each: { atMost: 0.2 } };

export function interfaceWordsVerdicts(results: readonly InterfaceWordsCost[]): Verdict[] {
  if (results.length === 0) return [];
  const shares = results.map((result) => result.growth.median);
  return [
    verdictOf('more processor time on the mount, median of the paths', median(shares), AIMS.median, asPercent),
    verdictOf('more processor time on the mount, the dearest path', Math.max(...shares), AIMS.each, asPercent),
  ];
}

export function interfaceWordsFaults(results: readonly InterfaceWordsCost[]): string[] {
  return results
    .filter(({ failures }) => failures > 0)
    .map(({ title, failures }) => `${title}, on the mount: ${failures} failures`);
}

export function interfaceWordsTable(results: readonly InterfaceWordsCost[]): string {
  return table(
    ['Words of clients', 'CPU µs root', 'CPU µs mount', 'More (spread)', 'Requests'],
    results.map((row) => [
      row.title,
      row.rootMicros.toFixed(0),
      row.mountMicros.toFixed(0),
      `${asPercent(row.growth.median)} (${asPercent(row.growth.min)} to ${asPercent(row.growth.max)})`,
      String(row.requests),
    ]),
  );
}
