import type { HttpClient } from '../../core/http/http-client.ts';
import type { OAuthIdentity, OAuthProvider } from '../../domain/identity/oauth/types.ts';
import { textOrNull } from '../text-or-null.ts';

/** Addresses of a provider. */
export interface ProviderEndpoints {
  /** Issuer of the OpenID Connect token; of plain OAuth providers only a name. */
  issuer: string;
  authorize: string;
  token: string;
  userInfo: string;
}

/** How a provider differs from the standard (spec 01 section 3). */
export interface ProviderProfile {
  endpoints: ProviderEndpoints;
  scope: string;
  /** Further parameters of the sign-in page. */
  authorizeParameters: Readonly<Record<string, string>>;
  /** Form of the token request's body. */
  tokenBody: 'form' | 'json';
  sendsRedirectUri: boolean;
  /** PKCE replaces a client secret, and the callback has a device id. */
  usesPkce: boolean;
  /** OpenID Connect: the token answer contains a signed token with our nonce. */
  usesIdToken: boolean;
  userInfo: 'bearer' | 'oauth_header' | 'form';
  /** @returns null when the answer has no user */
  readIdentity(body: Record<string, unknown>): OAuthIdentity | null;
}

export const PROVIDERS: Readonly<Record<OAuthProvider, ProviderProfile>> = {
  google: {
    endpoints: {
      issuer: 'https://accounts.google.com',
      authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
      userInfo: 'https://www.googleapis.com/oauth2/v3/userinfo',
    },
    scope: 'openid email profile',
    authorizeParameters: { access_type: 'offline', prompt: 'select_account' },
    tokenBody: 'json',
    sendsRedirectUri: true,
    usesPkce: false,
    usesIdToken: true,
    userInfo: 'bearer',
    readIdentity: (body) =>
      identity(body.sub, {
        email: body.email,
        emailVerified: body.email_verified === true,
        username: null,
        firstName: body.given_name,
        lastName: body.family_name,
      }),
  },
  yandex: {
    endpoints: {
      issuer: 'https://oauth.yandex.com',
      authorize: 'https://oauth.yandex.com/authorize',
      token: 'https://oauth.yandex.com/token',
      userInfo: 'https://login.yandex.ru/info?format=json',
    },
    scope: 'login:info login:email',
    authorizeParameters: { force_confirm: 'yes' },
    tokenBody: 'form',
    sendsRedirectUri: false,
    usesPkce: false,
    usesIdToken: false,
    userInfo: 'oauth_header',
    readIdentity: (body) =>
      identity(body.id, {
        email: body.default_email || (Array.isArray(body.emails) ? body.emails[0] : null),
        // Yandex returns its own or verified addresses only.
        emailVerified: true,
        username: body.login,
        firstName: body.first_name,
        lastName: body.last_name,
      }),
  },
  discord: {
    endpoints: {
      issuer: 'https://discord.com',
      authorize: 'https://discord.com/api/oauth2/authorize',
      token: 'https://discord.com/api/oauth2/token',
      userInfo: 'https://discord.com/api/v10/users/@me',
    },
    scope: 'identify email',
    authorizeParameters: { prompt: 'consent' },
    tokenBody: 'form',
    sendsRedirectUri: true,
    usesPkce: false,
    usesIdToken: false,
    userInfo: 'bearer',
    readIdentity: (body) =>
      identity(body.id, {
        email: body.email,
        emailVerified: body.verified === true,
        username: body.username,
        firstName: body.global_name,
        lastName: null,
      }),
  },
  vk: {
    endpoints: {
      issuer: 'https://id.vk.ru',
      authorize: 'https://id.vk.ru/authorize',
      token: 'https://id.vk.ru/oauth2/auth',
      userInfo: 'https://id.vk.ru/oauth2/user_info',
    },
    scope: 'vkid.personal_info email',
    authorizeParameters: {},
    tokenBody: 'form',
    sendsRedirectUri: true,
    usesPkce: true,
    usesIdToken: false,
    userInfo: 'form',
    readIdentity: (body) => {
      const user = (typeof body.user === 'object' && body.user !== null ? body.user : {}) as Record<string, unknown>;
      const found = identity(user.user_id, {
        email: user.email,
        emailVerified: true,
        username: null,
        firstName: user.first_name,
        lastName: user.last_name,
      });
      return found && isVkId(found.providerId) ? found : null;
    },
  },
};

/** The fields of an answer, not checked yet. */
type AnsweredFields = { [Field in Exclude<keyof OAuthIdentity, 'providerId' | 'emailVerified'>]: unknown } & {
  emailVerified: boolean;
};

const MAX_ID_LENGTH = 255;
const MAX_EMAIL_LENGTH = 254;

function identity(id: unknown, { email: address, emailVerified, ...names }: AnsweredFields): OAuthIdentity | null {
  const providerId = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
  if (typeof providerId !== 'string' || providerId === '' || providerId.length > MAX_ID_LENGTH) return null;
  const email = addressOrNull(address);
  return {
    providerId,
    email,
    emailVerified: email !== null && emailVerified,
    username: textOrNull(names.username),
    firstName: textOrNull(names.firstName),
    lastName: textOrNull(names.lastName),
  };
}

/** Stored as an integer. */
function isVkId(id: string): boolean {
  return /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id));
}

function addressOrNull(value: unknown): string | null {
  const email = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return email.length <= MAX_EMAIL_LENGTH && /^[^\s@<>,;"]+@[^\s@<>,;"]+\.[^\s@<>,;"]+$/.test(email) ? email : null;
}

/** Options of one request of the OAuth library. */
interface LibraryRequest {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | string | Uint8Array | ArrayBuffer | ReadableStream | null | undefined;
  signal?: AbortSignal | undefined;
}

interface LibraryFetchOptions {
  /** Sends a form as a JSON object of the same fields. */
  asJson?: boolean;
  /** Fields of a JSON answer that the library must not check. */
  withoutFields?: readonly string[];
}

/** The library's fetch over our client, so that its time-outs, circuit breaker, metrics and size limit apply to sign-in calls too. */
export function libraryFetch(http: HttpClient, options: LibraryFetchOptions = {}) {
  return async (url: string, request: LibraryRequest): Promise<Response> => {
    const { method, body } = request;
    if (method !== 'GET' && method !== 'POST') throw new TypeError(`unexpected method ${method}`);
    if (body !== undefined && body !== null && !(body instanceof URLSearchParams)) throw new TypeError('unexpected body');
    const headers = options.asJson ? { ...request.headers, 'content-type': 'application/json' } : request.headers;
    const answer = await http.request({
      method,
      url,
      headers,
      ...(body ? { body: options.asJson ? JSON.stringify(Object.fromEntries(body)) : body.toString() } : {}),
      ...(request.signal ? { signal: request.signal } : {}),
      // A code is valid once: a retry would be refused and would hide the first failure.
      idempotent: method === 'GET',
    });
    return new Response(isWithoutBody(answer.status) ? null : without(answer.text, options.withoutFields ?? []), {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

/** Statuses for which `Response` refuses a body. */
function isWithoutBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function without(text: string, fields: readonly string[]): string {
  if (fields.length === 0) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return text;
    return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name))));
  } catch {
    return text;
  }
}
