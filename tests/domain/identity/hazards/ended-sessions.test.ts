/** Spec 01 section 19, H8: what a session had in its hands when it was ended is worth nothing afterwards. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../../src/core/actor.ts';
import type { App } from '../../../../src/core/app.ts';
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { authenticateUser, forgetSessionUser } from '../../../../src/domain/identity/authenticate.ts';
import { mailPasswordReset, resetPassword, signInWithPassword } from '../../../../src/domain/identity/email/password.ts';
import {
  completeLinking,
  completeLinkingByState,
  linkMessenger,
  startLinking,
  unlinkProvider,
} from '../../../../src/domain/identity/linking.ts';
import { findById } from '../../../../src/domain/identity/repo.ts';
import { closeAllSessions, openSession, refreshSession } from '../../../../src/domain/identity/sessions/sessions.ts';
import { mergeAccounts, previewMerge } from '../../../../src/domain/merge/merge-accounts.ts';
import { changeUserStatus } from '../../../../src/domain/users/account/change-account.ts';
import { type OAuthIssuer, startOAuthIssuer } from '../../../fakes/oauth-issuer.ts';
import { unique } from '../../../support/builders.ts';
import { someone, withIssuer } from '../../../support/oauth-setup.ts';
import { type TestClock, testApp } from '../../../support/test-app.ts';
import { aMessengerAccount, aVerifiedAccount, mailedSecret, PASSWORD } from '../accounts.ts';
import { signInData } from '../linking-proofs.ts';

let app: App;
let clock: TestClock;
let issuer: OAuthIssuer;
beforeAll(async () => {
  issuer = await startOAuthIssuer();
  const t = await testApp();
  app = withIssuer(t.app, issuer);
  clock = t.clock;
});
afterAll(() => issuer.close());

const NEW_PASSWORD = 'another password';
const enter = (bearer: string) => authenticateUser(app, { bearer, initData: null });
const refused = { status: 401, detail: 'Invalid or expired token' };

type Account = Awaited<ReturnType<typeof aVerifiedAccount>>;

async function reset({ email }: Account): Promise<void> {
  clock.advance(2_000);
  await mailPasswordReset(app, email);
  await resetPassword(app, { token: await mailedSecret(app, email), password: NEW_PASSWORD });
}

function endAll(userId: number): Promise<void> {
  return inTransaction(app, async (t) => {
    await closeAllSessions(t, userId);
    await forgetSessionUser(t, userId);
  });
}

/** The service, where something happens before this key is read for the first time. */
function interrupted(key: string, happens: () => Promise<void>): App {
  let isDone = false;
  const read: App['cache']['read'] = async (asked, ttlMs, load) => {
    if (asked === key && !isDone) {
      isDone = true;
      await happens();
    }
    return app.cache.read(asked, ttlMs, load);
  };
  return { ...app, cache: Object.assign(Object.create(app.cache), { read }) };
}

/** The service, where something happens while the provider is asked. */
function slowProvider(happens: () => Promise<void>): App {
  const { oauth } = app.ports;
  const fetchIdentity: typeof oauth.fetchIdentity = async (...question) => {
    const identity = await oauth.fetchIdentity(...question);
    await happens();
    return identity;
  };
  return { ...app, ports: { ...app.ports, oauth: Object.assign(Object.create(oauth), { fetchIdentity }) } };
}

describe('spec 01 H8: after a new password', () => {
  test('access tokens from before are refused, those of the next sign-in are not', async () => {
    const account = await aVerifiedAccount(app);
    const other = await openSession(app, account.id);
    await expect(enter(other.accessToken)).resolves.toMatchObject({ userId: account.id });
    await reset(account);
    for (const { accessToken } of [account.signIn, other]) await expect(enter(accessToken)).rejects.toMatchObject(refused);
    await expect(signInWithPassword(app, { email: account.email, password: PASSWORD })).rejects.toMatchObject({ status: 401 });
    const next = await signInWithPassword(app, { email: account.email, password: NEW_PASSWORD });
    await expect(enter(next.accessToken)).resolves.toMatchObject({ userId: account.id });
  });

  test('a linking that was begun before is refused', async () => {
    const account = await aVerifiedAccount(app);
    const { authorizeUrl } = await startLinking(app, account.actor, 'google');
    const callback = await issuer.approve(authorizeUrl, someone());
    await reset(account);
    await expect(completeLinkingByState(app, { ...callback, provider: null })).rejects.toMatchObject({
      status: 400,
      detail: 'Invalid or expired OAuth state',
    });
    const again = await startLinking(app, account.actor, 'google');
    const { outcome } = await completeLinkingByState(app, {
      ...(await issuer.approve(again.authorizeUrl, someone())),
      provider: null,
    });
    expect(outcome).toEqual({ kind: 'linked' });
  });

  test('an offer to merge that was made before is void', async () => {
    const account = await aVerifiedAccount(app);
    const thief = await aMessengerAccount(app);
    const initData = signInData(app, thief.messengerId!);
    const outcome = await linkMessenger(app, account.actor, { initData });
    const token = outcome.kind === 'merge_required' ? outcome.mergeToken : '';
    await previewMerge(app, token);
    await reset(account);
    await expect(previewMerge(app, token)).rejects.toMatchObject({ status: 404, detail: 'Merge token is invalid or expired' });
    await expect(mergeAccounts(app, { token, keepSubscriptionFrom: account.id })).rejects.toMatchObject({
      status: 404,
      detail: 'Merge token is invalid, expired, or already consumed',
    });
  });
});

describe('spec 01 H8: the end itself', () => {
  test('a token of the same second from before is refused, the next one counts', async () => {
    const account = await aVerifiedAccount(app);
    clock.advance(1_000 - (clock.now().getTime() % 1_000) + 100);
    const stolen = await refreshSession(app, account.signIn.refreshToken);
    clock.advance(400);
    await endAll(account.id);
    const next = await openSession(app, account.id);
    await expect(enter(next.accessToken)).resolves.toMatchObject({ userId: account.id });
    await expect(enter(stolen.accessToken)).rejects.toMatchObject(refused);
    // Within one millisecond, too.
    await endAll(account.id);
    await expect(enter(next.accessToken)).rejects.toMatchObject(refused);
  });

  test('a refresh that was admitted before gives no token that counts after it', async () => {
    const { id, signIn } = await aVerifiedAccount(app);
    const { accessToken } = await refreshSession(
      interrupted(`roles:${id}`, () => endAll(id)),
      signIn.refreshToken,
    );
    clock.advance(1_500);
    await expect(enter(accessToken)).rejects.toMatchObject(refused);
  });

  test('a sign-in that was admitted before gives no token that counts after it', async () => {
    const { id } = await aVerifiedAccount(app);
    const { accessToken } = await openSession(
      interrupted(`roles:${id}`, () => endAll(id)),
      id,
    );
    clock.advance(1_500);
    await expect(enter(accessToken)).rejects.toMatchObject(refused);
  });

  test('an instance whose clock is slow issues valid tokens', async () => {
    const { id } = await aVerifiedAccount(app);
    await endAll(id);
    clock.advance(-3_000);
    const late = await openSession(app, id);
    clock.advance(3_000);
    await expect(enter(late.accessToken)).resolves.toMatchObject({ userId: id });
  });

  test('linking while the provider is queried links nothing', async () => {
    const account = await aVerifiedAccount(app);
    const { authorizeUrl } = await startLinking(app, account.actor, 'google');
    const callback = await issuer.approve(authorizeUrl, someone());
    clock.advance(1_000);
    await expect(
      completeLinking(
        slowProvider(() => endAll(account.id)),
        account.actor,
        'google',
        callback,
      ),
    ).rejects.toMatchObject({
      status: 400,
      detail: 'Invalid or expired OAuth state',
    });
    expect((await findById(app.db, account.id))?.googleId).toBeNull();
  });

  test('linking a messenger account while its proof is looked at binds nothing', async () => {
    const account = await aVerifiedAccount(app);
    const messengerId = 7_700_000_000 + unique();
    const { sql } = app.db;
    let isDone = false;
    // The end commits before the transaction that binds has the user's lock.
    const watched: App['db']['sql'] = async (text, values) => {
      const rows = await sql(text, values);
      if (!isDone && text.includes('FROM users WHERE id = $1')) {
        isDone = true;
        clock.advance(1_000);
        await endAll(account.id);
      }
      return rows as never;
    };
    const slow: App = { ...app, db: { ...app.db, sql: watched } };
    await expect(linkMessenger(slow, account.actor, { initData: signInData(app, messengerId) })).rejects.toMatchObject(refused);
    expect(isDone).toBe(true);
    expect((await findById(app.db, account.id))?.messengerId).toBeNull();
  });
});

describe('spec 01 H8: an offer to merge made with an identity that a thief had linked to the other account', () => {
  async function offerOf(thief: Account, victim: Account): Promise<string> {
    const google = someone();
    for (const [account, wanted] of [
      [victim, 'linked'],
      [thief, 'merge_required'],
    ] as const) {
      const { authorizeUrl } = await startLinking(app, account.actor, 'google');
      const callback = await issuer.approve(authorizeUrl, google);
      const { outcome } = await completeLinkingByState(app, { ...callback, provider: null });
      expect(outcome.kind).toBe(wanted);
      if (outcome.kind === 'merge_required') return outcome.mergeToken;
    }
    throw new Error('no offer was made');
  }

  test.each([
    ['the owner unlinks it', (victim: Account) => unlinkProvider(app, victim.actor, 'google')],
    ['the owner ends all sessions', (victim: Account) => endAll(victim.id)],
  ])('is void when %s', async (_name, act) => {
    const [victim, thief] = [await aVerifiedAccount(app), await aVerifiedAccount(app)];
    const token = await offerOf(thief, victim);
    await previewMerge(app, token);
    clock.advance(1_000);
    await act(victim);
    await expect(previewMerge(app, token)).rejects.toMatchObject({ status: 404 });
    await expect(mergeAccounts(app, { token, keepSubscriptionFrom: victim.id })).rejects.toMatchObject({ status: 404 });
    expect((await findById(app.db, victim.id))?.status).toBe('active');
  });
});

test('spec 01 H8: a blocked user who is unblocked must sign in again', async () => {
  const admin: AdminActor = { kind: 'admin', userId: 2_000_000_000, level: 1_000, isConfigAdmin: true };
  const { id, signIn } = await aVerifiedAccount(app);
  clock.advance(2_000);
  await changeUserStatus(app, admin, id, 'blocked', null);
  await expect(enter(signIn.accessToken)).rejects.toMatchObject({ status: 403 });
  await changeUserStatus(app, admin, id, 'active', null);
  await expect(enter(signIn.accessToken)).rejects.toMatchObject(refused);
  await expect(enter((await openSession(app, id)).accessToken)).resolves.toMatchObject({ userId: id });
});
