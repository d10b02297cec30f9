/** Hazards of spec 01 section 19 about credentials, each by the use cases that clients reach. */

import { SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../../src/core/actor.ts';
import type { App } from '../../../../src/core/app.ts';
import { EnvError, loadEnv } from '../../../../src/core/env.ts';
import { isConfigAdmin } from '../../../../src/domain/access/effective-access.ts';
import { authenticateUser } from '../../../../src/domain/identity/authenticate.ts';
import { createUser } from '../../../../src/domain/identity/create-account.ts';
import {
  confirmEmailChange,
  linkEmail,
  requestEmailChange,
  resendVerification,
  verifyEmail,
} from '../../../../src/domain/identity/email/email-address.ts';
import { mailPasswordReset, resetPassword, signInWithPassword } from '../../../../src/domain/identity/email/password.ts';
import { registerAccount } from '../../../../src/domain/identity/email/register-account.ts';
import { findUserById } from '../../../../src/domain/identity/find-user.ts';
import { openSession, refreshSession } from '../../../../src/domain/identity/sessions/sessions.ts';
import { changeUserStatus } from '../../../../src/domain/users/account/change-account.ts';
import { updateUser } from '../../../../src/domain/users/account/save-user.ts';
import { unique } from '../../../support/builders.ts';
import { merge, setUser } from '../../../support/merge-samples.ts';
import { rowOf } from '../../../support/sale-samples.ts';
import { testApp } from '../../../support/test-app.ts';
import { TEST_BOT_TOKEN } from '../../../support/test-sandbox.ts';
import { userChanges } from '../../../support/user-requests.ts';
import {
  actorOf,
  aMessengerAccount,
  anAddress,
  anUnverifiedAccount,
  aVerifiedAccount,
  mailedSecret,
  PASSWORD,
} from '../accounts.ts';

let app: App;
beforeAll(async () => {
  ({ app } = await testApp());
});

const registration = (email: string, password = PASSWORD) => ({
  email,
  password,
  firstName: null,
  language: 'ru',
  referralCode: null,
});
/** The service, where something happens right after its first statement with these words. */
function meanwhile(words: string, act: () => Promise<unknown>): App {
  const { sql } = app.db;
  let isDone = false;
  const watched = async <T extends object>(text: string, values?: readonly unknown[]) => {
    const rows = await sql<T>(text, values);
    if (!isDone && text.includes(words)) {
      isDone = true;
      await act();
    }
    return rows;
  };
  return { ...app, db: { ...app.db, sql: watched } };
}

const rowOfUser = (id: number) => rowOf<Record<string, unknown>>(app, 'SELECT * FROM users WHERE id = $1::int', [id]);
const taken = { status: 400, detail: 'This email is already registered' };

describe('spec 01 H1: an address is proved by what was sent there, nothing else', () => {
  const isProved = async (id: number) => (await findUserById(app, id))!.emailVerified;

  test.each(['true', 'false'])(
    'registering an administrator’s address and asking for its password gives nothing, verification %s',
    async (verification) => {
      const email = anAddress();
      const environment = { ADMIN_EMAILS: email, CABINET_EMAIL_VERIFICATION_ENABLED: verification };
      const thief = (await testApp({ environment })).app;
      const { userId } = await registerAccount(thief, registration(email));
      await mailPasswordReset(thief, email);
      if (verification === 'false') await signInWithPassword(thief, { email, password: PASSWORD });
      else await expect(signInWithPassword(thief, { email, password: PASSWORD })).rejects.toMatchObject({ status: 403 });
      const user = (await findUserById(thief, userId))!;
      expect(user.emailVerified).toBe(false);
      expect(isConfigAdmin(thief, user)).toBe(false);
      // The owner of the mail box proves it by the link.
      await resetPassword(thief, { token: await mailedSecret(thief, email), password: 'the owner of the box' });
      expect(isConfigAdmin(thief, (await findUserById(thief, userId))!)).toBe(true);
    },
  );

  test('neither linking, nor resending, nor asking for a change proves it', async () => {
    const user = await aMessengerAccount(app);
    await linkEmail(app, actorOf(user.id), { email: anAddress(), password: PASSWORD });
    expect(await isProved(user.id)).toBe(false);
    await resendVerification(app, actorOf(user.id));
    expect(await isProved(user.id)).toBe(false);
    await requestEmailChange(app, actorOf(user.id), { newEmail: anAddress() });
    expect(await isProved(user.id)).toBe(false);
  });

  test('a link that was sent to the old address does not prove the new one', async () => {
    const account = await anUnverifiedAccount(app);
    const old = await mailedSecret(app, account.email);
    await requestEmailChange(app, account.actor, { newEmail: anAddress() });
    await expect(verifyEmail(app, old)).rejects.toMatchObject({ detail: 'Invalid verification token' });
    expect(await isProved(account.id)).toBe(false);
  });

  test.each([
    ['an unproved', anUnverifiedAccount],
    ['a proved', aVerifiedAccount],
  ])('a reset link that was sent to %s address neither opens the account nor proves the next one', async (_what, make) => {
    const account = await make(app);
    await mailPasswordReset(app, account.email);
    const token = await mailedSecret(app, account.email);
    const newEmail = anAddress();
    const { isReplaced } = await requestEmailChange(app, account.actor, { newEmail });
    if (!isReplaced) await confirmEmailChange(app, account.actor, await mailedSecret(app, newEmail));
    await expect(resetPassword(app, { token, password: 'of the old address' })).rejects.toMatchObject({
      detail: 'Invalid reset token',
    });
    expect(await findUserById(app, account.id)).toMatchObject({ email: newEmail, emailVerified: !isReplaced });
  });

  test('a reset link that is made while the address changes proves nothing', async () => {
    const account = await anUnverifiedAccount(app);
    const change = () => requestEmailChange(app, account.actor, { newEmail: anAddress() });
    await mailPasswordReset(meanwhile('WHERE email = $1', change), account.email);
    const token = await mailedSecret(app, account.email);
    await expect(resetPassword(app, { token, password: 'of the old address' })).rejects.toMatchObject({
      detail: 'Invalid reset token',
    });
    expect(await isProved(account.id)).toBe(false);
  });
});

describe('spec 01 H2: no credentials for an existing account', () => {
  // Guest purchases are not served yet; this is the part of the way that they will take.
  test('registering its address neither changes an account without a password nor opens a session', async () => {
    const { id, email } = await aVerifiedAccount(app);
    await app.db.sql("UPDATE users SET password_hash = NULL, auth_type = 'google', google_id = $2 WHERE id = $1 RETURNING id", [
      id,
      `g-${id}`,
    ]);
    const before = await rowOfUser(id);
    await expect(registerAccount(app, registration(email, 'the password of a thief'))).rejects.toMatchObject(taken);
    const draft = { authType: 'email', messengerId: null, username: null, firstName: null, lastName: null } as const;
    const credentials = { email, emailVerified: true, passwordHash: 'x', language: 'ru', referredById: null };
    await expect(createUser(app, { ...draft, ...credentials })).rejects.toMatchObject(taken);
    expect(await rowOfUser(id)).toEqual(before);
    await expect(signInWithPassword(app, { email, password: 'the password of a thief' })).rejects.toMatchObject({ status: 401 });
  });
});

describe('spec 01 H8: sessions end with what they rested on', () => {
  const admin: AdminActor = { kind: 'admin', userId: 2_000_000_000, level: 1_000, isConfigAdmin: true };
  const endings: Record<string, (account: Awaited<ReturnType<typeof aVerifiedAccount>>) => Promise<unknown>> = {
    'a password reset': async ({ email }) => {
      await mailPasswordReset(app, email);
      await resetPassword(app, { token: await mailedSecret(app, email), password: 'another password' });
    },
    'a new password beside an unproved address': async ({ id, actor }) => {
      await app.db.sql('UPDATE users SET email_verified = false WHERE id = $1 RETURNING id', [id]);
      await linkEmail(app, actor, { email: anAddress(), password: 'another password' });
    },
    blocking: ({ id }) => changeUserStatus(app, admin, id, 'blocked', null),
    'blocking over the Web API': ({ id }) =>
      updateUser(app, { kind: 'token', tokenId: 1, name: 'test' }, id, userChanges({ status: 'blocked' })),
    'soft deletion': ({ id }) => changeUserStatus(app, admin, id, 'deleted', null),
    'merging into another account': async ({ id }) => {
      const primary = await aMessengerAccount(app);
      await setUser(app, id, { google_id: `g${unique()}` });
      await merge(app, { primaryId: primary.id, secondaryId: id });
    },
  };

  test.each(Object.entries(endings))('%s', async (_name, end) => {
    const account = await aVerifiedAccount(app);
    const [one, two] = [account.signIn, await openSession(app, account.id)];
    await end(account);
    // Back to active, so that it is the revocation that speaks, not the status.
    await app.db.sql("UPDATE users SET status = 'active' WHERE id = $1 RETURNING id", [account.id]);
    for (const session of [one, two]) {
      await expect(refreshSession(app, session.refreshToken)).rejects.toMatchObject({
        status: 401,
        detail: 'Refresh token not found or revoked',
      });
    }
  });

  test('a password that changes while it is compared opens no session', async () => {
    const { id, email } = await aVerifiedAccount(app);
    await mailPasswordReset(app, email);
    const token = await mailedSecret(app, email);
    const reset = () => resetPassword(app, { token, password: 'another password' });
    const signIn = signInWithPassword(meanwhile('password_hash, email_verified FROM users', reset), {
      email,
      password: PASSWORD,
    });
    await expect(signIn).rejects.toMatchObject({ status: 403, detail: 'User account is not active' });
    const live = 'SELECT count(*)::int AS n FROM cabinet_refresh_tokens WHERE user_id = $1::int AND revoked_at IS NULL';
    expect(await rowOf(app, live, [id])).toEqual({ n: 0 });
  });

  test('a user who may not sign in may not refresh, and two sign-ins of one second are two sessions', async () => {
    const { id, signIn } = await aVerifiedAccount(app);
    expect((await openSession(app, id)).refreshToken).not.toBe(signIn.refreshToken);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [id]);
    await expect(refreshSession(app, signIn.refreshToken)).rejects.toMatchObject({ detail: 'User not found or inactive' });
  });
});

describe('spec 01 H11: no secret is stored in the database', () => {
  test('links, codes, sessions and passwords are stored as hashes, and each is used once', async () => {
    const fresh = await anUnverifiedAccount(app);
    const verification = await mailedSecret(app, fresh.email);
    const known = await aVerifiedAccount(app);
    await mailPasswordReset(app, known.email);
    const reset = await mailedSecret(app, known.email);
    const changing = await aVerifiedAccount(app);
    const newEmail = anAddress();
    await requestEmailChange(app, changing.actor, { newEmail });
    const code = await mailedSecret(app, newEmail);
    const stored = await app.db.sql<{ text: string }>(
      `SELECT u::text || coalesce((SELECT string_agg(r::text, ' ') FROM cabinet_refresh_tokens r WHERE r.user_id = u.id), '') AS text
       FROM users u WHERE id IN ($1::int, $2::int, $3::int)`,
      [fresh.id, known.id, changing.id],
    );
    const text = stored.map((row) => row.text).join('\n');
    for (const secret of [verification, reset, known.signIn.refreshToken, PASSWORD]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(new RegExp(`[,(]${code}[,)]`));
    await verifyEmail(app, verification);
    await expect(verifyEmail(app, verification)).rejects.toMatchObject({ detail: 'Invalid verification token' });
    await resetPassword(app, { token: reset, password: PASSWORD });
    await expect(resetPassword(app, { token: reset, password: PASSWORD })).rejects.toMatchObject({
      detail: 'Invalid reset token',
    });
    expect(await confirmEmailChange(app, changing.actor, code)).toBe(newEmail);
    await expect(confirmEmailChange(app, changing.actor, code)).rejects.toMatchObject({ detail: 'No pending email change' });
  });
});

describe('spec 01 H13: one address is one account, however it is written', () => {
  test('every way that stores an address takes its variants for the same one', async () => {
    const { email } = await aVerifiedAccount(app);
    const variant = email.toUpperCase();
    await expect(registerAccount(app, registration(variant))).rejects.toMatchObject(taken);
    const user = await aMessengerAccount(app);
    await expect(linkEmail(app, actorOf(user.id), { email: variant, password: PASSWORD })).rejects.toMatchObject(taken);
    const changing = await aVerifiedAccount(app);
    await expect(requestEmailChange(app, changing.actor, { newEmail: variant })).rejects.toMatchObject(taken);
    expect((await signInWithPassword(app, { email: ` ${variant} `, password: PASSWORD })).user.email).toBe(email);
  });

  test('the database has addresses in lower case only, and each once', async () => {
    const [one, two] = [await aMessengerAccount(app), await aVerifiedAccount(app)];
    const set = (email: string) => app.db.sql('UPDATE users SET email = $2 WHERE id = $1 RETURNING id', [one.id, email]);
    await expect(set('Someone@Example.com')).rejects.toThrow(/users_email_lower_case/);
    await expect(set(two.email)).rejects.toThrow(/unique/i);
  });
});

describe('spec 01 H26: sessions have a key of their own', () => {
  const production = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgresql://db.internal/subscriptions',
    BOT_TOKEN: TEST_BOT_TOKEN,
  };
  const problemsOf = (environment: Record<string, string>): readonly string[] => {
    try {
      loadEnv(environment);
    } catch (error) {
      if (error instanceof EnvError) return error.problems;
      throw error;
    }
    return [];
  };

  test('the cabinet does not start in production without one of 32 bytes', () => {
    const names = (environment: Record<string, string>) => problemsOf(environment).map((problem) => problem.split(':')[0]);
    expect(names(production)).toContain('CABINET_JWT_SECRET');
    expect(names({ ...production, CABINET_JWT_SECRET: 'k3Zr8vQm1xWc7Yp5Ht2Nb9Ls4Dg6Fj0' })).toContain('CABINET_JWT_SECRET');
    expect(names({ ...production, CABINET_JWT_SECRET: 'k3Zr8vQm1xWc7Yp5Ht2Nb9Ls4Dg6Fj0a' })).toEqual([]);
  });

  test('a token signed with the bot token, or with a short override, is refused', async () => {
    const { id } = await aMessengerAccount(app);
    const under = (secret: string) =>
      new SignJWT({ type: 'access', permissions: [], roles: [] })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(String(id))
        .setIssuedAt(app.clock.now())
        .setExpirationTime(new Date(app.clock.now().getTime() + 600_000))
        .sign(Buffer.from(secret));
    const short = '0123456789abcdef0123456789abcde';
    const get = (key: string) => (key === 'CABINET_JWT_SECRET' ? short : app.settings.get(key as 'BOT_TOKEN'));
    const cases: [App, string][] = [
      [app, TEST_BOT_TOKEN],
      [(await testApp({ environment: { CABINET_JWT_SECRET: '' } })).app, TEST_BOT_TOKEN],
      [{ ...app, settings: { ...app.settings, get: get as App['settings']['get'] } }, short],
    ];
    for (const [made, secret] of cases) {
      const bearer = await under(secret);
      await expect(authenticateUser(made, { bearer, initData: null })).rejects.toMatchObject({
        detail: 'Invalid or expired token',
      });
      expect((await authenticateUser(made, { bearer: (await openSession(made, id)).accessToken, initData: null })).userId).toBe(
        id,
      );
    }
  });
});
