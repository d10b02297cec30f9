import { describe, expect, it } from 'vitest';
import { DeliverySlots, type Leave } from '../../../src/domain/webhooks/delivery/take-slot.ts';

function slotsAt(patienceMs: number) {
  const time = { ms: 1_000 };
  return { time, slots: new DeliverySlots({ nowMs: () => time.ms, patienceMs }) };
}

/** Takes a place that must be free. */
async function take(slots: DeliverySlots, webhookId: number): Promise<Leave> {
  const place = await slots.enter(webhookId);
  if (typeof place === 'number') throw new Error('no place was free');
  return place;
}

describe('DeliverySlots', () => {
  it('gives three places to a webhook and leaves the others alone', async () => {
    const { slots } = slotsAt(0);
    for (let index = 0; index < 3; index += 1) await take(slots, 1);
    expect(await slots.enter(1)).toBeTypeOf('number');
    expect(await slots.enter(2)).toBeTypeOf('function');
  });

  it('hands a place that is left to those who wait, in their order', async () => {
    const { slots } = slotsAt(10_000);
    const leave = await take(slots, 1);
    await take(slots, 1);
    await take(slots, 1);
    const order: string[] = [];
    const first = take(slots, 1).then((next) => {
      order.push('first');
      next();
    });
    const second = take(slots, 1).then(() => order.push('second'));
    leave();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('sends those who waited in vain away, and gives a free place afterwards', async () => {
    const { slots, time } = slotsAt(20);
    const leave = await take(slots, 1);
    await take(slots, 1);
    await take(slots, 1);
    expect(await slots.enter(1)).toBe(10);
    time.ms += 30;
    leave();
    expect(await slots.enter(1)).toBeTypeOf('function');
    expect(await slots.enter(1)).toBeTypeOf('number');
  });

  it('spreads those who have to come back as far as the receiver is slow, within bounds', async () => {
    const { slots, time } = slotsAt(500);
    const first = await take(slots, 1);
    await take(slots, 1);
    await take(slots, 1);
    time.ms += 6_000;
    expect([await slots.enter(1), await slots.enter(1)]).toEqual([2_000, 4_000]);
    time.ms += 3_000;
    first();
    await take(slots, 1);
    expect([await slots.enter(1), await slots.enter(1), await slots.enter(1)]).toEqual([4_000, 7_000, 10_000]);
    for (let index = 0; index < 200; index += 1) await slots.enter(1);
    expect(await slots.enter(1)).toBe(300_000);
  });
});
