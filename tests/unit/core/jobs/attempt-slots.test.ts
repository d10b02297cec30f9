import { describe, expect, it } from 'vitest';
import { AttemptSlots, type Slot } from '../../../../src/core/jobs/attempt-slots.ts';

function slotsAt(maxWaitMs: number) {
  const time = { ms: 1_000 };
  return { time, slots: new AttemptSlots({ nowMs: () => time.ms, maxWaitMs }) };
}

/** Acquires a slot that must be free. */
async function take(slots: AttemptSlots, receiverId: number): Promise<Slot> {
  const slot = await slots.acquire(receiverId);
  if (typeof slot === 'number') throw new Error('no slot was free');
  return slot;
}

describe('AttemptSlots', () => {
  it('gives three slots to a receiver, and others to another', async () => {
    const { slots } = slotsAt(0);
    for (let index = 0; index < 3; index += 1) await take(slots, 1);
    expect(await slots.acquire(1)).toBeTypeOf('number');
    expect(await slots.acquire(2)).toBeTypeOf('object');
  });

  it('gives a released slot to the waiting attempts in their order', async () => {
    const { slots } = slotsAt(10_000);
    const slot = await take(slots, 1);
    await take(slots, 1);
    await take(slots, 1);
    const order: string[] = [];
    const first = take(slots, 1).then((next) => {
      order.push('first');
      next.release();
    });
    const second = take(slots, 1).then(() => order.push('second'));
    slot.release();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('postpones attempts that waited too long, and gives a free slot afterwards', async () => {
    const { slots, time } = slotsAt(20);
    const slot = await take(slots, 1);
    await take(slots, 1);
    await take(slots, 1);
    expect(await slots.acquire(1)).toBe(10);
    time.ms += 30;
    slot.release();
    expect(await slots.acquire(1)).toBeTypeOf('object');
    expect(await slots.acquire(1)).toBeTypeOf('number');
  });

  it('spreads postponed attempts by the slowness of the receiver, within bounds', async () => {
    const { slots, time } = slotsAt(0);
    const first = await take(slots, 1);
    const answered = Promise.withResolvers<void>();
    const sending = first.measure(() => answered.promise);
    await take(slots, 1);
    await take(slots, 1);
    time.ms += 6_000;
    expect([await slots.acquire(1), await slots.acquire(1)]).toEqual([2_000, 4_000]);
    time.ms += 3_000;
    answered.resolve();
    await sending;
    first.release();
    const second = await take(slots, 1);
    void second.measure(() => new Promise(() => undefined));
    expect([await slots.acquire(1), await slots.acquire(1), await slots.acquire(1)]).toEqual([4_000, 7_000, 10_000]);
    for (let index = 0; index < 200; index += 1) await slots.acquire(1);
    expect(await slots.acquire(1)).toBe(300_000);
  });

  it('does not take a stalled database for a slow receiver', async () => {
    const { slots, time } = slotsAt(0);
    const running = [await take(slots, 1), await take(slots, 1), await take(slots, 1)];
    for (const slot of running) {
      await slot.measure(async () => {
        time.ms += 3;
      });
    }
    time.ms += 16_000;
    expect([await slots.acquire(1), await slots.acquire(1)]).toEqual([10, 20]);
    for (const slot of running) slot.release();
    for (let index = 0; index < 3; index += 1) await take(slots, 1);
    expect(await slots.acquire(1)).toBe(30);
  });
});
