/** Delivers callbacks of the fake providers as real ones do: at least once, to any instance, until the expected answer. */
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpClient, HttpRequest, HttpResponse } from '../../../../../src/core/http/http-client.ts';
import { countsText } from '../report.ts';
import { createRequester } from '../requester.ts';
import type { SeededRandom } from '../seeded-random.ts';

export interface CourierOptions {
  random: SeededRandom;
  /** Addresses of the instances; each attempt goes to one of them, also while it is down. */
  targets: () => readonly string[];
  /** Of the callbacks: those that are posted a second time, to another instance at the same time. */
  doubledShare: number;
  /** Of the callbacks at this path: those that come only after `deliverLate`. */
  lateShare: (path: string) => number;
  /** Longest delay of a callback, so that they arrive in another order; of a late one, after `deliverLate`. */
  maxDelayMs: number;
  maxLateDelayMs: number;
}

export interface Courier extends HttpClient {
  /** Answers by status; 0 = none. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers that mean neither "stored" nor "again", with their path and body. */
  readonly refusals: readonly string[];
  /** How many were delivered twice at once, and how many late. */
  describe(): string;
  /** Whether some are put off. */
  hasLate: boolean;
  /** Delivers what was put off. */
  deliverLate(): void;
  /** Resolves when nothing is being delivered. */
  idle(): Promise<void>;
  /** Abandons what is not delivered. */
  close(): void;
}

const ANSWER_LIMIT_MS = 30_000;
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_500;
const MAX_REFUSALS = 50;

export function createCourier(options: CourierOptions): Courier {
  const { random, targets, doubledShare, lateShare, maxDelayMs, maxLateDelayMs } = options;
  const requester = createRequester({ connections: 32, limitMs: ANSWER_LIMIT_MS });
  const statuses = new Map<number, number>();
  const refusals: string[] = [];
  const running = new Set<Promise<unknown>>();
  const counts = { doubled: 0, late: 0 };
  let late: (() => void)[] = [];
  let isClosed = false;

  const deliver = async ({ url, headers, body }: HttpRequest): Promise<HttpResponse> => {
    const { pathname } = new URL(url);
    for (;;) {
      const target = `${random.pick(targets())}${pathname}`;
      const answer = await requester.send({ method: 'POST', url: target, headers: headers ?? {}, body: String(body ?? '') });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const isAgain = answer.status === 0 || answer.status === 429 || answer.status >= 500;
      if (!isAgain) {
        if (answer.status >= 300 && refusals.length < MAX_REFUSALS)
          refusals.push(`${pathname}: ${answer.status} ${answer.body.slice(0, 200)}`);
        return { status: answer.status, headers: {}, text: answer.body };
      }
      if (isClosed) throw new Error('the drill is over');
      await wait(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
    }
  };
  const untilLate = (): Promise<void> => new Promise((resolve) => void late.push(resolve));
  const carry = async (request: HttpRequest, isLate: boolean): Promise<HttpResponse> => {
    if (isLate) await untilLate();
    await wait(random.between(0, isLate ? maxLateDelayMs : maxDelayMs));
    return deliver(request);
  };
  const track = <T>(work: Promise<T>): Promise<T> => {
    const ended = work.catch(() => undefined).finally(() => running.delete(ended));
    running.add(ended);
    return work;
  };
  const tracked = (request: HttpRequest): Promise<HttpResponse> => {
    const isLate = random.next() < lateShare(new URL(request.url).pathname) && courier.hasLate;
    if (isLate) counts.late += 1;
    if (random.next() < doubledShare) {
      counts.doubled += 1;
      track(carry(request, isLate)).catch(() => undefined);
    }
    return track(carry(request, isLate));
  };
  const courier: Courier = {
    request: tracked,
    hasLate: true,
    statuses,
    refusals,
    describe: () =>
      `Callbacks: answers ${countsText(statuses)} (0 = none); ${counts.doubled} posted twice at once, ${counts.late} a day late.`,
    deliverLate: () => {
      const waiting = late;
      late = [];
      for (const resolve of waiting) resolve();
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
    close: () => {
      isClosed = true;
      courier.deliverLate();
      requester.close();
    },
  };
  return courier;
}
