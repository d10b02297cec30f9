/** OAuth providers, in the order of the interface (spec 01 section 6). */
export const OAUTH_PROVIDERS = ['google', 'yandex', 'discord', 'vk'] as const;

export type OAuthProvider = (typeof OAUTH_PROVIDERS)[number];

/** Display names. */
export const PROVIDER_NAMES: Readonly<Record<OAuthProvider, string>> = {
  google: 'Google',
  yandex: 'Yandex',
  discord: 'Discord',
  vk: 'VK',
};

/** The user's identity at the provider. */
export interface OAuthIdentity {
  /** The provider's id of the account, 1 to 255 characters; of VK an integer. */
  providerId: string;
  /** In lower case; null when the provider gave no valid one. */
  email: string | null;
  /** The provider has verified the address. */
  emailVerified: boolean;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
}

/** Stored between start and callback, never sent to the browser. */
export interface OAuthSecrets {
  /** PKCE. */
  codeVerifier?: string;
  /** Must be repeated in the OpenID Connect token. */
  nonce?: string;
}

/** Parameters of the redirect from the provider's page. */
export interface OAuthCallback {
  code: string;
  state: string;
  /** VK only. */
  deviceId: string | null;
}

export function isOAuthProvider(value: unknown): value is OAuthProvider {
  return OAUTH_PROVIDERS.some((provider) => provider === value);
}
