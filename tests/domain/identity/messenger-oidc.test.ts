import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { findUserById } from '../../../src/domain/identity/find-user.ts';
import { linkMessenger } from '../../../src/domain/identity/linking.ts';
import { signInWithIdToken, signInWithWidget } from '../../../src/domain/identity/messenger-sign-in.ts';
import { createMessengerIdentityPort } from '../../../src/integrations/messenger/identity-port.ts';
import { startTokenIssuer, type TokenIssuer } from '../../fakes/token-issuer.ts';
import { unique } from '../../support/builders.ts';
import { onceHttp } from '../../support/loopback-http.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { aMessengerAccount, aVerifiedAccount } from './accounts.ts';
import { signedWidget } from './linking-proofs.ts';

let app: App;
let clock: TestClock;
let issuer: TokenIssuer;
let plain: App;
beforeAll(async () => {
  issuer = await startTokenIssuer();
  ({ app: plain, clock } = await testApp());
  const messengerIdentity = createMessengerIdentityPort({
    clock,
    log: plain.log,
    http: onceHttp(),
    botToken: () => plain.settings.get('BOT_TOKEN'),
    botUsername: () => 'test_bot',
    oidc: () => ({ issuer: issuer.server.url, clientId: 'client' }),
  });
  app = { ...plain, ports: { ...plain.ports, messengerIdentity } };
});
afterAll(() => issuer.close());

const unauthorized = (detail: string) => ({ status: 401, detail, headers: { 'WWW-Authenticate': 'Bearer' } });
const newId = () => 6_700_000_000 + unique();

function token(claims: Record<string, unknown>): string {
  const now = Math.floor(clock.now().getTime() / 1_000);
  return issuer.token({ iss: issuer.server.url, aud: 'client', sub: 'x', iat: now, exp: now + 3_600, jti: unique(), ...claims });
}

describe('sign-in with an OpenID Connect token', () => {
  it('makes an account and refreshes its profile, where a missing last name erases nothing', async () => {
    const id = newId();
    const names = { name: 'Ann', family_name: 'Lee', preferred_username: 'ann', locale: 'en-GB' };
    const first = await signInWithIdToken(app, token({ id, ...names }), null);
    expect(first.user).toMatchObject({ messengerId: id, firstName: 'Ann', lastName: 'Lee', username: 'ann', language: 'en' });
    const again = await signInWithIdToken(app, token({ sub: String(id), name: 'Anna' }), null);
    expect(again.user).toMatchObject({ id: first.user.id, firstName: 'Anna', lastName: 'Lee', username: 'ann' });
  });

  it('takes a token once, for sign-in and linking together, whatever its spelling', async () => {
    const invalid = unauthorized('Invalid or expired Messenger OIDC token');
    const used = token({ id: newId() });
    await signInWithIdToken(app, used, null);
    await expect(signInWithIdToken(app, used, null)).rejects.toMatchObject(invalid);
    const { actor } = await aVerifiedAccount(app);
    await expect(linkMessenger(app, actor, { idToken: used })).rejects.toMatchObject(invalid);
    // The last letter of a 2048-bit signature has four spare bits: another text, the same signature.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const respelt = used.slice(0, -1) + letters[letters.indexOf(used.at(-1)!) ^ 1];
    expect(respelt).not.toBe(used);
    await expect(signInWithIdToken(app, respelt, null)).rejects.toMatchObject(invalid);
    clock.advance(3_599_000);
    await expect(signInWithIdToken(app, used, null)).rejects.toMatchObject(invalid);
    clock.advance(1_000);
    await expect(signInWithIdToken(app, used, null)).rejects.toMatchObject(invalid);
  });

  it.each([
    [{ id: 'abc' }, 'Invalid user ID in OIDC claims'],
    [{ id: 1.5 }, 'Invalid user ID in OIDC claims'],
    [{ id: -4 }, 'Invalid user ID in OIDC claims'],
    [{ id: { a: 1 } }, 'Invalid user ID in OIDC claims'],
    [{ id: '99999999999999999999' }, 'Invalid user ID in OIDC claims'],
    [{ sub: 'letters' }, 'Invalid user ID in OIDC claims'],
    [{ sub: '' }, 'Missing user ID in OIDC claims'],
    [{ id: '', sub: '7' }, 'Missing user ID in OIDC claims'],
  ])('refuses %j', async (claims, detail) => {
    await expect(signInWithIdToken(app, token(claims), null)).rejects.toMatchObject(unauthorized(detail));
  });

  it('is refused while it is not set up, and for users who are not active', async () => {
    const off = { status: 400, detail: 'Messenger OIDC is not configured' };
    await expect(signInWithIdToken(plain, token({ id: newId() }), null)).rejects.toMatchObject(off);
    const user = await aMessengerAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [user.id]);
    await expect(signInWithIdToken(app, token({ id: user.messengerId }), null)).rejects.toMatchObject({
      status: 403,
      detail: 'User account is not active',
    });
  });

  it('links', async () => {
    const { actor, id } = await aVerifiedAccount(app);
    const messengerId = newId();
    expect(await linkMessenger(app, actor, { idToken: token({ id: messengerId }) })).toEqual({ kind: 'linked' });
    expect(await findUserById(app, id)).toMatchObject({ messengerId });
  });
});

describe('sign-in with the login widget', () => {
  it('makes an account with language ru, and later takes over the whole name, a missing last name too', async () => {
    const id = newId();
    const referrer = await aMessengerAccount(app);
    const first = await signInWithWidget(app, signedWidget(app, id, { last_name: 'Lee' }), referrer.referralCode);
    expect(first.user).toMatchObject({ messengerId: id, lastName: 'Lee', language: 'ru', referredById: referrer.id });
    const again = await signInWithWidget(app, signedWidget(app, id, { first_name: 'Anna' }), null);
    expect(again.user).toMatchObject({ id: first.user.id, firstName: 'Anna', lastName: null, username: 'wanda' });
  });

  it('refuses changed and old fields', async () => {
    const invalid = unauthorized('Invalid or expired Messenger authentication data');
    const data = signedWidget(app, newId());
    await expect(signInWithWidget(app, { ...data, id: data.id + 1 }, null)).rejects.toMatchObject(invalid);
    clock.advance(30 * 86_400_000 + 1_000);
    await expect(signInWithWidget(app, data, null)).rejects.toMatchObject(invalid);
  });
});
