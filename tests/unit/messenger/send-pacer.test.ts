import { describe, expect, it } from 'vitest';
import { PaceExceeded, SendPacer } from '../../../src/integrations/messenger/send-pacer.ts';

/** Time that moves only during sleeps. */
function fakeTimer() {
  let now = 0;
  return {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
}

/** Turns of callers that wait on the same clock: start times in the order of the calls. */
async function starts(pacer: SendPacer, timer: { now(): number }, chats: number[]): Promise<number[]> {
  const result: number[] = [];
  for (const chat of chats) {
    await pacer.takeTurn(chat);
    result.push(timer.now());
  }
  return result;
}

describe('send pacer', () => {
  it('lets at most 30 sends start in any one second', async () => {
    const timer = fakeTimer();
    const times = await starts(
      new SendPacer({ timer, maxWaitMs: 60_000 }),
      timer,
      Array.from({ length: 200 }, (_, index) => index + 1),
    );
    for (const start of times) {
      expect(times.filter((time) => time >= start && time < start + 1_000).length).toBeLessThanOrEqual(30);
    }
    expect(times.at(-1)).toBeLessThan(8_500);
  });

  it('keeps a second between messages to one user and three between those to a group', async () => {
    const timer = fakeTimer();
    const pacer = new SendPacer({ timer });
    expect(await starts(pacer, timer, [7, 7, 7])).toEqual([0, 1_000, 2_000]);
    expect(await starts(pacer, timer, [-100, -100])).toEqual([2_000, 5_000]);
  });

  it('refuses a turn that is too far off, and that refusal takes no turn', async () => {
    const asked: number[] = [];
    // Sleeps do not end here, so the time stays at zero.
    const sleep = (ms: number) => new Promise<void>(() => asked.push(ms));
    const pacer = new SendPacer({ timer: { now: () => 0, sleep }, maxWaitMs: 1_500 });
    await pacer.takeTurn(7);
    void pacer.takeTurn(7);
    await expect(pacer.takeTurn(7)).rejects.toBeInstanceOf(PaceExceeded);
    await expect(pacer.takeTurn(7)).rejects.toMatchObject({ retryAfterSeconds: 2 });
    expect(asked).toEqual([1_000]);
  });

  it('delays every send while paused', async () => {
    const timer = fakeTimer();
    const pacer = new SendPacer({ timer });
    pacer.pause(3);
    await pacer.takeTurn(1);
    expect(timer.now()).toBe(3_000);
    pacer.pause(60);
    await expect(pacer.takeTurn(2)).rejects.toMatchObject({ retryAfterSeconds: 60 });
    await expect(pacer.waitForPause()).rejects.toBeInstanceOf(PaceExceeded);
  });
});
