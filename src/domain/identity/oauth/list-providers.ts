import type { App } from '../../../core/app.ts';
import { OAUTH_PROVIDERS, type OAuthProvider, PROVIDER_NAMES } from './types.ts';

/** Providers that are enabled for sign-in, in the order of the interface (spec 01 section 6). */
export function listOAuthProviders(app: App): { name: OAuthProvider; displayName: string }[] {
  return OAUTH_PROVIDERS.filter((name) => app.ports.oauth.isEnabled(name)).map((name) => ({
    name,
    displayName: PROVIDER_NAMES[name],
  }));
}
