import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signInitData } from '../../../packages/sandbox/src/messenger/messenger-state.ts';
import { createLogger } from '../../../src/core/log.ts';
import { createMessengerIdentityPort } from '../../../src/integrations/messenger/identity-port.ts';
import { onceHttp } from '../../support/loopback-http.ts';

const TOKEN = '1234567890:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const NOW = new Date('2026-03-01T12:00:00Z');
const DAY = 86_400;
const NO_OUTSIDE = {
  log: createLogger({ level: 'silent', format: 'json' }),
  http: onceHttp(),
  botUsername: () => null,
  oidc: () => null,
};
const port = createMessengerIdentityPort({ ...NO_OUTSIDE, clock: { now: () => NOW }, botToken: () => TOKEN });
const user = { id: 42, first_name: 'Ann', last_name: 'Lee', username: 'ann', language_code: 'en' };
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);
const check = (text: string) => port.verifyInitData(text, 30 * DAY);

/** Signs any pairs, to reach forms that the sandbox's signer never writes. */
function signed(pairs: [string, string][]): string {
  const unique = [...new Map(pairs)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}=${value}`);
  const key = createHmac('sha256', 'WebAppData').update(TOKEN).digest();
  return new URLSearchParams([...pairs, ['hash', createHmac('sha256', key).update(unique.join('\n')).digest('hex')]]).toString();
}

const seconds = (date: Date) => String(Math.floor(date.getTime() / 1_000));

describe('verifyInitData', () => {
  it('reads what the messenger signed', () => {
    expect(check(signInitData(TOKEN, user, NOW))).toEqual({
      messengerId: 42,
      username: 'ann',
      firstName: 'Ann',
      lastName: 'Lee',
      languageCode: 'en',
      signedAt: NOW,
    });
  });

  it.each([
    ['30 days old', 30 * DAY, true],
    ['older than 30 days', 30 * DAY + 1, false],
    ['300 s ahead', -300, true],
    ['further ahead', -301, false],
  ])('%s: %s', (_name, age, isAccepted) => {
    expect(check(signInitData(TOKEN, user, ago(age))) !== null).toBe(isAccepted);
  });

  it('refuses a changed value, another key, no signature and no token', () => {
    const text = signInitData(TOKEN, user, NOW);
    expect(check(text.replace('Ann', 'Bob'))).toBeNull();
    expect(check(signInitData(`${TOKEN}x`, user, NOW))).toBeNull();
    expect(check(text.replace(/hash=[0-9a-f]+/, 'hash='))).toBeNull();
    expect(check(text.replace(/&?hash=[0-9a-f]+/, ''))).toBeNull();
    expect(check('')).toBeNull();
    const unset = createMessengerIdentityPort({ ...NO_OUTSIDE, clock: { now: () => NOW }, botToken: () => null });
    expect(unset.verifyInitData(text, DAY)).toBeNull();
  });

  it('counts signature among the signed pairs, keeps blanks and the last of equal keys', () => {
    const pairs: [string, string][] = [
      ['auth_date', seconds(NOW)],
      ['signature', 'abc'],
      ['start_param', ''],
      ['user', JSON.stringify({ ...user, id: 1 })],
      ['user', JSON.stringify(user)],
    ];
    expect(check(signed(pairs))?.messengerId).toBe(42);
  });

  it('needs a whole auth_date and answers no id where none was signed', () => {
    expect(check(signed([['auth_date', 'soon']]))).toBeNull();
    expect(check(signed([['user', JSON.stringify(user)]]))).toBeNull();
    expect(check(signed([['auth_date', seconds(NOW)]]))).toMatchObject({ messengerId: null });
    expect(
      check(
        signed([
          ['auth_date', seconds(NOW)],
          ['user', 'no json'],
        ]),
      ),
    ).toBeNull();
    expect(
      check(
        signed([
          ['auth_date', seconds(NOW)],
          ['id', '42'],
        ]),
      ),
    ).toMatchObject({ messengerId: 42 });
  });
});
