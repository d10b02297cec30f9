/** Spec 07 section 6: passwords, sessions and API tokens of the existing product go on working (hazards I9 to I11). */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import bcrypt from 'bcryptjs';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { authenticateToken, rotateApiToken } from '../../../src/domain/access/tokens.ts';
import { authenticateUser } from '../../../src/domain/identity/authenticate.ts';
import { signInWithPassword } from '../../../src/domain/identity/email/password.ts';
import { secretHash } from '../../../src/domain/identity/rules.ts';
import { closeAllSessions, refreshSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { aUser, unique } from '../../support/builders.ts';
import { recordingApp } from '../../support/sent-statements.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const refused = { status: 401 };

describe('a password', () => {
  /** Hashes in the three spellings that libraries have written. */
  async function anAccount(
    password: string,
    spelling = '$2b$',
  ): Promise<{ id: number; email: string; stored: () => Promise<string> }> {
    const email = `moved${unique()}@example.com`;
    const { id } = await aUser(app, { email });
    const hash = `bcrypt:${bcrypt.hashSync(password, 4).replace(/^\$2[aby]\$/, spelling)}`;
    await app.db.sql('UPDATE users SET password_hash = $2 WHERE id = $1::int RETURNING id', [id, hash]);
    const stored = async () =>
      (await app.db.sql<{ hash: string }>('SELECT password_hash AS hash FROM users WHERE id = $1::int', [id]))[0]!.hash;
    return { id, email, stored };
  }

  test.each([
    ['$2b$', 'correct horse'],
    ['$2a$', 'correct horse'],
    ['$2y$', 'пароль с буквами'],
  ])('of the form %s signs in, and the first time replaces its hash by ours', async (spelling, password) => {
    const { email, stored } = await anAccount(password, spelling);
    await expect(signInWithPassword(app, { email, password: `${password}x` })).rejects.toMatchObject(refused);
    expect(await stored()).toMatch(/^bcrypt:/);
    for (let count = 0; count < 2; count++) expect((await signInWithPassword(app, { email, password })).user.email).toBe(email);
    expect(await stored()).toMatch(/^\$2b\$/);
    await expect(signInWithPassword(app, { email, password: `${password}x` })).rejects.toMatchObject(refused);
  });

  test('longer than 72 bytes counts as far as the old library read it, and wholly from then on', async () => {
    const password = 'я'.repeat(50);
    const { email } = await anAccount(password);
    await signInWithPassword(app, { email, password });
    await expect(signInWithPassword(app, { email, password: `${'я'.repeat(49)}x` })).rejects.toMatchObject(refused);
  });

  test('lets two sign-ins at once in', async () => {
    const password = 'correct horse';
    const { email } = await anAccount(password);
    const both = await Promise.all([1, 2].map(() => signInWithPassword(app, { email, password })));
    for (const { refreshToken } of both)
      expect((await refreshSession(app, refreshToken)).accessToken).toEqual(expect.any(String));
  });

  test('that is no hash at all is refused', async () => {
    const { id, email } = await anAccount('correct horse');
    await app.db.sql("UPDATE users SET password_hash = 'bcrypt:something' WHERE id = $1::int RETURNING id", [id]);
    await expect(signInWithPassword(app, { email, password: 'correct horse' })).rejects.toMatchObject(refused);
  });
});

describe('a session', () => {
  /** As the existing product signs: with its own secret, by default the token of the bot. */
  const signed = (userId: number, type: string) =>
    new SignJWT({ type })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(String(userId))
      .setIssuedAt(clock.now())
      .setExpirationTime(addDays(clock.now(), 7))
      .sign(Buffer.from('123456:token-of-the-old-bot'));

  async function aSession(fields: Record<string, unknown> = {}): Promise<{ userId: number; text: string }> {
    const { id: userId } = await aUser(app);
    const text = await signed(userId, 'refresh');
    await storeRow(app, 'RefreshToken', {
      userId,
      tokenHash: secretHash(text),
      familyId: crypto.randomUUID(),
      expiresAt: addDays(clock.now(), 7),
      importedAt: clock.now(),
      ...fields,
    });
    return { userId, text };
  }

  test('goes on, and its refresh token stays the same as of a client that stores none of the answers', async () => {
    const { userId, text } = await aSession();
    for (let count = 0; count < 2; count++) {
      const { accessToken, refreshToken } = await refreshSession(app, text);
      expect(refreshToken).toBe(text);
      expect(await authenticateUser(app, { bearer: accessToken, initData: null })).toMatchObject({ userId });
    }
  });

  test.each<[string, (session: { userId: number; text: string }) => Promise<unknown>]>([
    [
      'its user is blocked',
      ({ userId }) => app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [userId]),
    ],
    ['all sessions of the user are ended', ({ userId }) => closeAllSessions(app, userId)],
    [
      'the row is not one of the import',
      ({ text }) =>
        app.db.sql('UPDATE cabinet_refresh_tokens SET imported_at = NULL WHERE token_hash = $1 RETURNING id', [secretHash(text)]),
    ],
  ])('ends when %s', async (_when, end) => {
    const session = await aSession();
    await end(session);
    await expect(refreshSession(app, session.text)).rejects.toMatchObject(refused);
  });

  test('ends at its end', async () => {
    const { text } = await aSession({ createdAt: addDays(clock.now(), -8), expiresAt: addDays(clock.now(), -1) });
    await expect(refreshSession(app, text)).rejects.toMatchObject(refused);
  });

  test('has no access token of the existing product', async () => {
    const { userId } = await aSession();
    const bearer = await signed(userId, 'access');
    await expect(authenticateUser(app, { bearer, initData: null })).rejects.toMatchObject(refused);
  });
});

describe('an API token', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  async function aToken(text: string, fields: Record<string, unknown> = {}): Promise<void> {
    await storeRow(app, 'ApiToken', {
      name: `moved ${unique()}`,
      tokenHash: sha256(text),
      tokenPrefix: text.slice(0, 8),
      importedAt: new Date(),
      ...fields,
    });
    await app.cache.forget(app, ['token:imported-prefixes']);
  }

  const use = (instance: App, apiKey: string) => authenticateToken(instance, { apiKey, bearer: null }, null);

  test.each([
    ['as the existing product makes them', randomBytes(48).toString('base64url')],
    ['as an operator chose it', 'my-token'],
  ])('%s goes on', async (_kind, text) => {
    await aToken(text);
    expect(await use(app, text)).toMatchObject({ kind: 'token' });
  });

  test('is found by its plain hash when the operator sets a secret for hashes later, and by the keyed one from then on', async () => {
    const { app: keyed } = await testApp({ environment: { WEB_API_TOKEN_HMAC_SECRET: 'a secret of the operator' } });
    const text = randomBytes(48).toString('base64url');
    await aToken(text);
    expect(await use(keyed, text)).toMatchObject({ kind: 'token' });
    const hash = createHmac('sha256', 'a secret of the operator').update(text).digest('hex');
    expect(await app.db.sql('SELECT 1 AS found FROM web_api_tokens WHERE token_hash = $1', [hash])).toHaveLength(1);
  });

  test.each([
    ['is switched off', { isActive: false }],
    ['has ended', { expiresAt: new Date(0) }],
  ])('that %s is refused', async (_why, fields) => {
    const text = randomBytes(48).toString('base64url');
    await aToken(text, fields);
    await expect(use(app, text)).rejects.toMatchObject(refused);
  });

  test('that was rotated goes on for the overlap, and no longer', async () => {
    const { app: instance, clock } = await testApp();
    const text = randomBytes(48).toString('base64url');
    await aToken(text);
    const { tokenId } = await use(instance, text);
    const { token } = await rotateApiToken(instance, { kind: 'system', name: 'test' }, tokenId, 10);
    await instance.cache.forget(instance, ['token:imported-prefixes']);
    expect([await use(instance, text), await use(instance, token)]).toMatchObject([{ tokenId }, { tokenId }]);
    clock.advance(10 * MINUTE_MS);
    await expect(use(instance, text)).rejects.toMatchObject(refused);
    expect(await use(instance, token)).toMatchObject({ tokenId });
  });

  test('that was made up causes no query of its own', async () => {
    // During the overlap of a rotation any text may be the token of before.
    clock.advance(HOUR_MS);
    await aToken(randomBytes(48).toString('base64url'));
    const recorded = recordingApp(app);
    await expect(use(recorded.app, 'guess of somebody')).rejects.toMatchObject(refused);
    const before = recorded.sent.length;
    for (let count = 0; count < 20; count++) await expect(use(recorded.app, `guess ${count}`)).rejects.toMatchObject(refused);
    // The beginnings are read once more when a change of a token is announced late.
    expect(recorded.sent.length - before).toBeLessThan(2);
  });
});
