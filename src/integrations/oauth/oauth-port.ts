import * as oauth from 'oauth4webapi';
import type { HttpClient } from '../../core/http/http-client.ts';
import { OAuthError, type OAuthPort } from '../../domain/identity/oauth/ports.ts';
import type { OAuthCallback, OAuthIdentity, OAuthProvider, OAuthSecrets } from '../../domain/identity/oauth/types.ts';
import { libraryFetch, PROVIDERS, type ProviderEndpoints, type ProviderProfile } from './providers.ts';

const VERIFIER_BYTES = 64;
const NONCE_BYTES = 32;

/** Our registration with a provider, by the current settings. */
export interface OAuthConnection {
  enabled: boolean;
  clientId: string;
  clientSecret: string;
  /** Where the provider sends the browser back to. */
  redirectUri: string;
}

export interface OAuthPortOptions {
  /** One client per provider: each has a circuit breaker of its own. */
  http: (provider: OAuthProvider) => HttpClient;
  connection: (provider: OAuthProvider) => OAuthConnection;
  /** Addresses that replace those of the providers; plain http is allowed for these only. */
  endpoints?: (provider: OAuthProvider) => ProviderEndpoints;
}

/** One call to a provider and its configuration. */
interface ProviderCall {
  profile: ProviderProfile;
  http: HttpClient;
  connection: OAuthConnection;
  server: oauth.AuthorizationServer;
  client: oauth.Client;
  userInfoUrl: string;
  isInsecureAllowed: boolean;
}

/**
 * The four providers over one OAuth library, which sends and checks the protocol messages: authorization-code grant, PKCE, the
 * OpenID Connect token's issuer, audience, times and nonce, and user info against its subject (spec 01 section 3).
 */
export function createOAuthPort(options: OAuthPortOptions): OAuthPort {
  const call = (provider: OAuthProvider): ProviderCall => {
    const profile = PROVIDERS[provider];
    const connection = options.connection(provider);
    const endpoints = options.endpoints?.(provider) ?? profile.endpoints;
    return {
      profile,
      connection,
      http: options.http(provider),
      server: {
        issuer: endpoints.issuer,
        authorization_endpoint: endpoints.authorize,
        token_endpoint: endpoints.token,
        userinfo_endpoint: endpoints.userInfo,
      },
      client: { client_id: connection.clientId },
      userInfoUrl: endpoints.userInfo,
      isInsecureAllowed: options.endpoints !== undefined,
    };
  };
  return {
    isEnabled: (provider) => {
      const { enabled, clientId, clientSecret } = options.connection(provider);
      return enabled && clientId !== '' && (clientSecret !== '' || PROVIDERS[provider].usesPkce);
    },
    begin: (provider, state, newSecret) => begin(call(provider), state, newSecret),
    fetchIdentity: async (provider, callback, secrets) => {
      const current = call(provider);
      const token = await atStep('exchange', () => exchange(current, callback, secrets));
      return atStep('user_info', () => fetchUser(current, token));
    },
  };
}

async function begin({ profile, connection, server }: ProviderCall, state: string, newSecret: (bytes: number) => string) {
  const secrets: OAuthSecrets = {
    ...(profile.usesPkce ? { codeVerifier: newSecret(VERIFIER_BYTES) } : {}),
    ...(profile.usesIdToken ? { nonce: newSecret(NONCE_BYTES) } : {}),
  };
  const url = new URL(server.authorization_endpoint!);
  const parameters: Record<string, string> = {
    response_type: 'code',
    client_id: connection.clientId,
    redirect_uri: connection.redirectUri,
    scope: profile.scope,
    state,
    ...profile.authorizeParameters,
  };
  if (secrets.nonce) parameters.nonce = secrets.nonce;
  if (secrets.codeVerifier) {
    parameters.code_challenge = await oauth.calculatePKCECodeChallenge(secrets.codeVerifier);
    parameters.code_challenge_method = 'S256';
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { authorizeUrl: url.href, secrets };
}

interface Token {
  accessToken: string;
  /** Subject of the OpenID Connect token; user info must have the same. */
  subject: string | null;
}

async function exchange(call: ProviderCall, callback: OAuthCallback, secrets: OAuthSecrets): Promise<Token> {
  const { profile, connection, server, client } = call;
  if (profile.usesPkce && (!callback.deviceId || !secrets.codeVerifier))
    throw new TypeError('device id or code verifier missing');
  const parameters: Record<string, string> = {
    code: callback.code,
    ...(profile.sendsRedirectUri ? { redirect_uri: connection.redirectUri } : {}),
    ...(profile.usesPkce
      ? { device_id: callback.deviceId ?? '', code_verifier: secrets.codeVerifier ?? '', state: callback.state }
      : {}),
  };
  const authentication = profile.usesPkce ? oauth.None() : oauth.ClientSecretPost(connection.clientSecret);
  const response = await oauth.genericTokenEndpointRequest(server, client, authentication, 'authorization_code', parameters, {
    [oauth.customFetch]: libraryFetch(call.http, {
      asJson: profile.tokenBody === 'json',
      // The id_token of a plain OAuth provider follows other rules and is not used.
      withoutFields: profile.usesIdToken ? [] : ['id_token'],
    }),
    [oauth.allowInsecureRequests]: call.isInsecureAllowed,
  });
  if (!profile.usesIdToken) {
    const result = await oauth.processGenericTokenEndpointResponse(server, client, response);
    return { accessToken: result.access_token, subject: null };
  }
  const result = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: secrets.nonce ?? oauth.expectNoNonce,
    requireIdToken: true,
  });
  return { accessToken: result.access_token, subject: oauth.getValidatedIdTokenClaims(result)?.sub ?? null };
}

async function fetchUser(call: ProviderCall, token: Token): Promise<OAuthIdentity> {
  const identity = call.profile.readIdentity(await readUserInfo(call, token));
  if (!identity) throw new TypeError('the answer contains no user');
  return identity;
}

async function readUserInfo(call: ProviderCall, { accessToken, subject }: Token): Promise<Record<string, unknown>> {
  const { profile, http, server, client, userInfoUrl } = call;
  if (subject !== null) {
    const response = await oauth.userInfoRequest(server, client, accessToken, {
      [oauth.customFetch]: libraryFetch(http),
      [oauth.allowInsecureRequests]: call.isInsecureAllowed,
    });
    return oauth.processUserInfoResponse(server, client, subject, response);
  }
  const answer =
    profile.userInfo === 'form'
      ? await http.request({
          method: 'POST',
          url: userInfoUrl,
          headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ access_token: accessToken, client_id: client.client_id }).toString(),
          idempotent: true,
        })
      : await http.request({
          method: 'GET',
          url: userInfoUrl,
          headers: {
            accept: 'application/json',
            authorization: `${profile.userInfo === 'oauth_header' ? 'OAuth' : 'Bearer'} ${accessToken}`,
          },
        });
  if (answer.status !== 200) throw new TypeError(`status ${answer.status}`);
  const body: unknown = JSON.parse(answer.text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new TypeError('no JSON object');
  return body as Record<string, unknown>;
}

/** The library's errors contain whole answers, tokens included: only their name and code are passed on. */
async function atStep<T>(step: OAuthError['step'], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, code } = error as { name?: unknown; code?: unknown };
    throw new OAuthError(step, [step, name, code].filter((part) => typeof part === 'string').join(': '));
  }
}
