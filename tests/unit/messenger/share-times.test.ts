import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ShareTimes } from '../../../src/domain/mass-sends/pace.ts';

const PER_SECOND = 25;
const MAX_WAIT_MS = 5_000;

/** Time that moves only when everybody sleeps, to the next who wakes. Whoever wakes may be late. */
class Simulation {
  #now = 0;
  #sleepers: { at: number; wake: () => void }[] = [];
  #nextAt = 0;
  readonly #lateness: () => number;

  constructor(lateness: () => number) {
    this.#lateness = lateness;
  }

  now = (): number => this.#now;

  sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      this.#sleepers.push({ at: this.#now + ms + this.#lateness(), wake });
    });

  /** `lease_sends` without burst: the messages of all follow one another. */
  lease = async (count: number, maxWaitMs: number): Promise<number> => {
    const start = Math.max(this.#now, this.#nextAt);
    if (start - this.#now > maxWaitMs) return start - this.#now;
    this.#nextAt = start + (count * 1_000) / PER_SECOND;
    return start - this.#now;
  };

  /** @param finished whether all lanes have ended */
  async run(finished: () => boolean): Promise<void> {
    for (let idle = 0; !finished() && idle < 100; ) {
      // Everything that can go on now goes on.
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      const next = this.#sleepers.sort((a, b) => a.at - b.at).shift();
      if (next === undefined) idle += 1;
      else {
        this.#now = Math.max(this.#now, next.at);
        next.wake();
      }
    }
  }
}

/** Times at which the messages of some lanes, each of several shares, are sent. */
async function sentBy(simulation: Simulation, lanes: number, shares: number): Promise<number[]> {
  const sent: number[] = [];
  let ended = 0;
  const lane = async () => {
    for (let share = 0; share < shares; share++) {
      const times = new ShareTimes(simulation.lease, {
        count: PER_SECOND,
        perSecond: PER_SECOND,
        maxWaitMs: MAX_WAIT_MS,
        timer: simulation,
      });
      for (let waitMs = await times.begin(); waitMs > MAX_WAIT_MS; waitMs = await times.begin()) await simulation.sleep(waitMs);
      for (let left = PER_SECOND; left > 0; ) {
        const refusedMs = await times.next();
        if (refusedMs > 0) await simulation.sleep(refusedMs);
        else {
          sent.push(simulation.now());
          left -= 1;
        }
      }
    }
    ended += 1;
  };
  for (let n = 0; n < lanes; n++) void lane();
  await simulation.run(() => ended === lanes);
  expect(ended).toBe(lanes);
  return sent;
}

/** The greatest number of messages in any one second. */
const mostInASecond = (sent: readonly number[]) =>
  Math.max(...sent.map((from) => sent.filter((at) => at >= from && at < from + 1_000).length));

describe('spec 10 O8: the messages of mass sends', () => {
  it('are spaced: 25 in a second, of all lanes together', async () => {
    const sent = await sentBy(new Simulation(() => 0), 3, 4);
    expect(sent).toHaveLength(300);
    expect(mostInASecond(sent)).toBe(PER_SECOND);
    // The pace is used: 300 messages take 12 seconds.
    expect(Math.max(...sent)).toBeLessThanOrEqual(12_000);
  });

  it('are at most 30 in any second when processes stand still now and then, and all are sent', async () => {
    const pauses = fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(3_000) }), {
      minLength: 1,
      maxLength: 50,
    });
    await fc.assert(
      fc.asyncProperty(pauses, fc.integer({ min: 1, max: 6 }), async (lateBy, lanes) => {
        let index = 0;
        const sent = await sentBy(new Simulation(() => lateBy[index++ % lateBy.length]!), lanes, 3);
        expect(sent).toHaveLength(lanes * 3 * PER_SECOND);
        expect(mostInASecond(sent)).toBeLessThanOrEqual(30);
      }),
      { numRuns: 200 },
    );
  });
});
