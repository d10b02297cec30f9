/** Outside providers of sign-in, in the order of the interface (spec 01 section 6). */
export const OAUTH_PROVIDERS = ['google', 'yandex', 'discord', 'vk'] as const;

export type OAuthProvider = (typeof OAUTH_PROVIDERS)[number];

/** How the providers are called in front of people. */
export const PROVIDER_NAMES: Readonly<Record<OAuthProvider, string>> = {
  google: 'Google',
  yandex: 'Yandex',
  discord: 'Discord',
  vk: 'VK',
};

/** Who the provider says has signed in. */
export interface OAuthIdentity {
  /** The provider's own id of the account, 1 to 255 characters; of VK a whole number. */
  providerId: string;
  /** In lower case; null when the provider gave none that can be one. */
  email: string | null;
  /** The provider has made sure that the address is this account's. */
  emailVerified: boolean;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
}

/** What must be kept between start and callback, never shown to the browser. */
export interface OAuthSecrets {
  /** PKCE. */
  codeVerifier?: string;
  /** Comes back in the OpenID Connect token. */
  nonce?: string;
}

/** What the provider's page sent the browser back with. */
export interface OAuthCallback {
  code: string;
  state: string;
  /** VK only. */
  deviceId: string | null;
}

export function isOAuthProvider(value: unknown): value is OAuthProvider {
  return OAUTH_PROVIDERS.some((provider) => provider === value);
}
