import { beforeAll, describe, expect, it } from 'vitest';
import { signInitData } from '../../packages/sandbox/src/messenger/messenger-state.ts';
import type { App } from '../../src/core/app.ts';
import { runOutsideTransaction } from '../../src/core/db/root-guard.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { isWithinLimit } from '../../src/core/rate-limit.ts';
import { putIfAbsent, take } from '../../src/core/short-lived.ts';
import { seedRoles } from '../../src/domain/access/roles.ts';
import { createUser } from '../../src/domain/identity/create-account.ts';
import { confirmEmailChange, requestEmailChange, verifyEmail } from '../../src/domain/identity/email/email-address.ts';
import { signInWithInitData } from '../../src/domain/identity/messenger-sign-in.ts';
import { closeAllSessions, openSession, refreshSession } from '../../src/domain/identity/sessions/sessions.ts';
import {
  aMessengerAccount,
  anAddress,
  anUnverifiedAccount,
  aRotatingSession,
  aVerifiedAccount,
  mailedSecret,
} from '../domain/identity/accounts.ts';
import { unique } from '../support/builders.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { lost, settled, won } from '../support/parallel.ts';
import { recordedEvents } from '../support/recorded-events.ts';
import { type TestClock, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { TEST_BOT_TOKEN } from '../support/test-sandbox.ts';

const PARALLEL = 15;

/** Runs the same call many times concurrently. */
const atOnce = <T>(work: (n: number) => Promise<T>, times = PARALLEL) => settled(times, work);

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('sign-in raced', () => {
  let app: App;
  let clock: TestClock;
  beforeAll(async () => {
    ({ app, clock } = await testApp());
  });

  it('makes one account of many first sign-ins (spec 01 H14)', async () => {
    const id = 6_000_000_000 + unique();
    const initData = signInitData(TEST_BOT_TOKEN, { id, first_name: 'Ann' }, app.clock.now());
    const results = won(await atOnce(() => signInWithInitData(app, { initData, referralCode: null })));
    expect(results).toHaveLength(PARALLEL);
    expect(new Set(results.map((signIn) => signIn.user.id)).size).toBe(1);
    const userId = results[0]!.user.id;
    const [row] = await app.db.sql<{ users: number; memberships: number }>(
      `SELECT (SELECT count(*)::int FROM users WHERE messenger_id = $1::bigint) AS users,
         (SELECT count(*)::int FROM user_promo_groups WHERE user_id = $2::int) AS memberships`,
      [id, userId],
    );
    expect(row).toEqual({ users: 1, memberships: 1 });
    expect(await recordedEvents(app, 'user.created', userId)).toHaveLength(1);
  });

  it('gives one e-mail to one of many registrations, and refuses the others with the reason (spec 01 H13)', async () => {
    const email = anAddress();
    const draft = { authType: 'email', messengerId: null, username: null, firstName: null, lastName: null } as const;
    const rest = { emailVerified: false, passwordHash: 'x', language: 'ru', referredById: null };
    const results = await atOnce(() => createUser(app, { ...draft, ...rest, email }));
    expect(won(results)).toHaveLength(1);
    for (const reason of lost(results)) expect(reason).toMatchObject({ status: 400, detail: 'This email is already registered' });
  });

  it('rotates one token for many tabs at once, each with a separate session', async () => {
    const user = await aMessengerAccount(app);
    const first = await aRotatingSession(app, user.id);
    const pairs = won(await atOnce(() => refreshSession(app, first.refreshToken)));
    expect(pairs).toHaveLength(PARALLEL);
    expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(PARALLEL);
    const [row] = await app.db.sql<{ families: number; rotated: number }>(
      'SELECT count(DISTINCT family_id)::int AS families, count(rotated_at)::int AS rotated FROM cabinet_refresh_tokens WHERE user_id = $1',
      [user.id],
    );
    expect(row).toEqual({ families: 1, rotated: 1 });
  });

  it.each([
    ['rotating', aRotatingSession],
    ['other', openSession],
  ])(
    'spec 01 H8: a refresh of a %s session that meets the revocation of all waits for it and is refused',
    async (_kind, begin) => {
      const user = await aMessengerAccount(app);
      const { refreshToken } = await begin(app, user.id);
      let refresh: Promise<unknown> = Promise.resolve();
      await inTransaction(app, async (t) => {
        await closeAllSessions(t, user.id);
        refresh = runOutsideTransaction(() => refreshSession(app, refreshToken)).catch((error: unknown) => error);
        await someoneWaitsForALock(app, 'WITH account');
      });
      expect(await refresh).toMatchObject({ status: 401, detail: 'Refresh token not found or revoked' });
      const live = await app.db.sql('SELECT id FROM cabinet_refresh_tokens WHERE user_id = $1 AND revoked_at IS NULL', [user.id]);
      expect(live).toEqual([]);
    },
  );

  it('spec 10 G9: a revocation of all waits for a rotation that is under way and ends its successor too', async () => {
    const user = await aMessengerAccount(app);
    const { refreshToken } = await aRotatingSession(app, user.id);
    let revocation: Promise<unknown> = Promise.resolve();
    await inTransaction(app, async (t) => {
      await refreshSession(t, refreshToken);
      revocation = runOutsideTransaction(() => inTransaction(app, (other) => closeAllSessions(other, user.id)));
      await someoneWaitsForALock(app);
    });
    await revocation;
    const live = await app.db.sql('SELECT id FROM cabinet_refresh_tokens WHERE user_id = $1 AND revoked_at IS NULL', [user.id]);
    expect(live).toEqual([]);
  });

  it('ends the family once when an old token is used many times', async () => {
    const user = await aMessengerAccount(app);
    const first = await aRotatingSession(app, user.id);
    const next = await refreshSession(app, first.refreshToken);
    clock.advance(61_000);
    const results = await atOnce((n) => refreshSession(app, n % 2 === 0 ? first.refreshToken : next.refreshToken));
    for (const reason of lost(results))
      expect(reason).toMatchObject({ status: 401, detail: 'Refresh token not found or revoked' });
    expect(lost(results).length).toBeGreaterThanOrEqual(PARALLEL / 2);
    const [row] = await app.db.sql<{ live: number }>(
      'SELECT count(*)::int AS live FROM cabinet_refresh_tokens WHERE user_id = $1 AND revoked_at IS NULL',
      [user.id],
    );
    expect(row!.live).toBe(0);
  });

  it('does not sign in a user who is blocked at the same time (spec 01 H27)', async () => {
    const user = await aMessengerAccount(app);
    const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const blocked = inTransaction(app, async (t) => {
      await t.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [user.id]);
      await closeAllSessions(t, user.id);
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const signIn = openSession(app, user.id).catch((error: unknown) => error);
    // The lock is not released before the sign-in waits for it.
    await expect
      .poll(async () => {
        const [row] = await app.db.sql<{ waiting: number }>(
          "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%cabinet_last_login%'",
        );
        return row!.waiting;
      })
      .toBe(1);
    release.resolve();
    await blocked;
    expect(await signIn).toMatchObject({ status: 403, detail: 'User account is not active' });
  });

  it('accepts a verification link once', async () => {
    const account = await anUnverifiedAccount(app);
    const token = await mailedSecret(app, account.email);
    const results = await atOnce(() => verifyEmail(app, token));
    expect(won(results)).toHaveLength(1);
    for (const reason of lost(results)) expect(reason).toMatchObject({ status: 400, detail: 'Invalid verification token' });
  });

  it('counts at most five of many concurrent wrong codes (spec 01 H9)', async () => {
    const account = await aVerifiedAccount(app);
    const newEmail = anAddress();
    await requestEmailChange(app, account.actor, { newEmail });
    const code = await mailedSecret(app, newEmail);
    const results = await atOnce(() => confirmEmailChange(app, account.actor, code === '123456' ? '123457' : '123456'));
    const details = lost(results).map((reason) => (reason as { detail: string }).detail);
    expect(details.filter((detail) => detail === 'Invalid verification code')).toHaveLength(5);
    expect(details.filter((detail) => detail === 'No pending email change')).toHaveLength(PARALLEL - 5);
  });

  it('counts every hit and gives an entry to one of many', async () => {
    const hits = won(await atOnce(() => isWithinLimit(app, 'race', 4, 60)));
    expect(hits.filter(Boolean)).toHaveLength(4);
    expect(won(await atOnce((n) => putIfAbsent(app, 'race', { n }, 60))).filter(Boolean)).toHaveLength(1);
    expect(won(await atOnce(() => take(app, 'race'))).filter((value) => value !== null)).toHaveLength(1);
  });

  it('seeds roles once from many instances', async () => {
    await atOnce(() => seedRoles(app), 6);
    const rows = await app.db.sql<{ name: string }>('SELECT name FROM admin_roles WHERE is_system');
    expect(rows).toHaveLength(5);
  });
});
