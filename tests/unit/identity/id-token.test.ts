import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/core/log.ts';
import { createMessengerIdentityPort } from '../../../src/integrations/messenger/identity-port.ts';
import { startTokenIssuer, type TokenIssuer } from '../../fakes/token-issuer.ts';
import { onceHttp } from '../../support/loopback-http.ts';

const NOW = 1_772_366_400;
const CLIENT = '777000';

let issuer: TokenIssuer;
beforeAll(async () => {
  issuer = await startTokenIssuer();
});
afterAll(() => issuer.close());

/** A port with no keys yet, and its clock. */
function newPort() {
  const clock = { seconds: NOW };
  const port = createMessengerIdentityPort({
    clock: { now: () => new Date(clock.seconds * 1_000) },
    log: createLogger({ level: 'silent', format: 'json' }),
    http: onceHttp(),
    botToken: () => null,
    botUsername: () => null,
    oidc: () => ({ issuer: issuer.server.url, clientId: CLIENT }),
  });
  return { clock, read: (token: string) => port.verifyIdToken(token) };
}

const claimsOf = (changes: Record<string, unknown> = {}) => ({
  iss: issuer.server.url,
  aud: CLIENT,
  sub: '42',
  iat: NOW,
  exp: NOW + 3_600,
  ...changes,
});

describe('OpenID Connect token', () => {
  it('reads the user of the token', async () => {
    const { read } = newPort();
    const names = { name: 'Ann', given_name: 'A', family_name: 'Lee', preferred_username: 'ann', locale: 'en-US' };
    expect(await read(issuer.token(claimsOf({ id: 43, ...names })))).toEqual({
      userId: '43',
      username: 'ann',
      firstName: 'Ann',
      lastName: 'Lee',
      locale: 'en-US',
      expiresAt: new Date((NOW + 3_600) * 1_000),
    });
    expect(await read(issuer.token(claimsOf({ given_name: 'A' })))).toMatchObject({ userId: '42', firstName: 'A' });
    expect(await read(issuer.token(claimsOf({ aud: ['other', CLIENT] })))).toMatchObject({ userId: '42' });
  });

  it.each<[string, Record<string, unknown>]>([
    ['another issuer', { iss: 'https://other.example' }],
    ['an issuer that begins alike', { iss: 'http://127.0.0.1' }],
    ['another audience', { aud: 'other' }],
    ['the past', { exp: NOW }],
    ['the future', { iat: NOW + 301 }],
    ['not yet', { nbf: NOW + 60 }],
    ['a date in words', { exp: 'soon' }],
    ['no iss', { iss: undefined }],
    ['no aud', { aud: undefined }],
    ['no sub', { sub: undefined }],
    ['no iat', { iat: undefined }],
    ['no exp', { exp: undefined }],
  ])('refuses %s', async (_name, changes) => {
    expect(await newPort().read(issuer.token(claimsOf(changes)))).toBeNull();
  });

  it.each(['none', 'HS256', 'other-key'] as const)('refuses a signature by %s', async (algorithm) => {
    expect(await newPort().read(issuer.forged(claimsOf(), algorithm))).toBeNull();
  });

  it('refuses any changed part, a missing one and text that is no token', async () => {
    const { read } = newPort();
    const token = issuer.token(claimsOf());
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const flipped = Buffer.from(signature, 'base64url');
    flipped[10]! ^= 1;
    const other = Buffer.from(JSON.stringify(claimsOf({ sub: '43' }))).toString('base64url');
    for (const bad of [
      `${header}.${payload}.${flipped.toString('base64url')}`,
      `${header}.${other}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      'x',
      '',
      '..',
    ]) {
      expect(await read(bad)).toBeNull();
    }
    expect(await read(token)).not.toBeNull();
  });

  it.each([
    ['no key id', { kid: undefined }],
    ['a key id that is no text', { kid: 1 }],
    ['another RSA algorithm', { alg: 'RS384' }],
    ['a critical extension', { crit: ['x'], x: 1 }],
  ])('refuses a header with %s', async (_name, header) => {
    expect(await newPort().read(issuer.token(claimsOf(), header))).toBeNull();
  });

  it('spec 01 H25: fetches keys once an hour, and again for an unknown key, at most every 30 seconds', async () => {
    const { clock, read } = newPort();
    const token = issuer.token(claimsOf({ exp: NOW + 90_000 }));
    const before = issuer.keyRequests();
    const asked = () => issuer.keyRequests() - before;
    await Promise.all(Array.from({ length: 5 }, () => read(token)));
    expect(asked()).toBe(1);
    for (let n = 0; n < 5; n++) expect(await read(issuer.token(claimsOf(), { kid: `unknown${n}` }))).toBeNull();
    expect(asked()).toBe(1);
    clock.seconds += 30;
    expect(await read(issuer.token(claimsOf(), { kid: 'unknown' }))).toBeNull();
    expect(await read(issuer.token(claimsOf(), { kid: 'unknown' }))).toBeNull();
    expect(asked()).toBe(2);
    issuer.rotate('k2');
    const fresh = issuer.token(claimsOf({ exp: NOW + 90_000 }));
    expect(await read(fresh)).toBeNull();
    clock.seconds += 30;
    expect(await read(fresh)).not.toBeNull();
    expect(asked()).toBe(3);
    clock.seconds += 3_599;
    expect(await read(token)).not.toBeNull();
    expect(asked()).toBe(3);
    clock.seconds += 1;
    expect(await read(token)).not.toBeNull();
    expect(asked()).toBe(4);
  });

  it('uses the cached keys while the issuer is not available, and answers 503 when it has none', async () => {
    const { clock, read } = newPort();
    const token = issuer.token(claimsOf({ exp: NOW + 90_000 }));
    issuer.knobs.status = 500;
    await expect(read(token)).rejects.toMatchObject({ status: 503 });
    issuer.knobs.status = 200;
    await expect(read(token)).rejects.toMatchObject({ status: 503 });
    clock.seconds += 30;
    expect(await read(token)).not.toBeNull();
    issuer.knobs.status = 500;
    clock.seconds += 7_200;
    expect(await read(token)).not.toBeNull();
    issuer.knobs.status = 200;
  });

  it('uses no key that is made for something else', async () => {
    const jwk = { ...issuer.publicKey.export({ format: 'jwk' }), kid: 'k1' };
    const token = issuer.token(claimsOf(), { kid: 'k1' });
    for (const key of [
      { ...jwk, use: 'enc' },
      { ...jwk, alg: 'RS512' },
      { ...jwk, kty: 'oct', k: 'AAAA' },
      { kty: 'RSA', kid: 'k1' },
    ]) {
      issuer.knobs.keys = [key];
      expect(await newPort().read(token)).toBeNull();
    }
    issuer.knobs.keys = [jwk];
    expect(await newPort().read(token)).not.toBeNull();
    issuer.knobs.keys = null;
  });
});
