import type { OAuthCallback, OAuthIdentity, OAuthProvider, OAuthSecrets } from './types.ts';

/** Where the way over a provider broke off. Carries no secret. */
export class OAuthError extends Error {
  readonly step: 'exchange' | 'user_info';

  constructor(step: 'exchange' | 'user_info', message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'OAuthError';
    this.step = step;
  }
}

/** The OAuth providers (spec 01 section 3). Calls go outside: never in a transaction. */
export interface OAuthPort {
  /** Switched on, and set up. */
  isEnabled(provider: OAuthProvider): boolean;
  /**
   * Address of the provider's sign-in page for one state. No outside call.
   * @param newSecret url-safe text of so many random bytes
   */
  begin(
    provider: OAuthProvider,
    state: string,
    newSecret: (bytes: number) => string,
  ): Promise<{ authorizeUrl: string; secrets: OAuthSecrets }>;
  /** Trades the code for a token and asks who signed in. @throws OAuthError */
  fetchIdentity(provider: OAuthProvider, callback: OAuthCallback, secrets: OAuthSecrets): Promise<OAuthIdentity>;
}

declare module '../../../core/app.ts' {
  interface Ports {
    oauth: OAuthPort;
  }
}
