import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { deliverWebhook } from '../../../src/domain/webhooks/deliver-webhook.ts';
import { createDeliverer } from '../../../src/domain/webhooks/jobs.ts';
import { getDelivery, getWebhook, purgeDeliveries, replayDelivery } from '../../../src/domain/webhooks/manage-webhooks.ts';
import { eventually } from '../../support/eventually.ts';
import { reply } from '../../support/webhook-receiver.ts';
import {
  actor,
  app,
  aWebhook,
  clock,
  emit,
  lastJob,
  newReceiver,
  prepareDeliveryFixture,
  receiver,
  waitingJobs,
  withTransport,
} from './delivery-fixture.ts';

prepareDeliveryFixture();

describe('replayDelivery', () => {
  it('sends a successful delivery again, once, under the same id, and a failure leaves it successful', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    await deliverWebhook(app, { deliveryId: id });
    await app.db.sql('DELETE FROM jobs.job');
    await replayDelivery(app, actor, id);
    await replayDelivery(app, actor, id);
    receiver.answer = reply(500);
    for (const job of await waitingJobs()) await deliverWebhook(app, job.data);
    expect(receiver.calls).toHaveLength(2);
    expect(receiver.calls[1]!.headers['webhook-id']).toBe(`msg_${id}`);
    const delivery = await getDelivery(app, id);
    expect(delivery).toMatchObject({ status: 'success', responseStatus: 200, attemptNumber: 2, nextRetryAt: null });
    expect(delivery.attempts.map((attempt) => attempt.responseStatus)).toEqual([200, 500]);
    expect(await getWebhook(app, hook.id)).toMatchObject({ successCount: 1, failureCount: 0 });
  });

  it('does not change the schedule of a failed delivery when it fails, and ends it when it succeeds', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = reply(500);
    await deliverWebhook(app, { deliveryId: id });
    const { nextRetryAt } = await getDelivery(app, id);
    await app.db.sql('DELETE FROM jobs.job');
    await replayDelivery(app, actor, id);
    await deliverWebhook(app, (await lastJob()).data);
    expect(await getDelivery(app, id)).toMatchObject({ status: 'failed', attemptNumber: 2, nextRetryAt });
    await replayDelivery(app, actor, id);
    expect(await waitingJobs()).toHaveLength(2);
    receiver.answer = reply(200);
    await deliverWebhook(app, { deliveryId: id, afterAttempt: 2 });
    expect(await getDelivery(app, id)).toMatchObject({ status: 'success', attemptNumber: 3, nextRetryAt: null });
    clock.advance(HOUR_MS);
    await deliverWebhook(app, { deliveryId: id });
    expect(receiver.calls).toHaveLength(3);
  });

  it('sends to a disabled webhook, and refuses an unknown delivery', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = reply(410);
    await deliverWebhook(app, { deliveryId: id });
    receiver.answer = reply(200);
    await replayDelivery(app, actor, id);
    await deliverWebhook(app, (await lastJob()).data);
    expect(await getDelivery(app, id)).toMatchObject({ status: 'success' });
    expect(await getWebhook(app, hook.id)).toMatchObject({ isActive: false });
    await expect(replayDelivery(app, actor, 99_999_999_999)).rejects.toMatchObject({ status: 404, detail: 'Delivery not found' });
  });
});

describe('createDeliverer', () => {
  it('postpones jobs of a receiver that hangs, and serves the others', async () => {
    const healthy = await newReceiver();
    const [hanging, good] = [await aWebhook(), await aWebhook({ url: healthy.url })];
    const ids: number[] = [];
    for (let index = 0; index < 5; index += 1) ids.push(await emit(hanging.id));
    const goodId = await emit(good.id);
    await app.db.sql('DELETE FROM jobs.job');
    receiver.answer = () => undefined;
    const [deliver, withShortTimeout] = [createDeliverer(), withTransport(app, ['127.0.0.1'], 1_000)];
    const running = ids.map((deliveryId) => deliver(withShortTimeout, { deliveryId }));
    await eventually(() => expect(receiver.calls).toHaveLength(3));
    await deliver(app, { deliveryId: goodId });
    expect(healthy.calls).toHaveLength(1);
    await Promise.all(running);
    expect(receiver.calls).toHaveLength(3);
    const tried = receiver.calls.map((call) => Number(String(call.headers['webhook-id']).slice('msg_'.length)));
    const untried = ids.filter((id) => !tried.includes(id));
    for (const id of untried) expect(await getDelivery(app, id)).toMatchObject({ status: 'pending', attempts: [] });
    expect((await waitingJobs()).map((job) => job.data.deliveryId)).toEqual(expect.arrayContaining(untried));
  });
});

describe('purgeDeliveries', () => {
  it('deletes deliveries older than thirty days with their attempts', async () => {
    const hook = await aWebhook();
    const old = await emit(hook.id);
    await deliverWebhook(app, { deliveryId: old });
    clock.advance(30 * DAY_MS);
    const young = await emit(hook.id);
    expect(await purgeDeliveries(app)).toBe(0);
    clock.advance(1);
    expect(await purgeDeliveries(app)).toBe(1);
    expect((await getDelivery(app, young)).id).toBe(young);
    const [left] = await app.db.sql<{ total: number }>(
      'SELECT count(*)::int AS total FROM webhook_attempts WHERE delivery_id = $1',
      [old],
    );
    expect(left!.total).toBe(0);
  });
});
