import type { OAuthCallback, OAuthIdentity, OAuthProvider, OAuthSecrets } from './types.ts';

/** A failed call to a provider, with the step that failed. Contains no secret. */
export class OAuthError extends Error {
  readonly step: 'exchange' | 'user_info';

  constructor(step: 'exchange' | 'user_info', message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'OAuthError';
    this.step = step;
  }
}

/** The OAuth providers (spec 01 section 3). Outside calls: never in a transaction. */
export interface OAuthPort {
  /** Enabled and configured. */
  isEnabled(provider: OAuthProvider): boolean;
  /**
   * Address of the provider's sign-in page for one state. No outside call.
   * @param newSecret makes a url-safe text of as many random bytes
   */
  begin(
    provider: OAuthProvider,
    state: string,
    newSecret: (bytes: number) => string,
  ): Promise<{ authorizeUrl: string; secrets: OAuthSecrets }>;
  /** Exchanges the code for a token and reads the user's identity. @throws OAuthError */
  fetchIdentity(provider: OAuthProvider, callback: OAuthCallback, secrets: OAuthSecrets): Promise<OAuthIdentity>;
}

declare module '../../../core/app.ts' {
  interface Ports {
    oauth: OAuthPort;
  }
}
