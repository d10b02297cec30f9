/**
 * Preloaded (`node --import`) into a process of the service that runs from its sources: counts the input and output of requests and jobs
 * from the time it is armed, and ends the process with SIGKILL at a chosen number. The product has no line of it.
 *
 * A point is before a statement is sent, after its answer has come and before the caller goes on, the same of a request to another system,
 * and before and after a file is renamed into its place. What the service does by the clock is not counted.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import fs from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import module, { syncBuiltinESMExports } from 'node:module';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { ARM_HEADER, pointAfter, pointBefore, RECORD_VARIABLE, SCHEDULED_VARIABLE } from './points.ts';

const record = process.env[RECORD_VARIABLE]!;
const scheduled = new Set(process.env[SCHEDULED_VARIABLE]!.split(','));
/** True in a request and in a job, and in all that they start. */
const counted = new AsyncLocalStorage<boolean>();
let isArmed = false;
let count = 0;
/** Number of the point at which the process ends; 0 = at none. */
let last = 0;

function arm(at: number): void {
  fs.writeFileSync(record, '');
  // The next process starts faster, also when this one is killed.
  module.flushCompileCache();
  [isArmed, count, last] = [true, 0, at];
}

function pass(point: string): void {
  count += 1;
  fs.appendFileSync(record, `${point.replaceAll(/\s+/g, ' ')}\n`);
  if (count === last) process.kill(process.pid, 'SIGKILL');
}

const isCounted = (): boolean => isArmed && counted.getStore() === true;

type Anything = (...args: unknown[]) => unknown;

/** Passes a point before and after; `call` gets the arguments with the caller's last function in between. */
function between(place: string, args: unknown[], call: (args: unknown[]) => unknown): unknown {
  if (!isCounted()) return call(args);
  pass(pointBefore(place));
  const done = args.at(-1);
  if (typeof done === 'function') {
    const passed = (...answer: unknown[]) => {
      pass(pointAfter(place));
      (done as Anything)(...answer);
    };
    return call([...args.slice(0, -1), passed]);
  }
  const answer = call(args);
  return answer instanceof Promise ? answer.finally(() => pass(pointAfter(place))) : answer;
}

const emit = http.Server.prototype.emit as (...args: unknown[]) => boolean;
http.Server.prototype.emit = function (this: http.Server, ...args: unknown[]) {
  const call = () => Reflect.apply(emit, this, args);
  if (args[0] !== 'request') return call();
  const wanted = (args[1] as IncomingMessage).headers[ARM_HEADER];
  if (wanted !== undefined) arm(Number(wanted));
  return counted.run(true, call);
};

const work = PgBoss.prototype.work as Anything;
PgBoss.prototype.work = function (this: PgBoss, ...args: unknown[]) {
  const handler = args.at(-1) as Anything;
  const run = scheduled.has(String(args[0])) ? handler : (...jobs: unknown[]) => counted.run(true, () => handler(...jobs));
  return Reflect.apply(work, this, [...args.slice(0, -1), run]);
} as typeof work as PgBoss['work'];

// Whoever gives a connection back would else run those who wait for one.
const connect = pg.Pool.prototype.connect as Anything;
pg.Pool.prototype.connect = function (this: pg.Pool, ...args: unknown[]) {
  const bound = args.map((argument) => (typeof argument === 'function' ? AsyncResource.bind(argument as Anything) : argument));
  return Reflect.apply(connect, this, bound);
} as typeof connect as pg.Pool['connect'];

const query = pg.Client.prototype.query as Anything;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [statement] = args;
  const text = typeof statement === 'string' ? statement : String((statement as { text?: unknown }).text);
  return between(text, args, (passed) => Reflect.apply(query, this, passed));
} as typeof query as pg.Client['query'];

for (const protocol of [http, https]) {
  const request = protocol.request as (...args: unknown[]) => http.ClientRequest;
  protocol.request = ((...args: unknown[]) => {
    const outgoing = request(...args);
    if (!isCounted()) return outgoing;
    const place = `${outgoing.method} ${outgoing.path}`;
    // Nothing has been sent yet: the connection is opened afterwards.
    pass(pointBefore(place));
    const emitAnswer = outgoing.emit as (...args: unknown[]) => boolean;
    outgoing.emit = (...event: unknown[]) => {
      if (event[0] === 'response') pass(pointAfter(place));
      return Reflect.apply(emitAnswer, outgoing, event);
    };
    return outgoing;
  }) as typeof protocol.request;
}

const rename = fs.promises.rename as Anything;
fs.promises.rename = ((...args: unknown[]) => between(`rename to ${args[1]}`, args, (passed) => rename(...passed))) as never;
syncBuiltinESMExports();
