/** Parallel abuse over two instances of the service on one database: one call succeeds, the others get the documented answer. */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { confirmEmailChange, requestEmailChange, verifyEmail } from '../../src/domain/identity/email/email-address.ts';
import { mailPasswordReset, resetPassword, signInWithPassword } from '../../src/domain/identity/email/password.ts';
import { openSession, refreshSession } from '../../src/domain/identity/sessions/sessions.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { mergeAccounts } from '../../src/domain/merge/merge-accounts.ts';
import {
  aMessengerAccount,
  anAddress,
  anUnverifiedAccount,
  aRotatingSession,
  aVerifiedAccount,
  mailedSecret,
} from '../domain/identity/accounts.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aPair, tokenFor } from '../support/merge-samples.ts';
import { recordedEvents } from '../support/recorded-events.ts';
import { rowOf } from '../support/sale-samples.ts';
import { TestClock, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const USES = 50;
const clock = new TestClock();
const apps: App[] = [];
const servers: FastifyInstance[] = [];
let app: App;

beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  for (let instance = 0; instance < 2; instance++) {
    const made = await testApp({ clock, environment: { CABINET_TRUSTED_PROXIES: '127.0.0.1' } });
    apps.push(made.app);
    servers.push(await testServer(made.app));
  }
  app = apps[0]!;
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

/** The same call many times concurrently, alternating between the two instances. */
async function atOnce<T>(work: (app: App, n: number) => Promise<T>, times = USES) {
  const results = await Promise.allSettled(Array.from({ length: times }, (_, n) => work(apps[n % 2]!, n)));
  return {
    won: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    lost: results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : [])),
  };
}

function expectOneWinner(result: { won: unknown[]; lost: unknown[] }, refusal: object, times = USES): void {
  expect(result.lost).toEqual(Array(times - 1).fill(expect.objectContaining(refusal)));
  expect(result.won).toHaveLength(1);
}

const liveSessions = (userId: number) =>
  rowOf<{ live: number; families: number; marked: number }>(
    app,
    `SELECT count(*) FILTER (WHERE revoked_at IS NULL)::int AS live, count(DISTINCT family_id)::int AS families,
       count(rotated_at)::int AS marked FROM cabinet_refresh_tokens WHERE user_id = $1::int`,
    [userId],
  );

describe('spec 01 H13: one e-mail', () => {
  test('100 registrations in many spellings, from 100 addresses: one account, one event, one mail', async () => {
    const email = anAddress();
    const spelled = (n: number) =>
      n % 3 === 0 ? email.toUpperCase() : n % 3 === 1 ? email : ` ${email}`.trim().replace('u', 'U');
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        clientOf(servers[n % 2]!, { 'x-forwarded-for': `203.0.113.${n + 1}` }).post('/cabinet/auth/email/register/standalone', {
          email: spelled(n),
          password: `password number ${n}`,
        }),
      ),
    );
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
    const losers = replies.filter((reply) => reply.status !== 200);
    for (const reply of losers)
      expect(reply).toMatchObject({ status: 400, body: { detail: 'This email is already registered' } });
    const users = await app.db.sql<{ id: number }>('SELECT id FROM users WHERE lower(email) = $1', [email]);
    expect(users).toHaveLength(1);
    expect(await recordedEvents(app, 'user.created', users[0]!.id)).toHaveLength(1);
    expect(await app.db.sql('SELECT id FROM outgoing_mails WHERE recipient = $1', [email])).toHaveLength(1);
    // The password is that of the request that succeeded.
    await verifyEmail(app, await mailedSecret(app, email));
    const winner = replies.findIndex((reply) => reply.status === 200);
    expect((await signInWithPassword(app, { email, password: `password number ${winner}` })).user.email).toBe(email);
  });
});

describe('spec 01 H8: one refresh token', () => {
  test('50 exchanges within the grace give different successors in one session, of which only the first is recorded', async () => {
    const user = await aMessengerAccount(app);
    const first = await aRotatingSession(app, user.id);
    const { won, lost } = await atOnce((instance) => refreshSession(instance, first.refreshToken));
    expect(lost).toEqual([]);
    expect(new Set(won.map((pair) => pair.refreshToken)).size).toBe(USES);
    expect(await liveSessions(user.id)).toEqual({ live: USES + 1, families: 1, marked: 1 });
  });

  test('50 exchanges after the grace: none succeeds, and every successor is revoked', async () => {
    const user = await aMessengerAccount(app);
    const [first, other] = [await aRotatingSession(app, user.id), await openSession(app, user.id)];
    const successor = await refreshSession(app, first.refreshToken);
    clock.advance(61_000);
    const refusal = { status: 401, detail: 'Refresh token not found or revoked' };
    const stolen = await atOnce((instance) => refreshSession(instance, first.refreshToken));
    expect(stolen.lost).toEqual(Array(USES).fill(expect.objectContaining(refusal)));
    await expect(refreshSession(app, successor.refreshToken)).rejects.toMatchObject(refusal);
    // Another sign-in of the same user is another session.
    await refreshSession(app, other.refreshToken);
  });

  test('50 exchanges of a revoked token: none succeeds', async () => {
    const user = await aMessengerAccount(app);
    const { refreshToken } = await openSession(app, user.id);
    await app.db.sql('UPDATE cabinet_refresh_tokens SET revoked_at = now() WHERE user_id = $1::int RETURNING id', [user.id]);
    const { won } = await atOnce((instance) => refreshSession(instance, refreshToken));
    expect(won).toEqual([]);
    expect((await liveSessions(user.id)).live).toBe(0);
  });
});

describe('one-time codes', () => {
  test('a verification link', async () => {
    const account = await anUnverifiedAccount(app);
    const token = await mailedSecret(app, account.email);
    const result = await atOnce((instance) => verifyEmail(instance, token));
    expectOneWinner(result, { status: 400, detail: 'Invalid verification token' });
    expect((await liveSessions(account.id)).live).toBe(1);
  });

  test('a password link: the password of the first request is set, every older session is ended', async () => {
    const { id, email } = await aVerifiedAccount(app);
    await mailPasswordReset(app, email);
    const token = await mailedSecret(app, email);
    const result = await atOnce(async (instance, n) => {
      await resetPassword(instance, { token, password: `new password ${n}` });
      return n;
    });
    expectOneWinner(result, { status: 400, detail: 'Invalid reset token' });
    expect((await liveSessions(id)).live).toBe(0);
    expect((await signInWithPassword(app, { email, password: `new password ${result.won[0]}` })).user.id).toBe(id);
  });

  test('a code for a new e-mail: one change, one notification to the old address', async () => {
    const account = await aVerifiedAccount(app);
    const newEmail = anAddress();
    await requestEmailChange(app, account.actor, { newEmail });
    const code = await mailedSecret(app, newEmail);
    const result = await atOnce((instance) => confirmEmailChange(instance, account.actor, code));
    expectOneWinner(result, { status: 400, detail: 'No pending email change' });
    const { mails } = await rowOf<{ mails: number }>(
      app,
      'SELECT count(*)::int AS mails FROM outgoing_mails WHERE recipient = $1',
      [account.email],
    );
    expect(mails).toBe(1);
  });

  test('one new e-mail, confirmed by many users at once: one user gets it', async () => {
    const newEmail = anAddress();
    const accounts = await Promise.all(Array.from({ length: 12 }, () => aVerifiedAccount(app)));
    const codes: string[] = [];
    for (const account of accounts) {
      await requestEmailChange(app, account.actor, { newEmail });
      codes.push(await mailedSecret(app, newEmail));
    }
    const result = await atOnce((instance, n) => confirmEmailChange(instance, accounts[n]!.actor, codes[n]!), accounts.length);
    expectOneWinner(result, { status: 400, detail: 'This email is already taken' }, accounts.length);
  });

  test('a merge token: one merge, the ledger stays clean', async () => {
    const pair = await aPair(app);
    const token = await tokenFor(app, pair);
    const result = await atOnce((instance) => mergeAccounts(instance, { token, keepSubscriptionFrom: pair.primaryId }));
    expectOneWinner(result, { status: 404, detail: 'Merge token is invalid, expired, or already consumed' });
    expect(await checkLedger(app)).toEqual([]);
  });
});
