import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { put } from '../../../src/core/short-lived.ts';
import { linkEmail } from '../../../src/domain/identity/email/email-address.ts';
import { findUserById } from '../../../src/domain/identity/find-user.ts';
import {
  completeLinking,
  completeLinkingByState,
  linkMessenger,
  listLinkedProviders,
  startLinking,
  unlinkProvider,
} from '../../../src/domain/identity/linking.ts';
import { peekMergeToken } from '../../../src/domain/identity/merge-tokens.ts';
import { beginOAuth } from '../../../src/domain/identity/oauth/sign-in-with-provider.ts';
import { OAUTH_PROVIDERS, type OAuthProvider } from '../../../src/domain/identity/oauth/types.ts';
import { type IssuerAccount, type OAuthIssuer, startOAuthIssuer } from '../../fakes/oauth-issuer.ts';
import { unique } from '../../support/builders.ts';
import { BROWSER, signInOver, someone, switchedOff, withIssuer } from '../../support/oauth-setup.ts';
import { testApp } from '../../support/test-app.ts';
import { actorOf, aMessengerAccount, anAddress, aVerifiedAccount } from './accounts.ts';
import { signedWidget, signInData } from './linking-proofs.ts';

let app: App;
let issuer: OAuthIssuer;
beforeAll(async () => {
  issuer = await startOAuthIssuer();
  app = withIssuer((await testApp()).app, issuer);
});
beforeEach(() => {
  issuer.reset();
  switchedOff.clear();
});
afterAll(() => issuer.close());

const refused = (status: number, detail: string) => ({ status, detail });

async function begun(userId: number, provider: OAuthProvider, account: IssuerAccount) {
  const { authorizeUrl } = await startLinking(app, actorOf(userId), provider);
  return issuer.approve(authorizeUrl, account);
}

async function link(userId: number, provider: OAuthProvider, account: IssuerAccount) {
  return completeLinking(app, actorOf(userId), provider, await begun(userId, provider, account));
}

const block = (id: number) => app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [id]);

describe('linking a provider', () => {
  it.each(OAUTH_PROVIDERS)('%s: links, shows and unlinks', async (provider) => {
    const user = await aVerifiedAccount(app);
    const account = someone({ email: anAddress() });
    expect(await link(user.id, provider, account)).toEqual({ kind: 'linked' });
    const shown = async () => (await listLinkedProviders(app, user.actor)).find((one) => one.provider === provider);
    expect(await shown()).toEqual({ provider, identifier: account.id });
    expect(await findUserById(app, user.id)).toMatchObject({ email: user.email, authType: 'email' });
    await expect(startLinking(app, user.actor, provider)).rejects.toMatchObject(
      refused(400, 'Provider is already linked to your account'),
    );
    await unlinkProvider(app, user.actor, provider);
    expect(await shown()).toEqual({ provider, identifier: null });
    await expect(unlinkProvider(app, user.actor, provider)).rejects.toMatchObject(
      refused(400, 'Provider is not linked to your account'),
    );
  });

  it('answers a second ending of the same as already linked, and never replaces another account', async () => {
    const user = await aMessengerAccount(app);
    const account = someone();
    const [first, second, third] = [
      await begun(user.id, 'google', account),
      await begun(user.id, 'google', account),
      await begun(user.id, 'google', someone()),
    ];
    const end = (callback: typeof first) => completeLinking(app, actorOf(user.id), 'google', callback);
    expect(await end(first)).toEqual({ kind: 'linked' });
    expect(await end(second)).toEqual({ kind: 'already_linked' });
    await expect(end(third)).rejects.toMatchObject(refused(400, 'Provider is already linked to your account'));
  });

  it('offers to merge with the user who has the account', async () => {
    const account = someone();
    const { user: owner } = await signInOver(app, issuer, 'vk', account);
    const user = await aMessengerAccount(app);
    const outcome = await link(user.id, 'vk', account);
    expect(outcome).toEqual({ kind: 'merge_required', mergeToken: expect.stringMatching(/^[\w-]{43}$/) });
    const { mergeToken } = outcome as { mergeToken: string };
    expect(await peekMergeToken(app, mergeToken)).toMatchObject({
      primaryUserId: user.id,
      secondaryUserId: owner.id,
      provider: 'vk',
      providerId: account.id,
    });
    expect(await findUserById(app, user.id)).toMatchObject({ vkId: null });
  });

  it('accepts a state of the same kind, provider and user, once', async () => {
    const [user, other] = [await aMessengerAccount(app), await aMessengerAccount(app)];
    const callback = await begun(user.id, 'google', someone());
    const end = (id: number, provider: OAuthProvider, state: string) =>
      completeLinking(app, actorOf(id), provider, { ...callback, state });
    const invalid = refused(400, 'Invalid or expired OAuth state');
    await expect(end(user.id, 'google', 'made-up')).rejects.toMatchObject(invalid);
    await expect(end(other.id, 'google', callback.state)).rejects.toMatchObject(
      refused(400, 'OAuth state was initiated by a different user'),
    );
    await expect(end(user.id, 'google', callback.state)).rejects.toMatchObject(invalid);
    const { state } = await beginOAuth(app, 'google', { browserSecret: BROWSER });
    await expect(end(user.id, 'google', state)).rejects.toMatchObject(
      refused(400, 'OAuth state was not initiated for account linking'),
    );
    const again = await begun(user.id, 'google', someone());
    await expect(end(user.id, 'discord', again.state)).rejects.toMatchObject(invalid);
  });

  it('spec 01 H27: binds nothing to a user who is blocked meanwhile', async () => {
    const user = await aMessengerAccount(app);
    const callback = await begun(user.id, 'google', someone());
    const external = await begun(user.id, 'discord', someone());
    await block(user.id);
    const inactive = refused(403, 'User account is not active');
    await expect(completeLinking(app, actorOf(user.id), 'google', callback)).rejects.toMatchObject(inactive);
    await expect(completeLinkingByState(app, { ...external, provider: null })).rejects.toMatchObject(inactive);
    expect(await findUserById(app, user.id)).toMatchObject({ googleId: null, discordId: null });
  });

  it('spec 01 H21: counts an e-mail as a sign-in method only if its owner can sign in with it', async () => {
    const last = refused(400, 'Cannot unlink last authentication method');
    const { user } = await signInOver(app, issuer, 'google', someone());
    await linkEmail(app, actorOf(user.id), { email: anAddress(), password: 'correct horse battery' });
    await expect(unlinkProvider(app, actorOf(user.id), 'google')).rejects.toMatchObject(last);
    await app.db.sql('UPDATE users SET email_verified = true WHERE id = $1::int RETURNING id', [user.id]);
    const settings = {
      get: (key: string) => (key === 'CABINET_EMAIL_AUTH_ENABLED' ? false : app.settings.get(key as 'BOT_TOKEN')),
    };
    const withoutEmail = { ...app, settings: settings as App['settings'] };
    await expect(unlinkProvider(withoutEmail, actorOf(user.id), 'google')).rejects.toMatchObject(last);
    await unlinkProvider(app, actorOf(user.id), 'google');
    expect(await findUserById(app, user.id)).toMatchObject({ googleId: null });
  });

  it('shows the ways that are on, each with its identifier', async () => {
    const user = await aMessengerAccount(app);
    await linkEmail(app, actorOf(user.id), { email: anAddress(), password: 'correct horse battery' });
    switchedOff.add('yandex');
    const { email } = (await findUserById(app, user.id))!;
    expect(await listLinkedProviders(app, actorOf(user.id))).toEqual([
      { provider: 'messenger', identifier: String(user.messengerId) },
      { provider: 'email', identifier: email },
      { provider: 'google', identifier: null },
      { provider: 'discord', identifier: null },
      { provider: 'vk', identifier: null },
    ]);
  });
});

describe('linking in a browser without a session', () => {
  it('needs nothing but the state', async () => {
    const user = await aMessengerAccount(app);
    const account = someone();
    const callback = await begun(user.id, 'yandex', account);
    expect(await completeLinkingByState(app, { ...callback, provider: null })).toEqual({
      outcome: { kind: 'linked' },
      provider: 'yandex',
    });
    expect(await findUserById(app, user.id)).toMatchObject({ yandexId: account.id });
  });

  it('refuses in the order of the table', async () => {
    const user = await aMessengerAccount(app);
    const end = (state: string, provider: OAuthProvider | null = null) =>
      completeLinkingByState(app, { code: 'x', state, deviceId: null, provider });
    const stored = async (entry: object) => {
      const state = `state-${unique()}`;
      await put(app, `oauth_state:${state}`, entry, 600);
      return state;
    };
    const linking = { provider: 'google', linking: 'true', user_id: String(user.id) };
    await expect(end('made-up')).rejects.toMatchObject(refused(400, 'Invalid or expired OAuth state'));
    await expect(end(await stored({ ...linking, provider: 'other' }))).rejects.toMatchObject(
      refused(400, 'Could not determine OAuth provider'),
    );
    await expect(end(await stored(linking), 'vk')).rejects.toMatchObject(refused(400, 'Provider does not match OAuth state'));
    await expect(end(await stored({ provider: 'google' }), 'google')).rejects.toMatchObject(
      refused(400, 'OAuth state was not initiated for account linking'),
    );
    for (const user_id of ['abc', '', '0', '99999999999']) {
      await expect(end(await stored({ ...linking, user_id }))).rejects.toMatchObject(
        refused(400, 'Invalid user_id in OAuth state'),
      );
    }
    await expect(end(await stored({ ...linking, user_id: '2147000000' }))).rejects.toMatchObject(refused(400, 'User not found'));
    await expect(end(await stored(linking))).rejects.toMatchObject(refused(400, 'Failed to exchange authorization code'));
  });
});

describe('linking a messenger account', () => {
  const newId = () => 6_500_000_000 + unique();

  const widget = (id: number) => signedWidget(app, id);

  it('spec 10 O4: a name with a banned word is not taken over', async () => {
    const { app: strict } = await testApp({ environment: { DISPLAY_NAME_BANNED_KEYWORDS: 'ann, linda' } });
    const account = await aVerifiedAccount(strict);
    await linkMessenger(strict, account.actor, { initData: signInData(strict, newId()) });
    expect(await findUserById(strict, account.id)).toMatchObject({ firstName: null, username: 'linda' });
  });

  it('by mini-app data or widget, filling empty names and leaving others', async () => {
    const first = await aVerifiedAccount(app);
    const id = newId();
    expect(await linkMessenger(app, first.actor, { initData: signInData(app, id) })).toEqual({ kind: 'linked' });
    expect(await findUserById(app, first.id)).toMatchObject({ messengerId: id, firstName: 'Ann', username: 'linda' });
    await expect(linkMessenger(app, first.actor, { initData: 'x' })).rejects.toMatchObject(
      refused(400, 'Messenger is already linked to your account'),
    );
    const second = await aVerifiedAccount(app);
    const other = newId();
    expect(await linkMessenger(app, second.actor, { widget: widget(other) })).toEqual({ kind: 'linked' });
    expect(await findUserById(app, second.id)).toMatchObject({ messengerId: other, username: 'wanda', lastName: null });
  });

  it('offers to merge with the user who has the account', async () => {
    const owner = await aMessengerAccount(app);
    const user = await aVerifiedAccount(app);
    const outcome = await linkMessenger(app, user.actor, { widget: widget(owner.messengerId!) });
    expect(await peekMergeToken(app, (outcome as { mergeToken: string }).mergeToken)).toMatchObject({
      primaryUserId: user.id,
      secondaryUserId: owner.id,
      provider: 'messenger',
      providerId: String(owner.messengerId),
    });
  });

  it('refuses proofs that are none, and blocked users', async () => {
    const user = await aVerifiedAccount(app);
    const id = newId();
    await expect(linkMessenger(app, user.actor, { initData: signInData(app, 0) })).rejects.toMatchObject(
      refused(400, 'Invalid or expired Messenger initData'),
    );
    await expect(linkMessenger(app, user.actor, { widget: { ...widget(id), id: id + 1 } })).rejects.toMatchObject(
      refused(400, 'Invalid or expired Messenger Login Widget data'),
    );
    await expect(linkMessenger(app, user.actor, { idToken: 'x' })).rejects.toMatchObject(
      refused(400, 'Messenger OIDC is not configured'),
    );
    await block(user.id);
    await expect(linkMessenger(app, user.actor, { initData: signInData(app, id) })).rejects.toMatchObject(
      refused(403, 'User account is not active'),
    );
  });
});
