import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { OAuthError } from './ports.ts';
import { providerUnavailable } from './state.ts';
import type { OAuthCallback, OAuthIdentity, OAuthProvider, OAuthSecrets } from './types.ts';

const oauthExchangeFailed = refusal('oauth_exchange_failed', 400, 'Failed to exchange authorization code');
const oauthUserInfoFailed = refusal('oauth_user_info_failed', 400, 'Failed to fetch user information from provider');

/**
 * Exchanges the provider's code for the user's identity. An outside call: never in a transaction.
 * @throws AppError 400 not available | 'Failed to exchange authorization code' | 'Failed to fetch user information from provider'
 */
export async function fetchOAuthIdentity(
  app: App,
  provider: OAuthProvider,
  callback: OAuthCallback,
  secrets: OAuthSecrets,
): Promise<OAuthIdentity> {
  if (!app.ports.oauth.isEnabled(provider)) throw providerUnavailable();
  try {
    return await app.ports.oauth.fetchIdentity(provider, callback, secrets);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    app.log.warn({ provider, reason: error.message }, 'a sign-in through a provider failed');
    throw error.step === 'exchange' ? oauthExchangeFailed() : oauthUserInfoFailed();
  }
}
