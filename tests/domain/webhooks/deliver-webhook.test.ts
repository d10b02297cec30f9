import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { deliverWebhook } from '../../../src/domain/webhooks/deliver-webhook.ts';
import { createDeliverer } from '../../../src/domain/webhooks/jobs.ts';
import {
  changeWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  getWebhookStats,
} from '../../../src/domain/webhooks/manage-webhooks.ts';
import { eventually } from '../../support/eventually.ts';
import { inventEvents } from '../../support/recorded-events.ts';
import { testApp } from '../../support/test-app.ts';
import { takeMessages } from '../../support/ticket-fixture.ts';
import { reply } from '../../support/webhook-receiver.ts';
import {
  actor,
  app,
  aWebhook,
  clock,
  emit,
  lastJob,
  newReceiver,
  payload,
  prepareDeliveryFixture,
  receiver,
  waitingJobs,
  withTransport,
} from './delivery-fixture.ts';

prepareDeliveryFixture();

describe('an event', () => {
  it('makes one pending delivery and one job for each active webhook of its type, with the transaction', async () => {
    const [first, second] = [await aWebhook(), await aWebhook()];
    await aWebhook({ eventType: 'ticket.created' });
    const off = await aWebhook();
    await changeWebhook(app, actor, off.id, { name: null, url: null, secret: null, description: null, isActive: false });
    const failing = inTransaction(app, async (t) => {
      inventEvents();
      await t.db.sql("SELECT emit_event('user.created', '{}'::jsonb, 'feed', 7, now()) AS id");
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await waitingJobs()).toEqual([]);

    await emit(first.id);
    const rows = await app.db.sql(
      'SELECT webhook_id, status, payload, attempt_number FROM webhook_deliveries ORDER BY webhook_id',
    );
    const expected = { status: 'pending', payload, attemptNumber: 1 };
    expect(rows).toEqual([
      { webhookId: first.id, ...expected },
      { webhookId: second.id, ...expected },
    ]);
    expect((await waitingJobs()).every((job) => job.inMs < 1_000)).toBe(true);
    expect(await waitingJobs()).toHaveLength(2);
  });
});

describe('deliverWebhook', () => {
  it('sends the bare payload with headers and both signatures and records the success', async () => {
    const hook = await aWebhook({ secret: 'top-secret' });
    const id = await emit(hook.id);
    await deliverWebhook(app, { deliveryId: id });
    const [call] = receiver.calls;
    expect(JSON.parse(call!.body)).toEqual(payload);
    expect(call!.body).toContain('Жанна');
    const timestamp = String(Math.floor(clock.now().getTime() / 1000));
    const sign = (text: string) => createHmac('sha256', 'top-secret').update(text);
    expect(call!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-event': 'user.created',
      'x-webhook-id': String(hook.id),
      'x-webhook-signature': `sha256=${sign(call!.body).digest('hex')}`,
      'webhook-id': `msg_${id}`,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${sign(`msg_${id}.${timestamp}.${call!.body}`).digest('base64')}`,
    });
    const delivery = await getDelivery(app, id);
    expect(delivery).toMatchObject({
      status: 'success',
      responseStatus: 200,
      responseBody: 'ok',
      errorMessage: null,
      attemptNumber: 1,
      deliveredAt: clock.now(),
      nextRetryAt: null,
    });
    expect(delivery.attempts).toMatchObject([{ attemptNumber: 1, responseStatus: 200, errorMessage: null }]);
    expect(await getWebhook(app, hook.id)).toMatchObject({ successCount: 1, failureCount: 0, lastTriggeredAt: clock.now() });
    await deliverWebhook(app, { deliveryId: id });
    expect(receiver.calls).toHaveLength(1);
  });

  it('retries on the schedule under the same id, then ends', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = reply(500, 'x'.repeat(1100));
    const steps = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS];
    for (const [index, step] of steps.entries()) {
      await deliverWebhook(app, { deliveryId: id });
      const delivery = await getDelivery(app, id);
      const delay = delivery.nextRetryAt!.getTime() - clock.now().getTime();
      expect(delay).toBeGreaterThanOrEqual(step * 0.9);
      expect(delay).toBeLessThanOrEqual(step * 1.1);
      expect(delivery).toMatchObject({ status: 'failed', attemptNumber: index + 1, responseStatus: 500, deliveredAt: null });
      const job = await lastJob();
      expect(job.data).toEqual({ deliveryId: id });
      expect(Math.abs(job.inMs - delay)).toBeLessThan(50);
      clock.set(delivery.nextRetryAt!);
    }
    await deliverWebhook(app, { deliveryId: id });
    expect(await getDelivery(app, id)).toMatchObject({
      status: 'failed',
      attemptNumber: 8,
      nextRetryAt: null,
      errorMessage: `HTTP 500: ${'x'.repeat(500)}`,
      responseBody: `${'x'.repeat(1000)}... (truncated)`,
    });
    expect(receiver.calls).toHaveLength(8);
    expect(new Set(receiver.calls.map((call) => call.headers['webhook-id']))).toEqual(new Set([`msg_${id}`]));
    expect(new Set(receiver.calls.map((call) => call.headers['webhook-timestamp'])).size).toBe(8);
    expect(await getWebhook(app, hook.id)).toMatchObject({ failureCount: 1, successCount: 0, isActive: true });
    const before = (await waitingJobs()).length;
    await deliverWebhook(app, { deliveryId: id });
    expect(receiver.calls).toHaveLength(8);
    expect(await waitingJobs()).toHaveLength(before);
  });

  it('turns a later success into success', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = reply(503);
    await deliverWebhook(app, { deliveryId: id });
    receiver.answer = reply(204);
    clock.advance(6_000);
    await deliverWebhook(app, { deliveryId: id });
    expect(await getDelivery(app, id)).toMatchObject({
      status: 'success',
      attemptNumber: 2,
      responseStatus: 204,
      responseBody: '',
      errorMessage: null,
      nextRetryAt: null,
    });
    expect(await getWebhook(app, hook.id)).toMatchObject({ failureCount: 1, successCount: 1 });
    expect(await getWebhookStats(app)).toMatchObject({ successfulDeliveries: 1, failedDeliveries: 0, successRate: 100 });
  });

  it('honours Retry-After between one and two steps', async () => {
    const hook = await aWebhook();
    for (const [asked, delay] of [
      ['8', 8_000],
      ['1', 5_000],
      ['86400', 10_000],
    ] as const) {
      const id = await emit(hook.id);
      receiver.answer = reply(429, '', { 'retry-after': asked });
      await deliverWebhook(app, { deliveryId: id });
      expect((await getDelivery(app, id)).nextRetryAt).toEqual(new Date(clock.now().getTime() + delay));
    }
  });

  it('does not send early, but postpones the job', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = reply(500);
    await deliverWebhook(app, { deliveryId: id });
    clock.advance(3_000);
    await app.db.sql('DELETE FROM jobs.job');
    await deliverWebhook(app, { deliveryId: id });
    expect(receiver.calls).toHaveLength(1);
    expect(await waitingJobs()).toHaveLength(1);
  });

  it('does not follow redirects (spec 06 section 17, hazard 10)', async () => {
    const other = await newReceiver();
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = reply(302, 'elsewhere', { location: other.url });
    await deliverWebhook(app, { deliveryId: id });
    expect(other.calls).toEqual([]);
    expect(await getDelivery(app, id)).toMatchObject({
      status: 'failed',
      responseStatus: 302,
      errorMessage: 'HTTP 302: elsewhere',
    });
  });

  it('sends nothing to an address that is not public, also if it was when the webhook was created (spec 06 section 17, hazard 10)', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    await deliverWebhook(withTransport(app, []), { deliveryId: id });
    expect(receiver.calls).toEqual([]);
    expect(await getDelivery(app, id)).toMatchObject({
      status: 'failed',
      responseStatus: null,
      errorMessage: 'The host is not a public one',
      nextRetryAt: null,
    });
    expect(await getWebhook(app, hook.id)).toMatchObject({ failureCount: 1 });
  });

  it('fails for a receiver that does not answer in time and for one that cannot be reached', async () => {
    const hook = await aWebhook();
    const slow = await emit(hook.id);
    receiver.answer = (response) => void response.writeHead(200).write('never ends');
    await deliverWebhook(withTransport(app, ['127.0.0.1'], 200), { deliveryId: slow });
    expect(await getDelivery(app, slow)).toMatchObject({
      status: 'failed',
      responseStatus: null,
      errorMessage: 'Request timeout',
    });
    const dead = await emit(hook.id);
    await receiver.close();
    await deliverWebhook(app, { deliveryId: dead });
    const failed = await getDelivery(app, dead);
    expect(failed.errorMessage).toContain('ECONNREFUSED');
    expect(failed.nextRetryAt).not.toBeNull();
  });

  it('stores an answer with bytes that the database cannot store', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = (response) => void response.end(Buffer.from([0x61, 0x00, 0xff, 0x62]));
    await deliverWebhook(app, { deliveryId: id });
    expect(await getDelivery(app, id)).toMatchObject({ status: 'success', responseBody: 'a\ufffdb' });
  });

  it('notifies the administrators once when a webhook is disabled, with its name escaped (spec 06 section 14)', async () => {
    const chat = -1_003_000_000_772;
    const environment = {
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(chat),
      DEFAULT_LANGUAGE: 'en',
    };
    const notifying = withTransport((await testApp({ environment, clock })).app, ['127.0.0.1']);
    const { id } = await aWebhook();
    await app.db.sql("UPDATE webhooks SET name = '<b>CRM' WHERE id = $1::int RETURNING id", [id]);
    const [first, second] = [await emit(id), await emit(id)];
    receiver.answer = reply(410, 'gone');
    for (const deliveryId of [first, second]) await deliverWebhook(notifying, { deliveryId });
    const [notice, ...more] = await takeMessages(app, chat);
    expect(more).toEqual([]);
    expect(notice!.html).toContain(`#${id} <b>&lt;b&gt;CRM</b>`);
  });

  it('disables a webhook after 410 and ends its waiting deliveries', async () => {
    const hook = await aWebhook();
    const [waiting, gone, untried] = [await emit(hook.id), await emit(hook.id), await emit(hook.id)];
    receiver.answer = reply(500);
    await deliverWebhook(app, { deliveryId: waiting });
    receiver.answer = reply(410, 'gone');
    await deliverWebhook(app, { deliveryId: gone });
    expect(await getWebhook(app, hook.id)).toMatchObject({ isActive: false, failureCount: 2 });
    expect(await getDelivery(app, gone)).toMatchObject({ status: 'failed', nextRetryAt: null, errorMessage: 'HTTP 410: gone' });
    clock.advance(10_000);
    await deliverWebhook(app, { deliveryId: waiting });
    await deliverWebhook(app, { deliveryId: untried });
    expect(receiver.calls).toHaveLength(2);
    expect(await getDelivery(app, waiting)).toMatchObject({ status: 'failed', nextRetryAt: null, responseStatus: 500 });
    expect(await getDelivery(app, untried)).toMatchObject({
      status: 'failed',
      nextRetryAt: null,
      errorMessage: 'Webhook is disabled',
    });
    expect(await emit(hook.id)).toBe(untried);
  });

  it('disables a webhook after five days without a success, and counts again from its activation', async () => {
    const hook = await aWebhook();
    const attempt = async (status: number) => {
      const id = await emit(hook.id);
      receiver.answer = reply(status);
      await deliverWebhook(app, { deliveryId: id });
      return (await getWebhook(app, hook.id)).isActive;
    };
    expect(await attempt(500)).toBe(true);
    clock.advance(4 * DAY_MS);
    expect(await attempt(200)).toBe(true);
    expect(await attempt(500)).toBe(true);
    clock.advance(5 * DAY_MS - 1_000);
    expect(await attempt(500)).toBe(true);
    clock.advance(1_000);
    expect(await attempt(500)).toBe(false);
    await changeWebhook(app, actor, hook.id, { name: null, url: null, secret: null, description: null, isActive: true });
    expect(await attempt(500)).toBe(true);
  });

  it('lets another worker claim a delivery only after the first claim has ended', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    let answerNow = (): void => undefined;
    receiver.answer = (response) => {
      answerNow = () => void response.end('late');
    };
    const slow = deliverWebhook(app, { deliveryId: id });
    await eventually(() => expect(receiver.calls).toHaveLength(1));
    const finishSlow = answerNow;
    receiver.answer = reply(500);
    await deliverWebhook(app, { deliveryId: id });
    expect(receiver.calls).toHaveLength(1);
    clock.advance(MINUTE_MS);
    await deliverWebhook(app, { deliveryId: id });
    expect(receiver.calls).toHaveLength(2);
    finishSlow();
    await slow;
    const delivery = await getDelivery(app, id);
    expect(delivery).toMatchObject({ status: 'failed', attemptNumber: 1, responseStatus: 500 });
    expect(delivery.attempts).toHaveLength(1);
    expect(await getWebhook(app, hook.id)).toMatchObject({ successCount: 0, failureCount: 1 });
  });

  it('ignores the deletion of the webhook while it sends', async () => {
    const hook = await aWebhook();
    const id = await emit(hook.id);
    receiver.answer = (response) => void deleteWebhook(app, actor, hook.id).then(() => response.end('ok'));
    await deliverWebhook(app, { deliveryId: id });
    await expect(getDelivery(app, id)).rejects.toMatchObject({ status: 404 });
    await createDeliverer()(app, { deliveryId: id });
    expect(receiver.calls).toHaveLength(1);
  });
});
