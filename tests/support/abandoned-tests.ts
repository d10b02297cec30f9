/**
 * A test that runs into its time-out fails, but its function goes on: it may hold a lock, wait in a transaction or have a process of its own. Here
 * everything that a test has started is known by its signal and ends with it, so that the tests after it find the database as any other.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { ChildProcess } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import type { Db, TransactionWork } from '../../src/core/db/db.ts';

type Signal = AbortSignal | undefined;
/** What the driver's types leave out. */
type Session = pg.ClientBase & { processID: number; database: string; connection: { stream: { destroy(): void } } };

interface Started {
  running: AsyncLocalStorage<AbortSignal>;
  /** Open connections, with the test that used each last. */
  sessions: Map<Session, Signal>;
  processes: Map<ChildProcess, Signal>;
  /** What abandoned tests still do to undo their changes, such as `finally`. */
  undoing: Set<Promise<unknown>>;
  /** Abandoned tests after their last hook: they send no further statement. */
  over: Set<AbortSignal>;
  hasAbandoned: boolean;
}

declare global {
  var startedByTests: Started | undefined;
}

/** Once a worker, since the files of a worker share the driver but not this module. */
function started(): Started {
  globalThis.startedByTests ??= watched({
    running: new AsyncLocalStorage(),
    sessions: new Map(),
    processes: new Map(),
    undoing: new Set(),
    over: new Set(),
    hasAbandoned: false,
  });
  return globalThis.startedByTests;
}

/** Aborted when the test that calls it, at any depth, ran into its time-out. @returns undefined in a hook, and outside of tests */
export const testSignal = (): Signal => started().running.getStore();

/** Runs what outlives the test that happens to need it first. */
export const outsideOfTests = <T>(run: () => T): T => started().running.exit(run);

/** Runs a test with its hooks; when its signal is aborted, resolves after what it has started was ended and what it undoes was undone. */
export async function runAbandonable(signal: AbortSignal, runTest: () => Promise<void>): Promise<void> {
  // Every open transaction of the test listens.
  setMaxListeners(0, signal);
  let ending: Promise<void> | undefined;
  signal.addEventListener('abort', () => {
    ending = outsideOfTests(() => endStartedBy(signal));
  });
  await started().running.run(signal, runTest);
  if (!signal.aborted) return;
  await ending;
  await undone();
  started().over.add(signal);
  started().hasAbandoned = true;
}

/** @returns whether a test of this worker was abandoned since the last call */
export function takeAbandoned(): boolean {
  const state = started();
  const { hasAbandoned } = state;
  state.hasAbandoned = false;
  return hasAbandoned;
}

/** Ends processes that no test has ended, whether or not it failed. */
export function endProcesses(): void {
  for (const child of started().processes.keys()) child.kill('SIGKILL');
}

/** The same database; a transaction of an abandoned test is rolled back at once. */
export function abandonable(db: Db): Db {
  const { begin, sql } = db;
  return {
    ...db,
    begin: begin && (<T>(work: TransactionWork<T>) => begin<T>((tx, run) => untilAborted(() => work(tx, run)))),
    sql: (text, values) => untilAborted(() => sql(text, values)),
  };
}

/**
 * @returns the result of `run`; rejects when the test that calls it is abandoned. Its hooks, and what it undoes in `finally`, still run.
 */
export function untilAborted<T>(run: () => Promise<T>): Promise<T> {
  const signal = testSignal();
  if (!signal) return run();
  const { over, undoing } = started();
  if (over.has(signal)) return refusedLater(signal);
  if (signal.aborted) {
    const late = run();
    undoing.add(late);
    const done = () => undoing.delete(late);
    late.then(done, done);
    return late;
  }
  return new Promise((resolve, reject) => {
    const abandon = () => reject(signal.reason);
    signal.addEventListener('abort', abandon);
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abandon));
  });
}

/** After a turn of the event loop: a function that repeats what is refused would else never give it one, and the worker would grow to its end. */
async function refusedLater(signal: AbortSignal): Promise<never> {
  await nextTurn();
  throw signal.reason;
}

/** Resolves when abandoned tests have sent no statement for some turns of the event loop, or far more than undo anything. */
async function undone(): Promise<void> {
  const { undoing } = started();
  let quietTurns = 0;
  for (let turns = 0; turns < 200 && quietTurns < 10; turns += 1) {
    await nextTurn();
    quietTurns = undoing.size > 0 ? 0 : quietTurns + 1;
    await Promise.allSettled(undoing);
  }
}

async function endStartedBy(signal: AbortSignal): Promise<void> {
  const { sessions, processes } = started();
  for (const [child, starter] of processes) if (starter === signal) child.kill('SIGKILL');
  const ended = [...sessions].filter(([, user]) => user === signal).map(([session]) => session);
  for (const session of ended) {
    // A client of the test itself may have no listener, and its loss would end the worker.
    session.on('error', () => undefined);
    session.connection.stream.destroy();
  }
  // The server notices a lost connection only between two statements, not while one waits for a lock.
  if (ended.length > 0 && process.env.TEST_DATABASE_URL) await endOnServer(process.env.TEST_DATABASE_URL, ended);
}

async function endOnServer(url: string, ended: readonly Session[]): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query(
      `SELECT pg_terminate_backend(a.pid, 60000) FROM pg_stat_activity a
       JOIN unnest($1::int[], $2::text[]) AS ended (pid, name) ON ended.pid = a.pid AND ended.name = a.datname`,
      [ended.map(({ processID }) => processID), ended.map(({ database }) => database)],
    );
  } finally {
    await admin.end();
  }
}

/** Has every connection and every process of this worker recorded. */
function watched(into: Started): Started {
  watchSessions(into);
  const { spawn } = ChildProcess.prototype as unknown as { spawn(this: ChildProcess, options: object): number };
  Object.assign(ChildProcess.prototype, {
    spawn(this: ChildProcess, options: object): number {
      into.processes.set(this, into.running.getStore());
      this.once('exit', () => into.processes.delete(this));
      return spawn.call(this, options);
    },
  });
  return into;
}

/** Pools of tests close what they do not use: many are open at once, and other programs use the server. */
const IDLE_MS = 2_000;
/** How long a test waits for another program to leave a connection to it. */
const FULL_MS = 60_000;

/** Whether all connections of the server are in use, which is no matter of the service. */
const isFull = (error: unknown): boolean => (error as { code?: string } | undefined)?.code === '53300';

function watchSessions({ running, sessions, over }: Started): void {
  const record = (client: pg.ClientBase, user: Signal) => {
    const session = client as Session;
    if (!sessions.has(session)) session.once('end', () => sessions.delete(session));
    sessions.set(session, user);
  };
  const { connect: open } = pg.Client.prototype as unknown as { connect(this: pg.Client, ...args: unknown[]): unknown };
  const { connect: take } = pg.Pool.prototype as unknown as { connect(this: pg.Pool, callback: Taken): void };
  Object.assign(pg.Client.prototype, {
    connect(this: pg.Client, ...args: unknown[]) {
      record(this, running.getStore());
      return open.apply(this, args);
    },
  });
  const takeFor = (pool: pg.Pool, callback: Taken): void => {
    const user = running.getStore();
    if (user && over.has(user)) return void setImmediate(callback, user.reason as Error, undefined, () => undefined);
    pool.options.idleTimeoutMillis = IDLE_MS;
    const since = performance.now();
    const attempt = () =>
      take.call(pool, (error, client, release) => {
        if (isFull(error) && performance.now() - since < FULL_MS) {
          setTimeout(attempt, 100);
          return;
        }
        if (client) record(client, user);
        callback(error, client, release);
      });
    attempt();
  };
  Object.assign(pg.Pool.prototype, {
    connect(this: pg.Pool, callback?: Taken) {
      if (callback) return takeFor(this, callback);
      // Not by `this.connect`, which a pool of another class may have replaced by what calls this.
      return new Promise((resolve, reject) => takeFor(this, (error, client) => (error ? reject(error) : resolve(client))));
    },
  });
}

type Taken = (error: Error | undefined, client: pg.PoolClient | undefined, release: (release?: unknown) => void) => void;
