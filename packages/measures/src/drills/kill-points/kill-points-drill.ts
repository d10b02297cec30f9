/** Each operation is killed at each point of its input and output, by number, and repeated as its client would (docs/drills.md). */
import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE_MS } from '../../../../../src/core/clock.ts';
import { findDrillServer } from '../../bench/scratch-database.ts';
import { timeName } from '../fixture.ts';
import type { DrillOptions } from '../options.ts';
import { type DrillReport, textTable } from '../report.ts';
import { createRandom, type SeededRandom } from '../seeded-random.ts';
import { type Books, checkInstallation } from './books.ts';
import { type KillFixture, openKillFixture } from './kill-fixture.ts';
import { KILL_OPERATIONS, type KillOperation } from './operation-names.ts';
import { OPERATIONS } from './operations.ts';
import { distinctPoints } from './points.ts';
import type { Outcome, Trial } from './trial.ts';

type KillPointOptions = Extract<DrillOptions, { drill: 'kill-points' }>;

/** An operation that was not killed. */
interface Walked {
  name: KillOperation;
  /** Texts of its points, in their order. */
  points: readonly string[];
  books: Books;
  /** Numbers of the points at which it is killed. */
  chosen: readonly number[];
  killed: number;
  /** Texts of the points at which it was killed. */
  places: Set<string>;
  wrong: { at: number; place: string; what: string[] }[];
}

/** The process goes on briefly after the last row that shows that it has something to do. */
const TAIL_MS = 200;
/** An `Idempotency-Key` whose request was killed between two transactions is free after two minutes. */
const KEY_MS = 3 * MINUTE_MS;
const MAX_TRIES = 6;

/** @returns false when PostgreSQL is missing and the drill was left out */
export async function runKillPointsDrill(
  options: KillPointOptions,
  report: DrillReport,
  progress: (text: string) => void,
  print: (text: string) => void = console.log,
): Promise<boolean> {
  const serverUrl = await findDrillServer(print);
  if (serverUrl === null) return false;
  const startedAt = timeName(new Date());
  const open = (lane: number) => openKillFixture(serverUrl, `kill-points-${startedAt}-${lane}`);
  progress('tables, fakes of the outside systems, the service');
  const first = await open(0);
  const walked: Walked[] = [];
  for (const name of options.operations) {
    // By the name alone: the points of an operation do not depend on which others are walked through.
    const random = createRandom(options.seed + KILL_OPERATIONS.indexOf(name));
    const one = await countPoints(first, name, options.points, random);
    progress(`${name}: ${one.points.length} points, killed at ${one.chosen.length} of them`);
    walked.push(one);
  }
  const waiting = walked.flatMap((one) => one.chosen.map((at) => ({ one, at })));
  const work = async (lane: number, opened: KillFixture): Promise<void> => {
    let fixture = opened;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { one, at } = next;
      const { isKilled, what } = await killAt(fixture, one, at);
      // This time the operation had fewer points than when they were counted: an earlier one is walked in its place.
      if (!isKilled && at > 1) waiting.push({ one, at: Math.ceil(at / 2) });
      if (waiting.length % 5 === 0)
        progress(`${waiting.length} points are left, ${walked.map(({ name, killed }) => `${name} ${killed}`).join(', ')} killed`);
      if (what.length === 0) continue;
      one.wrong.push({ at, place: one.points[at - 1]!, what });
      progress(`${one.name}, point ${at} (${one.points[at - 1]}): ${what.join('; ')}`);
      // What it has left would be found at the next points again.
      await fixture.close();
      if (waiting.length > 0) fixture = await open(lane);
    }
    await fixture.close();
  };
  await Promise.all(
    Array.from({ length: options.lanes }, async (_value, lane) => work(lane, lane === 0 ? first : await open(lane))),
  );
  conclude(walked, report, print);
  return true;
}

function conclude(walked: readonly Walked[], report: DrillReport, print: (text: string) => void): void {
  const rows = walked.map(({ name, points, chosen, killed, wrong }) =>
    [name, points.length, chosen.length, killed, wrong.length].map(String),
  );
  print(textTable(['operation', 'points', 'walked', 'killed', 'wrong'], rows));
  for (const { name, points, killed, places, wrong } of walked) {
    const texts = wrong.map(({ at, place, what }) => `point ${at} (${place}): ${what.join('; ')}`);
    const isKilled = killed > 0 ? [] : ['it was killed at no point'];
    report.add(
      `${name}, killed and repeated, ends as one that was not killed`,
      `${killed} kills at ${places.size} different of ${new Set(points).size} places`,
      [...texts, ...isKilled],
    );
  }
}

/** Carries the operation out twice without a kill: the second time with what a process remembers, as at the points. */
async function countPoints(
  fixture: KillFixture,
  name: KillOperation,
  limit: number | null,
  random: SeededRandom,
): Promise<Walked> {
  await carryOut(fixture, name, await prepare(fixture, name));
  const trial = await prepare(fixture, name);
  await fixture.service.arm(0);
  await carryOut(fixture, name, trial);
  await wait(TAIL_MS);
  const points = await fixture.service.points();
  const all = distinctPoints(points);
  const chosen = limit === null ? all : chooseSome(all, limit, random);
  return { name, points, books: await trial.books(), chosen, killed: 0, places: new Set(), wrong: [] };
}

/** @throws Error when the operation is not right even without a kill */
async function carryOut(fixture: KillFixture, name: KillOperation, trial: Trial): Promise<void> {
  // On a busy machine an answer can be lost without a kill.
  const outcome = await repeatLost(fixture, trial, await trial.send());
  const left = await fixture.settle();
  const wrong = [
    ...(outcome === 'done' ? [] : [outcome]),
    ...left,
    ...(await trial.violations(null)),
    ...(await checkInstallation(fixture)),
  ];
  if (wrong.length > 0) throw new Error(`${name} is wrong without a kill: ${wrong.join('; ')}`);
}

async function prepare(fixture: KillFixture, name: KillOperation): Promise<Trial> {
  const trial = await OPERATIONS[name](fixture);
  const left = await fixture.settle();
  if (left.length > 0) throw new Error(`the preparation of ${name} does not end: ${left.join('; ')}`);
  return trial;
}

/** @returns whether the point was reached, and what is wrong afterwards */
async function killAt(fixture: KillFixture, one: Walked, at: number): Promise<{ isKilled: boolean; what: string[] }> {
  const { service } = fixture;
  const trial = await prepare(fixture, one.name);
  await service.arm(at);
  const first = await trial.send();
  await fixture.settle();
  if (service.isRunning()) await wait(TAIL_MS);
  const isKilled = !service.isRunning();
  if (!isKilled) {
    // Not reached: counted no further.
    await service.arm(0);
  } else {
    one.killed += 1;
    one.places.add((await service.points()).at(-1)!);
    await fixture.recover();
  }
  const outcome = await repeatLost(fixture, trial, first);
  const left = await fixture.settle();
  const what = [
    ...(outcome === 'done' ? [] : [`the operation is ${outcome}`]),
    ...left,
    ...(await trial.violations(one.books)),
    ...(await checkInstallation(fixture)),
  ];
  return { isKilled, what };
}

async function repeatLost(fixture: KillFixture, trial: Trial, first: Outcome): Promise<Outcome> {
  let outcome = first;
  for (let tries = 1; outcome === 'lost' && tries < MAX_TRIES; tries += 1) {
    outcome = await trial.send();
    if (outcome === 'lost') await fixture.skipTime(KEY_MS);
  }
  return outcome;
}

function chooseSome(all: readonly number[], limit: number, random: SeededRandom): number[] {
  return all
    .map((at) => ({ at, rank: random.next() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, limit)
    .map(({ at }) => at);
}
