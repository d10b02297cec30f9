import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/core/log.ts';
import type { WidgetData } from '../../../src/domain/identity/ports.ts';
import { createMessengerIdentityPort } from '../../../src/integrations/messenger/identity-port.ts';
import { onceHttp } from '../../support/loopback-http.ts';

const TOKEN = '1234567890:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const DAY = 86_400;
const SIGNED_AT = 1_772_366_400;

const portAt = (seconds: number, token: string | null = TOKEN) =>
  createMessengerIdentityPort({
    clock: { now: () => new Date(seconds * 1_000) },
    log: createLogger({ level: 'silent', format: 'json' }),
    http: onceHttp(),
    botToken: () => token,
    botUsername: () => null,
    oidc: () => null,
  });
const isGenuine = (data: WidgetData, at = SIGNED_AT, token: string | null = TOKEN) =>
  portAt(at, token).verifyWidget(data, 30 * DAY);

// Both hashes were computed outside of this project, from the algorithm's description.
const full: WidgetData = {
  id: 42,
  first_name: 'Ann',
  last_name: 'Lee',
  username: 'ann',
  photo_url: 'https://example.com/a.jpg',
  auth_date: SIGNED_AT,
  hash: 'e38300bc39f55ee90033ea67b99161b45076865f992cb5510dda999fc966e6bc',
};
const short: WidgetData = {
  id: 42,
  first_name: 'Анна ✓',
  auth_date: SIGNED_AT,
  hash: 'a53be203ace39f4dbc992f99fc2fc2d235cfaef36ca87398a09a2819a9981ed7',
};

describe('login widget', () => {
  it('accepts what the messenger signed, with absent fields as absent or null', () => {
    expect(isGenuine(full)).toBe(true);
    expect(isGenuine(short)).toBe(true);
    expect(isGenuine({ ...short, last_name: null, username: null, photo_url: null })).toBe(true);
    expect(isGenuine({ ...full, hash: full.hash.toUpperCase() })).toBe(true);
  });

  it.each(Array.from({ length: 64 }, (_, n) => n))('refuses the hash with one bit of digit %i changed', (n) => {
    const digit = (Number.parseInt(full.hash[n]!, 16) ^ 1).toString(16);
    expect(isGenuine({ ...full, hash: full.hash.slice(0, n) + digit + full.hash.slice(n + 1) })).toBe(false);
  });

  it.each([
    ['id', { id: 43 }],
    ['first name', { first_name: 'Bob' }],
    ['last name', { last_name: null }],
    ['username', { username: 'bob' }],
    ['photo', { photo_url: '' }],
    ['date', { auth_date: SIGNED_AT + 1 }],
    ['hash that is no hex', { hash: 'z'.repeat(64) }],
    ['empty hash', { hash: '' }],
  ])('refuses another %s', (_name, change) => {
    expect(isGenuine({ ...full, ...change })).toBe(false);
  });

  it.each([
    ['30 days old', SIGNED_AT + 30 * DAY, true],
    ['older', SIGNED_AT + 30 * DAY + 1, false],
    ['300 s ahead', SIGNED_AT - 300, true],
    ['further ahead', SIGNED_AT - 301, false],
  ])('%s: %s', (_name, now, expected) => {
    expect(isGenuine(full, now)).toBe(expected);
  });

  it('refuses without a bot token, with another one, and with the key of the mini-app', () => {
    expect(isGenuine(full, SIGNED_AT, null)).toBe(false);
    expect(isGenuine(full, SIGNED_AT, '')).toBe(false);
    expect(isGenuine(full, SIGNED_AT, `${TOKEN}x`)).toBe(false);
    const key = createHmac('sha256', 'WebAppData').update(TOKEN).digest();
    const text = `auth_date=${SIGNED_AT}\nfirst_name=Анна ✓\nid=42`;
    expect(isGenuine({ ...short, hash: createHmac('sha256', key).update(text).digest('hex') })).toBe(false);
  });
});

describe('mini-app data', () => {
  // The example that the mini-app documentation publishes with its bot token.
  const PUBLISHED_TOKEN = '5768337691:AAH5YkoiEuPk8-FZa32hStHTqXiLPtAEhx8';
  const PUBLISHED =
    'query_id=AAHdF6IQAAAAAN0XohDhrOrc&user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22Vladislav%22%2C%22last_name%22%3A%22Kibenko' +
    '%22%2C%22username%22%3A%22vdkfrost%22%2C%22language_code%22%3A%22ru%22%2C%22is_premium%22%3Atrue%7D&auth_date=1662771648' +
    '&hash=c501b71e775f74ce10e377dea85a7ea24ecd640b223ea86dfe453e0eaed2e2b2';

  it('accepts the published example and nothing that differs by one letter', () => {
    const port = portAt(1_662_771_648, PUBLISHED_TOKEN);
    expect(port.verifyInitData(PUBLISHED, DAY)).toMatchObject({ messengerId: 279_058_397, username: 'vdkfrost' });
    expect(port.verifyInitData(PUBLISHED.replace('279058397', '279058396'), DAY)).toBeNull();
    expect(port.verifyInitData(PUBLISHED.replace('e2b2', 'e2b3'), DAY)).toBeNull();
  });
});
