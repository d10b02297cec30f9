import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { clearLimit, isWithinLimit, limitOrRefuse } from '../../../src/core/rate-limit.ts';
import { peek, put, putIfAbsent, take } from '../../../src/core/short-lived.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

describe('short-lived entries', () => {
  it('are read until they end and taken once', async () => {
    await put(app, 'a', { n: 1 }, 60);
    await put(app, 'a', { n: 2 }, 60);
    expect(await peek(app, 'a')).toEqual({ n: 2 });
    expect(await take(app, 'a')).toEqual({ n: 2 });
    expect(await take(app, 'a')).toBeNull();
    await put(app, 'b', {}, 60);
    clock.advance(60_000);
    expect(await peek(app, 'b')).toBeNull();
    expect(await take(app, 'b')).toBeNull();
  });

  it('are stored by the first of two, until that one ends', async () => {
    expect(await putIfAbsent(app, 'c', { by: 1 }, 60)).toBe(true);
    expect(await putIfAbsent(app, 'c', { by: 2 }, 60)).toBe(false);
    clock.advance(60_000);
    expect(await putIfAbsent(app, 'c', { by: 3 }, 60)).toBe(true);
    expect(await peek(app, 'c')).toEqual({ by: 3 });
  });
});

describe('rate limits', () => {
  it('refuse the hit after the limit until the window ends or is cleared', async () => {
    clock.set(new Date('2026-03-01T12:00:00Z'));
    const hit = () => limitOrRefuse(app, 'k', 2, 60);
    await hit();
    await hit();
    await expect(hit()).rejects.toMatchObject({ status: 429, detail: 'Too many requests', headers: { 'Retry-After': '60' } });
    expect(await isWithinLimit(app, 'k', 2, 60)).toBe(false);
    clock.advance(59_999);
    await expect(hit()).rejects.toMatchObject({ status: 429 });
    clock.advance(1);
    await hit();
    await clearLimit(app, 'k');
    expect(await isWithinLimit(app, 'k', 1, 60)).toBe(true);
  });
});
