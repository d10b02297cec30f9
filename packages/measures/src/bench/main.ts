/** npm run bench: measures the paths of docs/performance.md against the bare baseline in the same run, and stores the results. */
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../read-arguments.ts';
import { measureAdminStatistics } from './admin-statistics.ts';
import { measureBigLists } from './big-lists.ts';
import { comparePath } from './compare-path.ts';
import { measureEventLatency } from './event-latency.ts';
import { measureHistory } from './history.ts';
import { measureHotAccount } from './hot-account.ts';
import { measureInterfaceWords } from './interface-words-cost.ts';
import { type Lab, type LabData, type LabOptions, openLab, prepareLab } from './lab.ts';
import { measureLogLines } from './log-lines.ts';
import { measureMemory } from './memory.ts';
import { measureMoneyGrowth } from './money-growth.ts';
import { type BenchOptions, type DatabaseKind, HELP, readOptions } from './options.ts';
import { type MeasuredPath, PATHS } from './paths.ts';
import { type BenchResults, faults, floorVerdicts, keepJson, render, verdicts } from './report.ts';
import { findServer } from './scratch-database.ts';
import { measureSignInBurst } from './sign-in-burst.ts';
import { measureSockets } from './sockets.ts';
import { measureStall } from './stall.ts';
import { measureStarts } from './start-and-memory.ts';
import { measureTelemetry } from './telemetry-cost.ts';
import { measureTwoInstances } from './two-instances.ts';
import { describeAim } from './verdict.ts';

const USERS = { postgres: 20_000, embedded: 5_000 };
const resultFolder = join(import.meta.dirname, '..', '..', '..', '..', '.tmp', 'bench');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const options = readArguments<BenchOptions>(readOptions, HELP);
const progress = (text: string) => console.error(`  ${text}`);
const wants = (name: string) => options.only.length === 0 || options.only.includes(name);
const wantedPaths = PATHS.filter((path) => wants('paths') || options.only.includes(path.name));

async function withLab(lab: Omit<LabOptions, 'progress'>, work: (lab: Lab) => Promise<void>): Promise<void> {
  const nodeOptions = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${resultFolder}`] : [];
  const opened = await openLab({ ...lab, progress, nodeOptions });
  try {
    await work(opened);
  } catch (error) {
    console.error(opened.service.log.slice(-20).join('\n'));
    throw error;
  } finally {
    await opened.close();
  }
}

/** What needs several connections or several instances: PostgreSQL only. */
async function measureScaling(serverUrl: string, results: BenchResults): Promise<void> {
  const size = {
    users: options.quick ? 2_000 : USERS.postgres,
    transactions: options.quick ? 4_000 : USERS.postgres * 5,
    withLedger: true,
  };
  if (wants('money-growth')) results.moneyGrowths.push(await measureMoneyGrowth(serverUrl, size, options, progress));
  const withData = async (work: (data: LabData) => Promise<void>) => {
    const data = await prepareLab({ kind: 'postgres', serverUrl, size, progress });
    await work(data).finally(() => data.close());
  };
  if (wants('two-instances')) {
    await withData(async (data) => {
      progress('two instances on one database');
      results.twoInstances.push(await measureTwoInstances(data, options));
    });
  }
  // Few users: what one build costs more than the other does not depend on them, and the data is made in seconds.
  const few = { ...size, users: Math.min(size.users, 2_000), transactions: 4_000 };
  if (wants('interface-words')) {
    const data = await prepareLab({ kind: 'postgres', serverUrl, size: few, progress });
    results.interfaceWordsCosts.push(...(await measureInterfaceWords(data, options, progress).finally(() => data.close())));
  }
  if (wants('telemetry')) {
    const data = await prepareLab({ kind: 'postgres', serverUrl, size: few, progress });
    results.telemetryCosts.push(...(await measureTelemetry(data, options, progress).finally(() => data.close())));
  }
  if (wants('event-latency')) {
    await withData(async (data) => {
      results.eventLatencies.push(...(await measureEventLatency(data, options.quick ? 4 : 20, progress)));
    });
  }
}

async function measureDatabase(kind: DatabaseKind, serverUrl: string | null, results: BenchResults): Promise<void> {
  if (wants('start')) {
    progress('starts and idle memory');
    results.starts.push(await measureStarts(kind, serverUrl, options.quick));
  }
  const users = USERS[kind];
  const size = { users, transactions: users * 5, withLedger: true };
  const compare = async (lab: Lab, paths: readonly MeasuredPath[]) => {
    for (const path of paths) {
      progress(path.title);
      results.paths.push(await comparePath(lab, path, options));
    }
  };
  const [direct, proxied] = [wantedPaths.filter((path) => !path.isBehindProxy), wantedPaths.filter((path) => path.isBehindProxy)];
  if (direct.length > 0 || wants('hot-account')) {
    await withLab({ kind, serverUrl, size }, async (lab) => {
      await compare(lab, direct);
      if (wants('hot-account')) {
        progress('one hot account');
        results.hotAccounts.push(await measureHotAccount(lab, options.quick ? 3 : 15));
      }
    });
  }
  if (proxied.length > 0 || wants('sign-in-burst')) {
    await withLab({ kind, serverUrl, size, isBehindProxy: true }, async (lab) => {
      await compare(lab, proxied);
      if (wants('sign-in-burst')) {
        progress('fifty sign-ins at once');
        results.signInBursts.push(await measureSignInBurst(lab, options.quick ? 1 : 3));
      }
    });
  }
  if (wants('stall')) {
    // A new service: its queues have no jobs of earlier measurements.
    await withLab({ kind, serverUrl, size: { ...size, users: 2_000, transactions: 4_000 } }, async (lab) => {
      progress('a panel and a webhook receiver that stall');
      results.stalls.push(await measureStall(lab, options.quick ? { rounds: 2, seconds: 4 } : { rounds: 5, seconds: 12 }));
    });
  }
  if (kind === 'postgres') await measureScaling(serverUrl!, results);
  if (options.only.includes('memory') && kind === 'postgres') {
    const rest = options.quick ? { idleSeconds: 20, restSeconds: 20 } : { idleSeconds: 60, restSeconds: 60 };
    results.memories.push(await measureMemory(serverUrl!, { ...options, ...rest }, progress));
  }
  if (options.only.includes('admin-statistics') && options.scale > 0 && kind === 'postgres') {
    const size = { users: options.scale, transactions: options.scale * 10 };
    results.adminStatistics.push(...(await measureAdminStatistics(serverUrl!, size, options, progress)));
  }
  if (options.only.includes('history') && options.scale > 0 && kind === 'postgres') {
    const big = { users: options.scale, transactions: options.scale * 10 };
    await withLab({ kind, serverUrl, size: { ...big, withLedger: true }, keep: options.keep }, async (lab) => {
      results.histories.push(await measureHistory(lab, big, options.quick ? 5 : 60, progress));
      results.bigLists.push(...(await measureBigLists(lab, big, options.quick ? 1 : 5, progress)));
    });
  }
  if (wants('big-lists') && options.scale > 0 && kind === 'postgres') {
    const big = { users: options.scale, transactions: options.scale * 10 };
    await withLab({ kind, serverUrl, size: { ...big, withLedger: false } }, async (lab) => {
      results.bigLists.push(...(await measureBigLists(lab, big, options.quick ? 1 : 5, progress)));
    });
  }
}

const at = new Date();
const results: BenchResults = {
  machine: {
    processors: cpus().length,
    model: cpus()[0]?.model,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    loadBefore: loadavg(),
  },
  options,
  starts: [],
  memories: [],
  paths: [],
  hotAccounts: [],
  moneyGrowths: [],
  twoInstances: [],
  eventLatencies: [],
  telemetryCosts: [],
  interfaceWordsCosts: [],
  signInBursts: [],
  bigLists: [],
  adminStatistics: [],
  histories: [],
  stalls: [],
  sockets: [],
  remarks: [],
};
if (loadavg()[0]! > 1)
  results.remarks.push(
    `The machine was busy before the run (load ${loadavg()[0]!.toFixed(1)}): figures are worse than they could be.`,
  );
const serverUrl = options.databases.includes('postgres') ? await findServer(process.env) : null;
for (const kind of options.databases) {
  if (kind === 'postgres' && serverUrl === null) {
    results.remarks.push(
      'PostgreSQL was left out: no server answers at TEST_DATABASE_URL, DATABASE_URL or 127.0.0.1:5432 that lets us make databases.',
    );
    continue;
  }
  console.error(`${kind}:`);
  await measureDatabase(kind, serverUrl, results);
}
if (wants('sockets')) {
  progress('sockets');
  results.sockets.push(await measureSockets(options.sockets, options.quick ? 3 : 10));
}
if (wants('logging')) results.remarks.push(...(await measureLogLines(options.quick)));
results.machine.loadAfter = loadavg();
console.log(`\n${render(results)}\n\nKept in ${await keepJson(resultFolder, results, at)}`);
const wrong = faults(results);
for (const fault of wrong) console.error(`FAULT: ${fault}`);
const missed = options.strict ? verdicts(results).filter((verdict) => !verdict.isMet) : [];
const below = options.check ? floorVerdicts(results).filter((verdict) => !verdict.isMet) : [];
for (const { subject, text, aim } of below) console.error(`BELOW ITS FLOOR: ${subject} ${text}, ${describeAim(aim)}`);
process.exit(wrong.length > 0 || missed.length > 0 || below.length > 0 ? 1 : 0);
