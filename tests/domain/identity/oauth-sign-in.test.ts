import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { linkEmail } from '../../../src/domain/identity/email/email-address.ts';
import { findUserById } from '../../../src/domain/identity/find-user.ts';
import { startLinking } from '../../../src/domain/identity/linking.ts';
import {
  beginOAuth,
  fetchOAuthIdentity,
  listOAuthProviders,
  signInWithProvider,
} from '../../../src/domain/identity/oauth/sign-in-with-provider.ts';
import { OAUTH_PROVIDERS } from '../../../src/domain/identity/oauth/types.ts';
import { openSession, refreshSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { type OAuthIssuer, startOAuthIssuer } from '../../fakes/oauth-issuer.ts';
import { BROWSER, signInOver, someone, switchedOff, withIssuer } from '../../support/oauth-setup.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { actorOf, aMessengerAccount, anAddress, anUnverifiedAccount, aVerifiedAccount } from './accounts.ts';

let app: App;
let clock: TestClock;
let issuer: OAuthIssuer;
beforeAll(async () => {
  issuer = await startOAuthIssuer();
  const made = await testApp();
  clock = made.clock;
  app = withIssuer(made.app, issuer);
});
beforeEach(() => {
  issuer.reset();
  switchedOff.clear();
});
afterAll(() => issuer.close());

const refused = (status: number, detail: string) => ({ status, detail });
const browser = { secret: BROWSER, isSameOrigin: true };

async function rawUser(id: number) {
  const [row] = await app.db.sql<Record<string, unknown>>('SELECT * FROM users WHERE id = $1::int', [id]);
  return row!;
}

describe('sign-in over a provider', () => {
  it.each(OAUTH_PROVIDERS)('%s: makes an account, then finds it again', async (provider) => {
    const account = someone({ email: anAddress(), firstName: '<Ann>' });
    const first = await signInOver(app, issuer, provider, account);
    expect(first.user).toMatchObject({
      authType: provider,
      email: account.email,
      emailVerified: true,
      firstName: '‹Ann›',
      hasPassword: false,
      messengerId: null,
      [`${provider}Id`]: provider === 'vk' ? Number(account.id) : account.id,
    });
    const again = await signInOver(app, issuer, provider, { ...account, email: anAddress() });
    expect(again.user).toMatchObject({ id: first.user.id, email: account.email });
    const rows = await app.db.sql<{ deviceInfo: string }>(
      'SELECT DISTINCT device_info FROM cabinet_refresh_tokens WHERE user_id = $1::int',
      [first.user.id],
    );
    expect(rows).toEqual([{ deviceInfo: `oauth:${provider}` }]);
    const [event] = await recordedEvents(app, 'user.created', first.user.id);
    expect(event).toMatchObject({ email: account.email, auth_type: provider, messenger_id: null });
  });

  it('keeps no address that the provider does not vouch for', async () => {
    const owner = await aVerifiedAccount(app);
    const { user } = await signInOver(app, issuer, 'google', someone({ email: owner.email, emailVerified: false }));
    expect(user.id).not.toBe(owner.id);
    expect(user).toMatchObject({ email: null, emailVerified: false });
  });

  it('counts a referral code for a new account only, and never the own one', async () => {
    const referrer = await aMessengerAccount(app);
    const account = someone({ email: anAddress() });
    expect((await signInOver(app, issuer, 'discord', account, referrer.referralCode)).user.referredById).toBe(referrer.id);
    const other = await aMessengerAccount(app);
    expect((await signInOver(app, issuer, 'discord', account, other.referralCode)).user.referredById).toBe(referrer.id);
    expect((await signInOver(app, issuer, 'vk', someone(), 'unknown')).user.referredById).toBeNull();
  });

  it('opens the account of a verified e-mail and links it', async () => {
    const owner = await aVerifiedAccount(app);
    const account = someone({ email: owner.email.toUpperCase() });
    const { user } = await signInOver(app, issuer, 'google', account);
    expect(user).toMatchObject({ id: owner.id, googleId: account.id, authType: 'email', hasPassword: true });
    // Its own sessions go on: nothing was wrong with them.
    await expect(refreshSession(app, owner.signIn.refreshToken)).resolves.toMatchObject({ expiresIn: 900 });
    const second = await signInOver(app, issuer, 'google', someone({ email: owner.email }));
    expect(second.user).toMatchObject({ id: owner.id, googleId: account.id });
  });

  it('spec 01 H3: gives an account whose e-mail was never verified to the owner of the e-mail, without password and sessions', async () => {
    const bait = await anUnverifiedAccount(app);
    const stolen = await openSession(app, bait.id);
    const account = someone({ email: bait.email });
    const { user } = await signInOver(app, issuer, 'yandex', account);
    expect(user).toMatchObject({ id: bait.id, yandexId: account.id, emailVerified: true, hasPassword: false });
    await expect(refreshSession(app, stolen.refreshToken)).rejects.toMatchObject({ status: 401 });
    expect(await rawUser(bait.id)).toMatchObject({
      passwordHash: null,
      emailVerificationTokenHash: null,
      passwordResetTokenHash: null,
    });
  });

  it('spec 01 H3: takes only the address from an account that somebody uses by another way', async () => {
    const stranger = await aMessengerAccount(app);
    const email = anAddress();
    await linkEmail(app, actorOf(stranger.id), { email, password: 'password of a stranger' });
    const { user } = await signInOver(app, issuer, 'google', someone({ email }));
    expect(user.id).not.toBe(stranger.id);
    expect(user).toMatchObject({ email, emailVerified: true, hasPassword: false });
    expect(await findUserById(app, stranger.id)).toMatchObject({
      email: null,
      hasPassword: false,
      messengerId: stranger.messengerId,
      googleId: null,
    });
  });

  it.each(['blocked', 'deleted'])('spec 01 H27: gives a %s user no session and no link', async (status) => {
    const account = someone({ email: anAddress() });
    const { user } = await signInOver(app, issuer, 'google', account);
    const byEmail = await aVerifiedAccount(app);
    await app.db.sql('UPDATE users SET status = $2 WHERE id = ANY($1::int[]) RETURNING id', [[user.id, byEmail.id], status]);
    const inactive = refused(403, 'User account is not active');
    await expect(signInOver(app, issuer, 'google', account)).rejects.toMatchObject(inactive);
    await expect(signInOver(app, issuer, 'discord', someone({ email: byEmail.email }))).rejects.toMatchObject(inactive);
    expect(await rawUser(byEmail.id)).toMatchObject({ discordId: null });
  });
});

describe('the state of a sign-in', () => {
  const invalid = refused(400, 'Invalid or expired OAuth state');

  it('works once, for its provider, for ten minutes', async () => {
    const attempt = async (provider: 'google' | 'discord', state: string, code = 'x') =>
      signInWithProvider(app, provider, { code, state, deviceId: null, referralCode: null, browser });
    await expect(attempt('google', 'made-up')).rejects.toMatchObject(invalid);
    await expect(attempt('google', 'nul\u0000')).rejects.toMatchObject(invalid);
    const first = await beginOAuth(app, 'google', { browserSecret: BROWSER });
    const { code } = await issuer.approve(first.authorizeUrl, someone());
    await attempt('google', first.state, code);
    await expect(attempt('google', first.state, code)).rejects.toMatchObject(invalid);
    const second = await beginOAuth(app, 'google', { browserSecret: BROWSER });
    await expect(attempt('discord', second.state)).rejects.toMatchObject(invalid);
    const third = await beginOAuth(app, 'google', { browserSecret: BROWSER });
    clock.advance(600_000);
    await expect(attempt('google', third.state)).rejects.toMatchObject(invalid);
  });

  it('spec 01 H19: completes only in the browser it began in, where browsers can be distinguished', async () => {
    const { state, authorizeUrl } = await beginOAuth(app, 'google', { browserSecret: 'of the attacker' });
    const callback = await issuer.approve(authorizeUrl, someone());
    const victim = { ...callback, referralCode: null, browser: { secret: null, isSameOrigin: true } };
    await expect(signInWithProvider(app, 'google', victim)).rejects.toMatchObject(invalid);
    expect(state).toHaveLength(43);
    const [row] = await app.db.sql<{ count: number }>(
      "SELECT count(*)::int AS count FROM short_lived_entries WHERE value::text LIKE '%of the attacker%'",
    );
    expect(row!.count).toBe(0);
  });

  it('of linking opens no session', async () => {
    const user = await aMessengerAccount(app);
    const { state } = await startLinking(app, actorOf(user.id), 'google');
    await expect(
      signInWithProvider(app, 'google', { code: 'x', state, deviceId: null, referralCode: null, browser }),
    ).rejects.toMatchObject(refused(400, 'OAuth state was initiated for account linking, not login'));
  });

  it('answers which step failed, and nothing else', async () => {
    const exchange = refused(400, 'Failed to exchange authorization code');
    issuer.knobs.tokenStatus = 500;
    await expect(signInOver(app, issuer, 'google', someone())).rejects.toMatchObject(exchange);
    issuer.reset();
    issuer.knobs.userInfoStatus = 500;
    await expect(signInOver(app, issuer, 'google', someone())).rejects.toMatchObject(
      refused(400, 'Failed to fetch user information from provider'),
    );
    issuer.reset();
    const { authorizeUrl, state } = await beginOAuth(app, 'vk', { browserSecret: BROWSER });
    const { code } = await issuer.approve(authorizeUrl, someone());
    const withoutDevice = { code, state, deviceId: null, referralCode: null, browser };
    await expect(signInWithProvider(app, 'vk', withoutDevice)).rejects.toMatchObject(exchange);
  });

  it('is not made for a provider that is off, nor ended after it was switched off', async () => {
    const unavailable = refused(400, 'Requested OAuth provider is not available');
    const { authorizeUrl } = await beginOAuth(app, 'yandex', { browserSecret: BROWSER });
    const callback = await issuer.approve(authorizeUrl, someone());
    switchedOff.add('yandex');
    await expect(beginOAuth(app, 'yandex', { browserSecret: BROWSER })).rejects.toMatchObject(unavailable);
    await expect(signInWithProvider(app, 'yandex', { ...callback, referralCode: null, browser })).rejects.toMatchObject(
      unavailable,
    );
    await expect(fetchOAuthIdentity(app, 'yandex', callback, {})).rejects.toMatchObject(unavailable);
    expect(listOAuthProviders(app)).toEqual([
      { name: 'google', displayName: 'Google' },
      { name: 'discord', displayName: 'Discord' },
      { name: 'vk', displayName: 'VK' },
    ]);
  });
});
