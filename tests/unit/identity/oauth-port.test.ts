import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OAuthError, OAuthPort } from '../../../src/domain/identity/oauth/ports.ts';
import { OAUTH_PROVIDERS, type OAuthProvider } from '../../../src/domain/identity/oauth/types.ts';
import { createOAuthPort } from '../../../src/integrations/oauth/oauth-port.ts';
import { type IssuerAccount, type OAuthIssuer, startOAuthIssuer } from '../../fakes/oauth-issuer.ts';
import { onceHttp } from '../../support/loopback-http.ts';
import { issuerPort, someone } from '../../support/oauth-setup.ts';

let issuer: OAuthIssuer;
let port: OAuthPort;
beforeAll(async () => {
  issuer = await startOAuthIssuer();
  port = issuerPort(issuer);
});
beforeEach(() => issuer.reset());
afterAll(() => issuer.close());

let count = 0;
/** 64 bytes give 86 characters, as the real source does. */
const newSecret = (bytes: number) => {
  count += 1;
  return Buffer.alloc(bytes, count % 256).toString('base64url');
};

async function wayBack(provider: OAuthProvider, account: IssuerAccount) {
  const { authorizeUrl, secrets } = await port.begin(provider, 'state-1', newSecret);
  return { callback: await issuer.approve(authorizeUrl, account), secrets };
}

async function identityOf(provider: OAuthProvider, account: IssuerAccount) {
  const { callback, secrets } = await wayBack(provider, account);
  return port.fetchIdentity(provider, callback, secrets);
}

const failsAt = (step: OAuthError['step']) => expect.objectContaining({ name: 'OAuthError', step });

describe('OAuth providers', () => {
  it.each(OAUTH_PROVIDERS)('%s: page, code, token and user info', async (provider) => {
    const account = someone({ email: 'Ann.Lee@Example.com' });
    expect(await identityOf(provider, account)).toEqual({
      providerId: account.id,
      email: 'ann.lee@example.com',
      emailVerified: true,
      username: provider === 'yandex' || provider === 'discord' ? 'ann' : null,
      firstName: 'Ann',
      lastName: provider === 'discord' ? null : 'Lee',
    });
  });

  it.each(OAUTH_PROVIDERS)('%s: the parameters of its page are those of the table', async (provider) => {
    const { authorizeUrl } = await port.begin(provider, 'state-1', newSecret);
    const url = new URL(authorizeUrl);
    const special = {
      google: { scope: 'openid email profile', access_type: 'offline', prompt: 'select_account', nonce: expect.any(String) },
      yandex: { scope: 'login:info login:email', force_confirm: 'yes' },
      discord: { scope: 'identify email', prompt: 'consent' },
      vk: { scope: 'vkid.personal_info email', code_challenge: expect.any(String), code_challenge_method: 'S256' },
    };
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client-id',
      redirect_uri: 'https://cabinet.example.com/auth/oauth/callback',
      state: 'state-1',
      ...special[provider],
    });
  });

  it('calls the real providers unless other addresses are set', async () => {
    const real = createOAuthPort({
      http: () => onceHttp(),
      connection: () => ({ enabled: true, clientId: 'c', clientSecret: '', redirectUri: 'https://cabinet.example.com/x' }),
    });
    const hosts = await Promise.all(
      OAUTH_PROVIDERS.map(async (name) => new URL((await real.begin(name, 's', newSecret)).authorizeUrl)),
    );
    expect(hosts.map((url) => url.host + url.pathname)).toEqual([
      'accounts.google.com/o/oauth2/v2/auth',
      'oauth.yandex.com/authorize',
      'discord.com/api/oauth2/authorize',
      'id.vk.ru/authorize',
    ]);
    // Without a secret only the provider that works by PKCE can be used.
    expect(OAUTH_PROVIDERS.filter((name) => real.isEnabled(name))).toEqual(['vk']);
  });

  it('makes the PKCE challenge of RFC 7636, appendix B', async () => {
    const { authorizeUrl, secrets } = await port.begin('vk', 's', () => 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk');
    expect(secrets).toEqual({ codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' });
    expect(new URL(authorizeUrl).searchParams.get('code_challenge')).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  });

  it('sends each token request in the form of the table', async () => {
    for (const provider of OAUTH_PROVIDERS) await identityOf(provider, someone());
    const [google, yandex, discord, vk] = issuer.tokenRequests;
    expect(Object.keys(JSON.parse(google!.body)).sort()).toEqual([
      'client_id',
      'client_secret',
      'code',
      'grant_type',
      'redirect_uri',
    ]);
    const names = (body: string) => [...new URLSearchParams(body).keys()].sort();
    expect(names(yandex!.body)).toEqual(['client_id', 'client_secret', 'code', 'grant_type']);
    expect(names(discord!.body)).toEqual(['client_id', 'client_secret', 'code', 'grant_type', 'redirect_uri']);
    expect(names(vk!.body)).toEqual(['client_id', 'code', 'code_verifier', 'device_id', 'grant_type', 'redirect_uri', 'state']);
  });

  it.each([
    ['google', false],
    ['discord', false],
  ] as const)('%s: an address that it does not vouch for is not verified', async (provider, emailVerified) => {
    const identity = await identityOf(provider, someone({ email: 'a@example.com', emailVerified }));
    expect(identity).toMatchObject({ email: 'a@example.com', emailVerified: false });
  });

  it.each(OAUTH_PROVIDERS)('%s: no address, or none that can be one, is none', async (provider) => {
    expect(await identityOf(provider, someone())).toMatchObject({ email: null, emailVerified: false });
    expect(await identityOf(provider, someone({ email: 'no address' }))).toMatchObject({ email: null, emailVerified: false });
  });

  it.each(OAUTH_PROVIDERS)('%s: a code works once, and not when it is old, foreign or made up', async (provider) => {
    const { callback, secrets } = await wayBack(provider, someone());
    await port.fetchIdentity(provider, callback, secrets);
    await expect(port.fetchIdentity(provider, callback, secrets)).rejects.toEqual(failsAt('exchange'));
    await expect(port.fetchIdentity(provider, { ...callback, code: 'made-up' }, secrets)).rejects.toEqual(failsAt('exchange'));
    const other = await wayBack(provider === 'google' ? 'discord' : 'google', someone());
    await expect(port.fetchIdentity(provider, { ...callback, code: other.callback.code }, secrets)).rejects.toEqual(
      failsAt('exchange'),
    );
    const late = await wayBack(provider, someone());
    issuer.knobs.expireCodes = true;
    await expect(port.fetchIdentity(provider, late.callback, late.secrets)).rejects.toEqual(failsAt('exchange'));
  });

  it.each(OAUTH_PROVIDERS)('%s: being down breaks off at the step it happens in', async (provider) => {
    const first = await wayBack(provider, someone());
    issuer.knobs.tokenStatus = 500;
    await expect(port.fetchIdentity(provider, first.callback, first.secrets)).rejects.toEqual(failsAt('exchange'));
    issuer.reset();
    const second = await wayBack(provider, someone());
    issuer.knobs.userInfoStatus = 502;
    await expect(port.fetchIdentity(provider, second.callback, second.secrets)).rejects.toEqual(failsAt('user_info'));
    issuer.reset();
    for (const body of ['', 'no json', '[]', '{}', '{"id":"","sub":"","user":{"user_id":""}}']) {
      issuer.knobs.userInfoBody = body;
      await expect(identityOf(provider, someone())).rejects.toEqual(failsAt('user_info'));
    }
  });

  it('vk: wants the device id and the verifier that the way began with, and a whole number as id', async () => {
    const { callback, secrets } = await wayBack('vk', someone());
    const refused = failsAt('exchange');
    await expect(port.fetchIdentity('vk', { ...callback, deviceId: null }, secrets)).rejects.toEqual(refused);
    await expect(port.fetchIdentity('vk', callback, {})).rejects.toEqual(refused);
    await expect(port.fetchIdentity('vk', { ...callback, deviceId: 'other' }, secrets)).rejects.toEqual(refused);
    const again = await wayBack('vk', someone());
    await expect(port.fetchIdentity('vk', again.callback, { codeVerifier: newSecret(64) })).rejects.toEqual(refused);
    await expect(identityOf('vk', someone({ id: 'abc' }))).rejects.toEqual(failsAt('user_info'));
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'other-client' }],
    ['another nonce', { nonce: 'other' }],
    ['no nonce', { nonce: undefined }],
    ['the past', { exp: 1_000 }],
    ['no subject', { sub: undefined }],
  ])('google: refuses a token of %s', async (_name, claims) => {
    issuer.knobs.idTokenClaims = claims;
    await expect(identityOf('google', someone())).rejects.toEqual(failsAt('exchange'));
  });

  it('google: refuses user info about somebody else than the token', async () => {
    issuer.knobs.userInfoAccountId = '1';
    await expect(identityOf('google', someone())).rejects.toEqual(failsAt('user_info'));
  });

  it('has no secret in its errors', async () => {
    const { callback, secrets } = await wayBack('google', someone());
    issuer.knobs.userInfoStatus = 500;
    const error = await port.fetchIdentity('google', callback, secrets).catch((reason: unknown) => reason as Error);
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify([(error as Error).message, (error as Error).cause ?? null])).not.toContain(callback.code);
    expect((error as Error).message).toMatch(/^user_info/);
  });
});
