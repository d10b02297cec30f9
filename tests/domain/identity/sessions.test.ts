import { decodeJwt, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { authenticateUser, forgetSessionUser, readSessionUser } from '../../../src/domain/identity/authenticate.ts';
import { secretHash } from '../../../src/domain/identity/rules.ts';
import { closeAllSessions, closeSession, openSession, refreshSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { TestClock, testApp } from '../../support/test-app.ts';
import { aMessengerAccount, aRotatingSession } from './accounts.ts';

const SECRET = 'tests-only-0123456789abcdef0123456789abcdef';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const gate = (bearer: string | null, initData: string | null = null) => authenticateUser(app, { bearer, initData });
const revoked = { status: 401, detail: 'Refresh token not found or revoked', headers: { 'WWW-Authenticate': 'Bearer' } };

/** A token with any claims under the service's own key. */
function forged(claims: Record<string, unknown>, secret = SECRET): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(new Date(clock.now().getTime() + DAY_MS))
    .sign(Buffer.from(secret));
}

/** An instance that tells how many rows each of its moves of `last_activity` changed. */
function watched(instance: App): { app: App; moves: () => Promise<number[]> } {
  const moves: Promise<unknown[]>[] = [];
  const sql: App['db']['sql'] = (text, values) => {
    const rows = instance.db.sql<never>(text, values);
    if (text.includes('SET last_activity')) moves.push(rows);
    return rows;
  };
  return {
    app: { ...instance, db: { ...instance.db, sql } },
    moves: async () => (await Promise.all(moves)).map((rows) => rows.length),
  };
}

describe('sign-in', () => {
  it('issues the claims of the specification', async () => {
    const user = await aMessengerAccount(app);
    const signIn = await openSession(app, user.id);
    const access = decodeJwt(signIn.accessToken);
    expect(access).toEqual({
      sub: String(user.id),
      type: 'access',
      auth_time: access.iat,
      iat: Math.floor(clock.now().getTime() / 1_000),
      exp: Math.floor(clock.now().getTime() / 1_000) + 900,
      messenger_id: user.messengerId,
      sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      permissions: [],
      roles: [],
    });
    expect(signIn.expiresIn).toBe(900);
    const refresh = decodeJwt(signIn.refreshToken);
    expect(refresh).toMatchObject({ sub: String(user.id), type: 'refresh' });
    expect(refresh.exp! - refresh.iat!).toBe(7 * 86_400);
    expect(signIn.user.cabinetLastLogin).toEqual(clock.now());
    // Two sign-ins in one second are two sessions (spec 01 H8); only hashes are stored (H11).
    const other = await openSession(app, user.id);
    expect(other.refreshToken).not.toBe(signIn.refreshToken);
    const rows = await app.db.sql<{ tokenHash: string }>('SELECT token_hash FROM cabinet_refresh_tokens WHERE user_id = $1', [
      user.id,
    ]);
    expect(rows.map((row) => row.tokenHash).sort()).toEqual([signIn, other].map((pair) => secretHash(pair.refreshToken)).sort());
  });

  it('is refused to users who are not active (spec 01 H27)', async () => {
    const user = await aMessengerAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [user.id]);
    await expect(openSession(app, user.id)).rejects.toMatchObject({ status: 403, detail: 'User account is not active' });
  });

  it('keeps one generated secret where none is configured', async () => {
    const made = await testApp({ environment: { CABINET_JWT_SECRET: '' }, clock });
    const other = await testApp({ environment: { CABINET_JWT_SECRET: '' }, clock });
    const user = await aMessengerAccount(app);
    const signIn = await openSession(made.app, user.id);
    expect(await authenticateUser(other.app, { bearer: signIn.accessToken, initData: null })).toMatchObject({
      kind: 'user',
      userId: user.id,
    });
    await expect(gate(signIn.accessToken)).rejects.toMatchObject({ status: 401 });
  });
});

describe('the access checks of the cabinet', () => {
  it('refuses in the order of the specification', async () => {
    const user = await aMessengerAccount(app);
    const { accessToken, refreshToken } = await openSession(app, user.id);
    expect(await gate(accessToken)).toMatchObject({ kind: 'user', userId: user.id });
    const bearer = { headers: { 'WWW-Authenticate': 'Bearer' } };
    await expect(gate(null)).rejects.toMatchObject({ status: 401, detail: 'Authentication required', ...bearer });
    const invalid = { status: 401, detail: 'Invalid or expired token', ...bearer };
    await expect(gate('nonsense')).rejects.toMatchObject(invalid);
    await expect(gate(refreshToken)).rejects.toMatchObject(invalid);
    await expect(gate(await forged({ sub: '1', type: 'access' }, 'x'.repeat(40)))).rejects.toMatchObject(invalid);
    await expect(gate(await forged({ sub: 'me', type: 'access' }))).rejects.toMatchObject({
      status: 401,
      detail: 'Invalid token payload',
    });
    await expect(gate(await forged({ sub: '2000000000', type: 'access' }))).rejects.toMatchObject({
      status: 404,
      detail: 'User not found',
    });
    await app.db.sql("UPDATE users SET status = 'deleted' WHERE id = $1 RETURNING id", [user.id]);
    await forgetSessionUser(app, user.id);
    await expect(gate(accessToken)).rejects.toMatchObject({ status: 403, detail: 'User account is not active' });
  });

  it('ends with the access token', async () => {
    const later = new TestClock();
    const made = await testApp({ clock: later });
    const user = await aMessengerAccount(made.app);
    const { accessToken } = await openSession(made.app, user.id);
    later.advance(15 * MINUTE_MS - 1_000);
    await authenticateUser(made.app, { bearer: accessToken, initData: null });
    later.advance(2_000);
    await expect(authenticateUser(made.app, { bearer: accessToken, initData: null })).rejects.toMatchObject({ status: 401 });
  });

  it('moves last_activity at most every 5 minutes, whichever instance is asked (spec 01 H22)', async () => {
    const later = new TestClock();
    const { app: one, moves: movesOfOne } = watched((await testApp({ clock: later })).app);
    const { app: two, moves: movesOfTwo } = watched((await testApp({ clock: later })).app);
    const user = await aMessengerAccount(one);
    const { accessToken } = await openSession(one, user.id);
    const visit = (instance: App) => authenticateUser(instance, { bearer: accessToken, initData: null });
    later.advance(4 * MINUTE_MS);
    await visit(one);
    expect(await movesOfOne()).toEqual([]);
    later.advance(2 * MINUTE_MS);
    await readSessionUser(two, user.id);
    await visit(one);
    expect(await movesOfOne()).toEqual([1]);
    const [row] = await app.db.sql('SELECT last_activity FROM users WHERE id = $1', [user.id]);
    expect(row).toEqual({ lastActivity: later.now() });
    // What the second instance remembers is older than that.
    later.advance(1_000);
    await visit(two);
    expect(await movesOfTwo()).toEqual([0]);
  });
});

describe('refresh', () => {
  it('spec 10 U2: answers the same refresh token for its whole life and records the last use', async () => {
    const user = await aMessengerAccount(app);
    const { refreshToken } = await openSession(app, user.id);
    const row = () =>
      app.db.sql('SELECT last_used_at, rotated_at FROM cabinet_refresh_tokens WHERE user_id = $1::int', [user.id]);
    expect(await row()).toEqual([{ lastUsedAt: null, rotatedAt: null }]);
    const end = clock.now().getTime() + 7 * DAY_MS;
    while (clock.now().getTime() + 6 * HOUR_MS < end) {
      clock.advance(6 * HOUR_MS);
      const tabs = await Promise.all([refreshSession(app, refreshToken), refreshSession(app, refreshToken)]);
      for (const tab of tabs) {
        expect(tab.refreshToken).toBe(refreshToken);
        expect(await gate(tab.accessToken)).toMatchObject({ kind: 'user', userId: user.id });
      }
    }
    expect(await row()).toEqual([{ lastUsedAt: clock.now(), rotatedAt: null }]);
    clock.advance(7 * HOUR_MS);
    await expect(refreshSession(app, refreshToken)).rejects.toMatchObject({ detail: 'Invalid or expired refresh token' });
  });

  it('spec 10 U2: a token that rotated in an earlier release stays void', async () => {
    const user = await aMessengerAccount(app);
    const { refreshToken } = await aRotatingSession(app, user.id);
    await refreshSession(app, refreshToken);
    await app.db.sql('UPDATE cabinet_refresh_tokens SET rotates = false WHERE user_id = $1::int RETURNING id', [user.id]);
    clock.advance(2 * MINUTE_MS);
    await expect(refreshSession(app, refreshToken)).rejects.toMatchObject(revoked);
  });

  it('where the client asked for it, rotates, accepts parallel tabs for a minute and then treats a reuse as theft', async () => {
    const user = await aMessengerAccount(app);
    const first = await aRotatingSession(app, user.id);
    const second = await refreshSession(app, first.refreshToken);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect(await gate(second.accessToken)).toMatchObject({ kind: 'user', userId: user.id });
    clock.advance(59_000);
    const tab = await refreshSession(app, first.refreshToken);
    expect((await refreshSession(app, tab.refreshToken)).expiresIn).toBe(900);
    clock.advance(2_000);
    await expect(refreshSession(app, first.refreshToken)).rejects.toMatchObject(revoked);
    await expect(refreshSession(app, second.refreshToken)).rejects.toMatchObject(revoked);
    await expect(refreshSession(app, tab.refreshToken)).rejects.toMatchObject(revoked);
  });

  it('leaves other sessions of the user alone', async () => {
    const user = await aMessengerAccount(app);
    const [phone, laptop] = [await aRotatingSession(app, user.id), await openSession(app, user.id)];
    const next = await refreshSession(app, phone.refreshToken);
    clock.advance(2 * MINUTE_MS);
    await expect(refreshSession(app, phone.refreshToken)).rejects.toMatchObject(revoked);
    await expect(refreshSession(app, next.refreshToken)).rejects.toMatchObject(revoked);
    expect((await refreshSession(app, laptop.refreshToken)).expiresIn).toBe(900);
  });

  it('knows its refusals', async () => {
    const user = await aMessengerAccount(app);
    const { accessToken, refreshToken } = await openSession(app, user.id);
    const invalid = { status: 401, detail: 'Invalid or expired refresh token' };
    await expect(refreshSession(app, 'nonsense')).rejects.toMatchObject(invalid);
    await expect(refreshSession(app, accessToken)).rejects.toMatchObject(invalid);
    await expect(refreshSession(app, await forged({ sub: 'x', type: 'refresh' }))).rejects.toMatchObject({
      detail: 'Invalid token payload',
    });
    await expect(refreshSession(app, await forged({ sub: String(user.id), type: 'refresh' }))).rejects.toMatchObject(revoked);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [user.id]);
    await expect(refreshSession(app, refreshToken)).rejects.toMatchObject({ status: 401, detail: 'User not found or inactive' });
    await app.db.sql("UPDATE users SET status = 'active' WHERE id = $1 RETURNING id", [user.id]);
    await app.db.sql(
      "UPDATE cabinet_refresh_tokens SET created_at = now() - interval '9 days', expires_at = now() - interval '1 day' WHERE user_id = $1 RETURNING id",
      [user.id],
    );
    await expect(refreshSession(app, refreshToken)).rejects.toMatchObject({
      status: 401,
      detail: 'Refresh token is no longer valid',
    });
  });

  it('ends by logout and by closeAllSessions', async () => {
    const user = await aMessengerAccount(app);
    const [one, two, three] = [
      await aRotatingSession(app, user.id),
      await openSession(app, user.id),
      await openSession(app, user.id),
    ];
    const successor = await refreshSession(app, one.refreshToken);
    await closeSession(app, successor.refreshToken);
    await closeSession(app, 'unknown');
    await expect(refreshSession(app, successor.refreshToken)).rejects.toMatchObject(revoked);
    await expect(refreshSession(app, one.refreshToken)).rejects.toMatchObject(revoked);
    await refreshSession(app, two.refreshToken);
    await closeAllSessions(app, user.id);
    await expect(refreshSession(app, two.refreshToken)).rejects.toMatchObject(revoked);
    await expect(refreshSession(app, three.refreshToken)).rejects.toMatchObject(revoked);
  });
});
