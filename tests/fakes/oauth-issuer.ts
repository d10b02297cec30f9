/**
 * The four OAuth providers on loopback, as strict as the real ones: registered client and redirect address, codes that work once and
 * for a minute, PKCE with device id for VK, the signed OpenID Connect token of Google, the header of each one's user info.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import {
  jsonObject,
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  startLoopbackServer,
} from '../../packages/sandbox/src/loopback-server.ts';
import { createHttpClient } from '../../src/core/http/outbound.ts';
import type { OAuthProvider } from '../../src/domain/identity/oauth/types.ts';
import type { ProviderEndpoints } from '../../src/integrations/oauth/providers.ts';

/** An account at the provider. */
export interface IssuerAccount {
  id: string;
  email?: string;
  /** Google's and Discord's own flag. Default true. */
  emailVerified?: boolean;
  username?: string;
  firstName?: string;
  lastName?: string;
}

interface IssuerKnobs {
  /** Status in place of the usual answer. */
  tokenStatus: number | null;
  userInfoStatus: number | null;
  /** Text in place of the user-info answer. */
  userInfoBody: string | null;
  /** Every issued code has expired. */
  expireCodes: boolean;
  /** Changes the claims of Google's token. */
  idTokenClaims: Record<string, unknown>;
  /** Account id of the user info, in place of the one in the token. */
  userInfoAccountId: string | null;
}

/** What the provider returns to the browser. */
interface ProviderReturn {
  code: string;
  state: string;
  deviceId: string | null;
}

interface Grant {
  provider: OAuthProvider;
  account: IssuerAccount;
  redirectUri: string;
  nonce: string | null;
  challenge: string | null;
  deviceId: string | null;
  state: string;
}

const ACCOUNT_HEADER = 'x-fake-account';

export const CLIENT_ID = 'client-id';
export const CLIENT_SECRET = 'client-secret';
export const REDIRECT_URI = 'https://cabinet.example.com/auth/oauth/callback';

const SCOPES: Record<OAuthProvider, string> = {
  google: 'openid email profile',
  yandex: 'login:info login:email',
  discord: 'identify email',
  vk: 'vkid.personal_info email',
};

const invalid = (error: string, status = 400) => jsonReply(status, { error, error_description: `fake: ${error}` });

export interface OAuthIssuer {
  knobs: IssuerKnobs;
  /** Requests to the token endpoints, newest last. */
  tokenRequests: LoopbackRequest[];
  endpoints(provider: OAuthProvider): ProviderEndpoints;
  /** Opens the sign-in page as a browser does and consents with this account. @throws Error when the provider refuses the page */
  approve(authorizeUrl: string, account: IssuerAccount): Promise<ProviderReturn>;
  reset(): void;
  close(): Promise<void>;
}

export async function startOAuthIssuer(): Promise<OAuthIssuer> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const knobs: IssuerKnobs = freshKnobs();
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, Grant>();
  const tokenRequests: LoopbackRequest[] = [];
  const browser = createHttpClient({ system: 'browser', retries: 0, breakerThreshold: 0 });

  function authorize(provider: OAuthProvider, { query, headers }: LoopbackRequest): LoopbackReply {
    // In place of the browser's session with the provider.
    const account = JSON.parse(decodeURIComponent(headers[ACCOUNT_HEADER] ?? 'null')) as IssuerAccount | null;
    const problem =
      query.get('client_id') !== CLIENT_ID
        ? 'unknown client'
        : query.get('redirect_uri') !== REDIRECT_URI
          ? 'redirect_uri mismatch'
          : query.get('response_type') !== 'code' || query.get('scope') !== SCOPES[provider] || !query.get('state')
            ? 'bad request'
            : provider === 'vk' && (query.get('code_challenge_method') !== 'S256' || !query.get('code_challenge'))
              ? 'PKCE required'
              : null;
    if (problem || !account) return jsonReply(400, { error: problem ?? 'nobody is signed in' });
    const code = randomBytes(16).toString('hex');
    const deviceId = provider === 'vk' ? randomBytes(8).toString('hex') : null;
    const state = query.get('state') ?? '';
    codes.set(code, {
      provider,
      account,
      redirectUri: query.get('redirect_uri') ?? '',
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge'),
      deviceId,
      state,
    });
    const location = new URL(REDIRECT_URI);
    location.searchParams.set('code', code);
    location.searchParams.set('state', state);
    if (deviceId) location.searchParams.set('device_id', deviceId);
    return { status: 302, contentType: 'text/html', body: '', headers: { location: location.href } };
  }

  function token(provider: OAuthProvider, request: LoopbackRequest): LoopbackReply {
    tokenRequests.push(request);
    if (knobs.tokenStatus !== null) return jsonReply(knobs.tokenStatus, { error: 'server_error' });
    const isJson = request.headers['content-type']?.startsWith('application/json') === true;
    const fields = isJson ? jsonObject(request.body) : Object.fromEntries(new URLSearchParams(request.body));
    if (!fields || (isJson && provider !== 'google')) return invalid('invalid_request');
    // VK answers its errors with 200.
    const refuse = (error: string, status = 400) => invalid(error, provider === 'vk' ? 200 : status);
    if (fields.grant_type !== 'authorization_code') return refuse('unsupported_grant_type');
    if (fields.client_id !== CLIENT_ID) return refuse('invalid_client', 401);
    if (provider !== 'vk' && fields.client_secret !== CLIENT_SECRET) return refuse('invalid_client', 401);
    const grant = codes.get(String(fields.code));
    codes.delete(String(fields.code));
    if (!grant || grant.provider !== provider || knobs.expireCodes) return refuse('invalid_grant');
    if (provider !== 'yandex' && fields.redirect_uri !== grant.redirectUri) return refuse('invalid_grant');
    if (provider === 'vk') {
      const challenge = createHash('sha256')
        .update(String(fields.code_verifier ?? ''))
        .digest('base64url');
      if (challenge !== grant.challenge || fields.device_id !== grant.deviceId || fields.state !== grant.state) {
        return refuse('invalid_grant');
      }
    }
    const accessToken = randomBytes(16).toString('hex');
    tokens.set(accessToken, grant);
    return jsonReply(200, {
      access_token: accessToken,
      token_type: provider === 'yandex' ? 'bearer' : 'Bearer',
      expires_in: 3_600,
      refresh_token: randomBytes(16).toString('hex'),
      ...(provider === 'google' ? { scope: 'openid', id_token: idToken(grant) } : {}),
      ...(provider === 'vk' ? { id_token: 'not.a.standard-one', user_id: Number(grant.account.id), state: grant.state } : {}),
    });
  }

  function idToken(grant: Grant): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: `${server.url}/google`,
      aud: CLIENT_ID,
      azp: CLIENT_ID,
      sub: grant.account.id,
      iat: now,
      exp: now + 3_600,
      ...(grant.nonce ? { nonce: grant.nonce } : {}),
      ...knobs.idTokenClaims,
    };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', kid: 'g1', typ: 'JWT' })}.${part(claims)}`;
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  function userInfo(provider: OAuthProvider, request: LoopbackRequest): LoopbackReply {
    if (knobs.userInfoStatus !== null) return jsonReply(knobs.userInfoStatus, { error: 'server_error' });
    if (knobs.userInfoBody !== null) return { status: 200, contentType: 'application/json', body: knobs.userInfoBody };
    const form = new URLSearchParams(request.body);
    const [scheme, value] = (request.headers.authorization ?? '').split(' ');
    const given = provider === 'vk' ? form.get('access_token') : value;
    const isScheme = provider === 'vk' ? request.method === 'POST' : scheme === (provider === 'yandex' ? 'OAuth' : 'Bearer');
    const grant = tokens.get(given ?? '');
    if (!grant || grant.provider !== provider || !isScheme) return jsonReply(401, { error: 'unauthorized' });
    if (provider === 'vk' && form.get('client_id') !== CLIENT_ID) return jsonReply(200, { error: 'invalid_client' });
    if (provider === 'yandex' && request.query.get('format') !== 'json') return jsonReply(400, { error: 'format' });
    return jsonReply(200, describe(provider, grant.account));
  }

  function describe(provider: OAuthProvider, account: IssuerAccount): Record<string, unknown> {
    const { email, username, firstName, lastName, emailVerified = true } = account;
    switch (provider) {
      case 'google':
        return {
          sub: knobs.userInfoAccountId ?? account.id,
          ...(email ? { email, email_verified: emailVerified } : {}),
          given_name: firstName,
          family_name: lastName,
          picture: 'https://example.com/p.png',
        };
      case 'yandex':
        return {
          id: account.id,
          login: username,
          default_email: email ?? '',
          emails: email ? [email] : [],
          first_name: firstName,
          last_name: lastName,
        };
      case 'discord':
        return { id: account.id, username, global_name: firstName ?? null, email: email ?? null, verified: emailVerified };
      case 'vk':
        return {
          user: {
            user_id: account.id,
            first_name: firstName,
            last_name: lastName,
            email: email ?? '',
            avatar: 'https://example.com',
          },
        };
    }
  }

  const server = await startLoopbackServer(async (request) => {
    const match = /^\/(google|yandex|discord|vk)\/(authorize|token|userinfo)$/.exec(request.path);
    if (!match) return jsonReply(404, { error: 'not_found' });
    const provider = match[1] as OAuthProvider;
    if (match[2] === 'authorize') return authorize(provider, request);
    return match[2] === 'token' ? token(provider, request) : userInfo(provider, request);
  });

  return {
    knobs,
    tokenRequests,
    endpoints: (provider) => ({
      issuer: `${server.url}/${provider}`,
      authorize: `${server.url}/${provider}/authorize`,
      token: `${server.url}/${provider}/token`,
      userInfo: `${server.url}/${provider}/userinfo${provider === 'yandex' ? '?format=json' : ''}`,
    }),
    approve: async (authorizeUrl, account) => {
      const headers = { [ACCOUNT_HEADER]: encodeURIComponent(JSON.stringify(account)) };
      const reply = await browser.request({ method: 'GET', url: authorizeUrl, headers });
      if (reply.status !== 302) throw new Error(`the provider refused: ${reply.text}`);
      const { searchParams } = new URL(reply.headers.location ?? '');
      return {
        code: searchParams.get('code') ?? '',
        state: searchParams.get('state') ?? '',
        deviceId: searchParams.get('device_id'),
      };
    },
    reset: () => {
      Object.assign(knobs, freshKnobs());
      tokenRequests.length = 0;
    },
    close: () => server.close(),
  };
}

function freshKnobs(): IssuerKnobs {
  return {
    tokenStatus: null,
    userInfoStatus: null,
    userInfoBody: null,
    expireCodes: false,
    idTokenClaims: {},
    userInfoAccountId: null,
  };
}
