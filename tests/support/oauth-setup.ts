import type { App } from '../../src/core/app.ts';
import { createHttpClient } from '../../src/core/http/outbound.ts';
import { beginOAuth, signInWithProvider } from '../../src/domain/identity/oauth/sign-in-with-provider.ts';
import type { OAuthProvider } from '../../src/domain/identity/oauth/types.ts';
import { createOAuthPort } from '../../src/integrations/oauth/oauth-port.ts';
import { CLIENT_ID, CLIENT_SECRET, type IssuerAccount, type OAuthIssuer, REDIRECT_URI } from '../fakes/oauth-issuer.ts';
import { unique } from './builders.ts';

/** Providers that are switched off; tests put names in and take them out. */
export const switchedOff = new Set<OAuthProvider>();

/** The real adapter on the fake providers. */
export function issuerPort(issuer: OAuthIssuer) {
  const http = createHttpClient({ system: 'oauth_test', retries: 0, breakerThreshold: 0 });
  return createOAuthPort({
    http: () => http,
    endpoints: issuer.endpoints,
    connection: (provider) => ({
      enabled: !switchedOff.has(provider),
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      redirectUri: REDIRECT_URI,
    }),
  });
}

export function withIssuer(app: App, issuer: OAuthIssuer): App {
  return { ...app, ports: { ...app.ports, oauth: issuerPort(issuer) } };
}

export const BROWSER = 'a-secret-of-this-browser';

/** Somebody with an account at a provider; the id is new. */
export function someone(fields: Partial<IssuerAccount> = {}): IssuerAccount {
  return { id: String(8_000_000_000 + unique()), username: 'ann', firstName: 'Ann', lastName: 'Lee', ...fields };
}

/** The whole way of a sign-in in one browser. */
export async function signInOver(
  app: App,
  issuer: OAuthIssuer,
  provider: OAuthProvider,
  account: IssuerAccount,
  referralCode: string | null = null,
) {
  const { authorizeUrl } = await beginOAuth(app, provider, { browserSecret: BROWSER });
  const callback = await issuer.approve(authorizeUrl, account);
  return signInWithProvider(app, provider, { ...callback, referralCode, browser: { secret: BROWSER, isSameOrigin: true } });
}
