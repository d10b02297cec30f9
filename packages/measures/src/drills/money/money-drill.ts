/** All that moves money, at every provider at once, on two instances that are killed again and again. */
import { setTimeout as wait } from 'node:timers/promises';
import { HOUR_MS, SECOND_MS } from '../../../../../src/core/clock.ts';
import { findDrillServer } from '../../bench/scratch-database.ts';
import { proveAnswers, proveInstances, renderAnswers, renderErrors } from '../answer-proof.ts';
import { startKilling } from '../killing.ts';
import type { DrillOptions } from '../options.ts';
import { countsText, type DrillReport } from '../report.ts';
import { createRandom, type SeededRandom } from '../seeded-random.ts';
import { buyGift, buyTariff } from './buyers.ts';
import { proveCredits, proveReversals, proveStars } from './credit-proof.ts';
import { createDrillContext, type DrillContext, runLane } from './drill-context.ts';
import { refundByHand, refundPayment, resolveCases } from './operator.ts';
import { topUp } from './payers.ts';
import { withdraw } from './payouts.ts';
import { proveReceipts } from './receipt-proof.ts';
import { setUpRenewers } from './renewals.ts';
import { proveCauses, proveGifts, provePurchases, proveRenewals, proveRewards, proveWithdrawals } from './sale-proof.ts';
import { payTwice, proveSecondCharges } from './second-charges.ts';
import { createServiceClient } from './service-client.ts';
import { readServiceFacts } from './service-facts.ts';
import { openServiceFixture } from './service-fixture.ts';
import { finishAndStop, readFailedJobs, readUnfinished } from './unfinished.ts';

type MoneyOptions = Extract<DrillOptions, { drill: 'money' }>;

/** Longer than an invoice is open, so that what is paid on the next day has expired here. */
const DAY_MS = 25 * HOUR_MS;
const FINISH_LIMIT_MS = 600_000;
/** Time that passes within a day besides the real one: the waits of some minutes end, e.g. those before an unclear receipt is looked up. */
const STEP_SECONDS = { min: 61, max: 75 };
const STEP_PAUSE_MS = 3_000;
const REST_LIMIT_MS = 45_000;
const LANES: readonly { count: number; pauseMs: number; step: (drill: DrillContext) => Promise<void> }[] = [
  { count: 6, pauseMs: 150, step: (drill) => topUp(drill, drill.random.pick(drill.fixture.people.shoppers)) },
  { count: 1, pauseMs: 500, step: (drill) => buyTariff(drill, drill.random.pick(drill.fixture.people.shoppers)) },
  { count: 1, pauseMs: 400, step: (drill) => buyGift(drill, drill.random.pick(drill.fixture.people.shoppers)) },
  { count: 1, pauseMs: 600, step: withdraw },
  { count: 2, pauseMs: 400, step: refundPayment },
  { count: 1, pauseMs: 700, step: payTwice },
  { count: 1, pauseMs: 1_000, step: resolveCases },
  { count: 1, pauseMs: STEP_PAUSE_MS, step: passMinute },
  // The load of a day falls on a few users within a minute.
  {
    count: 1,
    pauseMs: 1_000,
    step: async ({ fixture }) => void (await fixture.app.db.sql('DELETE FROM rate_limit_windows RETURNING 1 AS one')),
  },
];
const KILLS = { minBetweenMs: 200, maxBetweenMs: 4_000 };
const AIM_LIMIT_MS = 3_000;
const TAX_UP_MS = 8_000;
const TAX_DOWN_MS = 1_500;

/** @returns false when PostgreSQL is missing and the drill was left out */
export async function runMoneyDrill(
  options: MoneyOptions,
  report: DrillReport,
  progress: (text: string) => void,
  print: (text: string) => void = console.log,
): Promise<boolean> {
  const serverUrl = await findDrillServer(print);
  if (serverUrl === null) return false;
  const random = createRandom(options.seed);
  progress('tables, fakes of all providers, two instances');
  const fixture = await openServiceFixture({ serverUrl, random: createRandom(options.seed + 1) });
  const urls = fixture.instances.map(({ url }) => url);
  const client = createServiceClient(urls, fixture.tokenOf, createRandom(options.seed + 2));
  try {
    const drill = createDrillContext(fixture, client, random);
    const kills = await runDays(drill, options, progress);
    await proveAll(drill, report);
    print(describe(drill, kills));
  } finally {
    client.close();
    await fixture.close();
  }
  return true;
}

async function runDays(drill: DrillContext, { days, daySeconds, seed }: MoneyOptions, progress: (text: string) => void) {
  const { fixture } = drill;
  const kills = new Map<string, number>();
  progress('users with saved cards');
  await setUpRenewers(drill);
  for (let day = 1; day <= days; day += 1) {
    progress(`day ${day} of ${days}: ${drill.fixture.fakes.callbacks.describe()}`);
    await runDay(drill, daySeconds, createRandom(seed + 1_000 * day), kills);
    await processRest(drill);
    await fixture.killAll();
    for (const { name } of fixture.instances) kills.set(name, (kills.get(name) ?? 0) + 1);
    await fixture.passTime(DAY_MS);
    await fixture.startAll();
    fixture.fakes.callbacks.deliverLate();
  }
  for (const work of drill.tomorrow.splice(0)) drill.inBackground(work);
  await drill.settled();
  progress('the rest of the work');
  const { callbacks, updates, paymentProxy, receiptProxy, messengerProxy } = fixture.fakes;
  callbacks.hasLate = false;
  callbacks.deliverLate();
  for (const proxy of [paymentProxy, receiptProxy, messengerProxy]) proxy.isFaulty = false;
  await Promise.all([callbacks.idle(), updates.idle()]);
  await finishAndStop(fixture, { limitMs: FINISH_LIMIT_MS, progress, byHand: () => refundByHand(drill) });
  return kills;
}

/** Load and kills for some seconds; it ends when every request is answered. */
async function runDay(drill: DrillContext, seconds: number, random: SeededRandom, kills: Map<string, number>): Promise<void> {
  let isStopping = false;
  for (const work of drill.tomorrow.splice(0)) drill.inBackground(work);
  const { instances, endLeases } = drill.fixture;
  const victims = instances.map(({ name, start, kill }) => ({ name, start, kill: () => kill().then(endLeases) }));
  const killing = startKilling(victims, random, { ...KILLS, aim: (kill) => aim(drill, random, kill) });
  const taxService = toggleTaxService(drill, () => isStopping);
  const lanes = LANES.flatMap(({ count, pauseMs, step }) =>
    Array.from({ length: count }, () =>
      runLane(
        drill,
        () => isStopping,
        pauseMs,
        () => step(drill),
      ),
    ),
  );
  await wait(seconds * 1_000);
  isStopping = true;
  await Promise.all([...lanes, taxService]);
  await drill.settled();
  await killing.stop();
  for (const [name, count] of killing.kills) kills.set(name, (kills.get(name) ?? 0) + count);
}

/** The refunds and receipts that the day has left are tried on while answers are lost: most of them on a slow machine. */
async function processRest(drill: DrillContext): Promise<void> {
  const until = performance.now() + REST_LIMIT_MS;
  while (performance.now() < until) {
    const open = await readUnfinished(drill.fixture.app.db);
    if (!open.has('refunds') && !open.has('receipts')) return;
    await passMinute(drill);
    await wait(STEP_PAUSE_MS);
  }
}

/** Not while a receipt is due: later than ten minutes after its payment it is looked up in any case, and a slow machine takes long for one. */
async function passMinute({ fixture, random }: DrillContext): Promise<void> {
  const { db, clock } = fixture.app;
  const due = await db.sql('SELECT id FROM receipts WHERE next_attempt_at <= $1::timestamptz LIMIT 1', [clock.now()]);
  if (due.length > 0) return;
  await fixture.skipTime(random.between(STEP_SECONDS.min, STEP_SECONDS.max) * SECOND_MS);
}

/** More than half of the kills come between an effect outside and its answer, where a repeat would be a second effect. */
function aim({ fixture }: DrillContext, random: SeededRandom, kill: () => Promise<void>): Promise<void> {
  const at = random.next();
  if (at < 0.4) return kill();
  const { paymentProxy, receiptProxy, messengerProxy } = fixture.fakes;
  if (at < 0.6) return paymentProxy.atNextEffect(kill, AIM_LIMIT_MS);
  const proxy = at < 0.8 ? paymentProxy : at < 0.95 ? receiptProxy : messengerProxy;
  return proxy.atNextEffect(kill, AIM_LIMIT_MS, 'once');
}

async function toggleTaxService({ fixture, random }: DrillContext, isStopping: () => boolean): Promise<void> {
  const proxy = fixture.fakes.receiptProxy;
  while (!isStopping()) {
    await wait(random.between(0, TAX_UP_MS));
    proxy.isDown = true;
    await wait(random.between(0, TAX_DOWN_MS));
    proxy.isDown = false;
  }
}

async function proveAll(drill: DrillContext, report: DrillReport): Promise<void> {
  const { fixture, client, deeds } = drill;
  const facts = await readServiceFacts(fixture, deeds);
  const proofs = [
    ...[proveCredits, proveStars, proveReversals, proveReceipts, proveGifts, provePurchases],
    ...[proveSecondCharges, proveRenewals, proveWithdrawals, proveRewards, proveCauses],
  ];
  for (const prove of proofs) {
    const { title, facts: counts, violations } = prove(facts);
    report.add(title, counts, violations);
  }
  const problems = await fixture.app.db.sql<{ problem: string }>('SELECT problem, row_id, detail FROM ledger_check()');
  report.add(
    'ledger check',
    `${problems.length} problems`,
    problems.map((problem) => JSON.stringify(problem)),
  );
  const open = [...(await readUnfinished(fixture.app.db))].flatMap(([name, list]) => list.map((detail) => `${name}: ${detail}`));
  report.add('nothing is stuck', `${open.length} rows wait`, open);
  const failed = await readFailedJobs(fixture.app.db);
  report.add('no job was given up', `${failed.length} jobs`, failed);
  const { refusals } = fixture.fakes.callbacks;
  report.add('every callback was accepted', fixture.fakes.callbacks.describe(), refusals);
  proveAnswers(client.book, report);
  proveInstances(fixture, report);
}

function describe({ fixture, client, deeds }: DrillContext, kills: ReadonlyMap<string, number>): string {
  const { callbacks, updates, paymentProxy, receiptProxy, messengerProxy } = fixture.fakes;
  const proxied = (name: string, counts: object) =>
    `${name}: ${Object.entries(counts)
      .map(([what, count]) => `${what} ${count}`)
      .join(', ')}.`;
  return [
    `Killed: ${countsText(kills)}.`,
    `Payers and providers: ${countsText(deeds.actions)}.`,
    `Commands: ${countsText(deeds.commands)}.`,
    callbacks.describe(),
    updates.describe(),
    proxied('Requests to providers', paymentProxy.counts),
    proxied('Requests to the tax service', receiptProxy.counts),
    proxied('Requests to the messenger', messengerProxy.counts),
    renderAnswers(client.book),
    renderErrors(fixture),
  ].join('\n\n');
}
