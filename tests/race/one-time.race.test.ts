import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { issueAutoLoginToken, signInWithAutoLogin } from '../../src/domain/identity/auto-login/auto-login.ts';
import { confirmSignIn, pollDeepLink, requestDeepLink } from '../../src/domain/identity/deeplink-sign-in.ts';
import { findUserById } from '../../src/domain/identity/find-user.ts';
import {
  bindProviderAccount,
  completeLinkingByState,
  linkMessenger,
  startLinking,
  unlinkProvider,
} from '../../src/domain/identity/linking.ts';
import { signInWithIdToken } from '../../src/domain/identity/messenger-sign-in.ts';
import { beginOAuth, signInWithProvider } from '../../src/domain/identity/oauth/sign-in-with-provider.ts';
import { createMessengerIdentityPort } from '../../src/integrations/messenger/identity-port.ts';
import { actorOf, aMessengerAccount, anAddress, aVerifiedAccount } from '../domain/identity/accounts.ts';
import { signInData } from '../domain/identity/linking-proofs.ts';
import { type OAuthIssuer, startOAuthIssuer } from '../fakes/oauth-issuer.ts';
import { startTokenIssuer, type TokenIssuer } from '../fakes/token-issuer.ts';
import { unique } from '../support/builders.ts';
import { onceHttp } from '../support/loopback-http.ts';
import { BROWSER, someone, switchedOff, withIssuer } from '../support/oauth-setup.ts';
import { lost, settled, won } from '../support/parallel.ts';
import { recordedEvents } from '../support/recorded-events.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const PARALLEL = 50;

const atOnce = <T>(work: (n: number) => Promise<T>, times = PARALLEL) => settled(times, work);

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('one-time secrets raced', () => {
  let app: App;
  let issuer: OAuthIssuer;
  let tokens: TokenIssuer;
  beforeAll(async () => {
    [issuer, tokens] = await Promise.all([startOAuthIssuer(), startTokenIssuer()]);
    const made = await testApp();
    const messengerIdentity = createMessengerIdentityPort({
      clock: made.clock,
      log: made.app.log,
      http: onceHttp(),
      botToken: () => made.app.settings.get('BOT_TOKEN'),
      botUsername: () => 'test_bot',
      oidc: () => ({ issuer: tokens.server.url, clientId: 'client' }),
    });
    app = withIssuer({ ...made.app, ports: { ...made.app.ports, messengerIdentity } }, issuer);
  });
  beforeEach(() => switchedOff.clear());
  afterAll(() => Promise.all([issuer.close(), tokens.close()]));

  const browser = { secret: BROWSER, isSameOrigin: true };
  const sessionsOf = async (userId: number) => {
    const [row] = await app.db.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM cabinet_refresh_tokens WHERE user_id = $1::int',
      [userId],
    );
    return row!.count;
  };

  it('a confirmed deep link gives one session', async () => {
    const user = await aMessengerAccount(app);
    const { token } = await requestDeepLink(app, { ip: null, device: null });
    await confirmSignIn(app, token, user.messengerId!);
    const results = await atOnce(() => pollDeepLink(app, token));
    expect(won(results)).toHaveLength(1);
    for (const reason of lost(results)) expect(reason).toMatchObject({ status: 410 });
    expect(await sessionsOf(user.id)).toBe(1);
  });

  it('a deep link that many users confirm at once is confirmed by one of them', async () => {
    const users = await Promise.all(Array.from({ length: 10 }, () => aMessengerAccount(app)));
    const { token } = await requestDeepLink(app, { ip: null, device: null });
    const results = await atOnce((n) => confirmSignIn(app, token, users[n % 10]!.messengerId!));
    expect(lost(results)).toEqual([]);
    const winners = new Set(
      results.flatMap((result, n) => (result.status === 'fulfilled' && result.value === 'confirmed' ? [users[n % 10]!.id] : [])),
    );
    expect(winners.size).toBe(1);
    expect(winners.has((await pollDeepLink(app, token)).user.id)).toBe(true);
  });

  it('an auto-login token signs in once (spec 01 H20)', async () => {
    const { id } = await aVerifiedAccount(app);
    const before = await sessionsOf(id);
    const token = await issueAutoLoginToken(app, id);
    const results = await atOnce(() => signInWithAutoLogin(app, token));
    expect(won(results)).toHaveLength(1);
    for (const reason of lost(results)) {
      expect(reason).toMatchObject({ status: 401, detail: 'Invalid or expired auto-login token' });
    }
    expect(await sessionsOf(id)).toBe(before + 1);
  });

  it('an OpenID Connect token is accepted once', async () => {
    const now = Math.floor(app.clock.now().getTime() / 1_000);
    const id = 6_600_000_000 + unique();
    const token = tokens.token({ iss: tokens.server.url, aud: 'client', sub: String(id), iat: now, exp: now + 600 });
    const results = await atOnce(() => signInWithIdToken(app, token, null));
    expect(won(results)).toHaveLength(1);
    for (const reason of lost(results)) {
      expect(reason).toMatchObject({ status: 401, detail: 'Invalid or expired Messenger OIDC token' });
    }
  });

  it('an OAuth state is used once, and its code is sent to the provider once', async () => {
    issuer.reset();
    const { authorizeUrl } = await beginOAuth(app, 'google', { browserSecret: BROWSER });
    const callback = await issuer.approve(authorizeUrl, someone());
    const results = await atOnce(() => signInWithProvider(app, 'google', { ...callback, referralCode: null, browser }));
    expect(won(results)).toHaveLength(1);
    for (const reason of lost(results)) expect(reason).toMatchObject({ status: 400, detail: 'Invalid or expired OAuth state' });
    expect(issuer.tokenRequests).toHaveLength(1);
  });

  it('a linking state is used once', async () => {
    const user = await aMessengerAccount(app);
    const { authorizeUrl } = await startLinking(app, actorOf(user.id), 'discord');
    const callback = await issuer.approve(authorizeUrl, someone());
    const results = await atOnce(() => completeLinkingByState(app, { ...callback, provider: null }));
    expect(won(results)).toEqual([{ outcome: { kind: 'linked' }, provider: 'discord' }]);
    for (const reason of lost(results)) expect(reason).toMatchObject({ status: 400, detail: 'Invalid or expired OAuth state' });
  });

  it('many first sign-ins of one person make one account (spec 01 H14)', async () => {
    const account = someone({ email: anAddress() });
    const ways = await Promise.all(
      Array.from({ length: 15 }, async () => {
        const { authorizeUrl } = await beginOAuth(app, 'google', { browserSecret: BROWSER });
        return issuer.approve(authorizeUrl, account);
      }),
    );
    const results = await atOnce(
      (n) => signInWithProvider(app, 'google', { ...ways[n]!, referralCode: null, browser }),
      ways.length,
    );
    expect(lost(results)).toEqual([]);
    expect(new Set(won(results).map((signIn) => signIn.user.id)).size).toBe(1);
    expect(won(results).filter((signIn) => signIn.isNew)).toHaveLength(1);
    expect(await recordedEvents(app, 'user.created', won(results)[0]!.user.id)).toHaveLength(1);
  });

  it('an account of a provider is linked to one of many users, and the others are refused', async () => {
    const users = await Promise.all(Array.from({ length: 15 }, () => aMessengerAccount(app)));
    const { id: providerId } = someone();
    const identity = { providerId, email: null, emailVerified: false, username: null, firstName: null, lastName: null };
    const results = await atOnce(
      (n) => bindProviderAccount(app, users[n]!.id, 'google', identity, app.clock.now()),
      users.length,
    );
    expect(won(results).filter((outcome) => outcome.kind === 'linked')).toHaveLength(1);
    const rest = won(results).filter((outcome) => outcome.kind !== 'linked');
    for (const outcome of rest) expect(outcome.kind).toBe('merge_required');
    for (const reason of lost(results)) {
      expect(reason).toMatchObject({ status: 409, detail: 'This provider account was just linked to another user' });
    }
    expect(rest.length + lost(results).length).toBe(users.length - 1);
  });

  it('a messenger account is linked to one of many users', async () => {
    const accounts = await Promise.all(Array.from({ length: 10 }, () => aVerifiedAccount(app)));
    const initData = signInData(app, 6_600_000_000 + unique());
    const results = await atOnce((n) => linkMessenger(app, accounts[n]!.actor, { initData }), accounts.length);
    expect(won(results).filter((outcome) => outcome.kind === 'linked')).toHaveLength(1);
    for (const reason of lost(results)) {
      expect(reason).toMatchObject({ status: 409, detail: 'This Messenger account was just linked to another user' });
    }
  });

  it('two concurrent unlinkings leave one sign-in method', async () => {
    for (let round = 0; round < 5; round++) {
      const user = await aMessengerAccount(app);
      const identity = () => ({ ...someone(), providerId: someone().id, email: null, emailVerified: false });
      for (const provider of ['google', 'discord'] as const) {
        const { providerId, email, emailVerified } = identity();
        const names = { username: null, firstName: null, lastName: null };
        await bindProviderAccount(app, user.id, provider, { providerId, email, emailVerified, ...names }, app.clock.now());
      }
      await app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [user.id]);
      const results = await Promise.allSettled([
        unlinkProvider(app, actorOf(user.id), 'google'),
        unlinkProvider(app, actorOf(user.id), 'discord'),
      ]);
      expect(lost(results)).toEqual([expect.objectContaining({ detail: 'Cannot unlink last authentication method' })]);
      const left = await findUserById(app, user.id);
      expect([left!.googleId, left!.discordId].filter((id) => id !== null)).toHaveLength(1);
    }
  });
});
