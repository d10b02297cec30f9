import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { type Random, systemRandom } from '../../../src/core/random.ts';
import { classifyAnswer, cutBody, deliveryHeaders, parseRetryAfter, retryDelayMs } from '../../../src/domain/webhooks/rules.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const lowest: Random = { ...systemRandom, int: (min) => min };
const highest: Random = { ...systemRandom, int: (_min, max) => max - 1 };

describe('retryDelayMs', () => {
  const steps = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS];

  it.each(steps.map((step, index) => [index + 1, step]))('after attempt %i waits about %i ms', (attempts, step) => {
    expect(retryDelayMs(attempts, null, lowest)).toBe((step * 9) / 10);
    expect(retryDelayMs(attempts, null, highest)).toBe((step * 11) / 10);
  });

  it('ends after the eighth attempt', () => {
    expect(retryDelayMs(8, null, lowest)).toBeNull();
    expect(retryDelayMs(8, 1_000, lowest)).toBeNull();
  });

  it.each([
    [0, 5_000],
    [7_000, 7_000],
    [10_000, 10_000],
    [86_400_000, 10_000],
  ])('holds Retry-After of %i ms between one and two steps', (asked, delay) => {
    expect(retryDelayMs(1, asked, lowest)).toBe(delay);
  });
});

describe('parseRetryAfter', () => {
  it.each([
    ['7', 7_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 12:00:09 GMT', 9_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['soon', null],
    ['', null],
    [null, null],
  ])('reads %j as %j', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});

describe('classifyAnswer', () => {
  const answered = (status: number, body = '', retryAfter: string | null = null) =>
    classifyAnswer({ kind: 'answered', status, body, retryAfter }, now);

  it.each([200, 201, 204, 299])('classifies %i as delivered', (status) => {
    expect(answered(status, 'ok')).toMatchObject({
      isDelivered: true,
      responseStatus: status,
      responseBody: 'ok',
      errorMessage: null,
    });
  });

  it.each([199, 300, 302, 400, 404, 500])('classifies %i as failed', (status) => {
    expect(answered(status, 'no')).toMatchObject({
      isDelivered: false,
      responseStatus: status,
      errorMessage: `HTTP ${status}: no`,
      isGone: false,
    });
  });

  it('classifies 410, Retry-After, a time-out and a refused address', () => {
    expect(answered(410).isGone).toBe(true);
    expect(answered(503, '', '12').retryAfterMs).toBe(12_000);
    expect(classifyAnswer({ kind: 'timeout' }, now)).toMatchObject({ errorMessage: 'Request timeout', isFinal: false });
    expect(classifyAnswer({ kind: 'blocked', reason: 'not public' }, now)).toMatchObject({
      errorMessage: 'not public',
      isFinal: true,
    });
    expect(classifyAnswer({ kind: 'unreachable', reason: 'refused' }, now)).toMatchObject({
      errorMessage: 'refused',
      isFinal: false,
    });
  });

  it('stores 1000 characters of the body and 500 of them in the error', () => {
    const long = answered(500, 'я'.repeat(1001));
    expect(long.responseBody).toBe(`${'я'.repeat(1000)}... (truncated)`);
    expect(long.errorMessage).toBe(`HTTP 500: ${'я'.repeat(500)}`);
    expect(cutBody('a'.repeat(1000))).toBe('a'.repeat(1000));
  });

  it('cuts between characters and drops those that the database cannot store', () => {
    expect(cutBody('😀'.repeat(1200))).toBe(`${'😀'.repeat(1000)}... (truncated)`);
    expect(answered(200, 'a\0b\ud800').responseBody).toBe('ab\ufffd');
  });
});

describe('deliveryHeaders', () => {
  const message = { deliveryId: 12, webhookId: 3, eventType: 'user.created', body: '{"имя":"Я"}', now };

  it('sends no signature without a secret', () => {
    expect(deliveryHeaders({ ...message, secret: null })).toEqual({
      'content-type': 'application/json',
      'user-agent': expect.stringContaining('subscription-service'),
      'x-webhook-event': 'user.created',
      'x-webhook-id': '3',
      'webhook-id': 'msg_12',
      'webhook-timestamp': '1772366400',
    });
  });

  it('has both signatures with a secret', () => {
    const headers = deliveryHeaders({ ...message, secret: 'sésame' });
    expect(headers['x-webhook-signature']).toBe(`sha256=${createHmac('sha256', 'sésame').update(message.body).digest('hex')}`);
    const signed = createHmac('sha256', 'sésame').update(`msg_12.1772366400.${message.body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signed}`);
  });

  it('decodes a whsec_ secret for the standard signature only', () => {
    const key = Buffer.from('0123456789abcdef');
    const secret = `whsec_${key.toString('base64')}`;
    const headers = deliveryHeaders({ ...message, secret });
    const signed = createHmac('sha256', key).update(`msg_12.1772366400.${message.body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signed}`);
    expect(headers['x-webhook-signature']).toBe(`sha256=${createHmac('sha256', secret).update(message.body).digest('hex')}`);
  });
});
