import { refusal } from '../../core/errors.ts';
import { urlSafeToken } from '../../core/random.ts';
import {
  beginOAuth,
  listOAuthProviders,
  PROVIDER_SIGN_IN_REFUSES,
  providerUnavailable,
  signInWithProvider,
} from '../../domain/identity/oauth/sign-in-with-provider.ts';
import { isOAuthProvider, type OAuthProvider } from '../../domain/identity/oauth/types.ts';
import type { Context } from '../context.ts';
import { publicProcedure, router, SIGN_IN_GUARD } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { AuthResponse } from './auth.schemas.ts';
import { answerSignIn } from './campaign-bonus.ts';
import * as schemas from './oauth.schemas.ts';

const oauthProviderNotFound = refusal('oauth_provider_not_found', 404, 'Not Found');

const tags: [string] = ['Cabinet OAuth'];
/** Contains the secret that an open sign-in is bound to (spec 01 H19). */
const COOKIE = 'oauth_browser';
const COOKIE_BYTES = 32;
const COOKIE_SECONDS = 600;

/** A browser with a pending sign-in keeps its secret, so that two tabs can sign in concurrently. */
async function start(ctx: Context, provider: OAuthProvider) {
  const browserSecret = ctx.browser.readCookie(COOKIE) ?? urlSafeToken(ctx.app.random, COOKIE_BYTES);
  const begun = await beginOAuth(ctx.app, provider, { browserSecret });
  ctx.browser.setCookie(COOKIE, browserSecret, COOKIE_SECONDS);
  return begun;
}

function knownProvider(name: string): OAuthProvider {
  if (isOAuthProvider(name)) return name;
  throw oauthProviderNotFound();
}

export const oauthRouter = router({
  providers: publicProcedure('cabinet')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/auth/oauth/providers', tags, summary: 'Providers to sign in with' },
      description: 'Lists the providers that are configured and switched on.',
    })
    .output(toWire(schemas.OAuthProvidersResponse))
    .query(({ ctx }) => ({ providers: listOAuthProviders(ctx.app) })),

  authorize: publicProcedure('cabinet')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/auth/oauth/{provider}/authorize',
        tags,
        summary: 'Begin a sign-in through a provider',
      },
      description: 'Begins a sign-in: returns the address to send the browser to and the state that belongs to it.',
      refuses: [providerUnavailable],
    })
    .input(fromWire(schemas.OAuthProviderPath))
    .output(toWire(schemas.OAuthAuthorizeResponse))
    .query(({ ctx, input }) => start(ctx, input.provider)),

  start: publicProcedure('cabinet')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/auth/oauth/{provider}', tags, summary: 'Begin a sign-in through a provider' },
      description: 'Another path of `GET /cabinet/auth/oauth/{provider}/authorize`, with the same answer.',
      refuses: [providerUnavailable, oauthProviderNotFound],
    })
    .input(fromWire(schemas.OAuthStartPath))
    .output(toWire(schemas.OAuthStartAnswer))
    .query(({ ctx, input }) => start(ctx, knownProvider(input.provider))),

  callback: publicProcedure('cabinet')
    .meta({
      ...SIGN_IN_GUARD,
      openapi: {
        method: 'POST',
        path: '/cabinet/auth/oauth/{provider}/callback',
        tags,
        summary: 'Complete a sign-in through a provider',
      },
      description:
        'Completes a sign-in with the code of the provider. The user is found by the id at the provider, else by an address that the provider has verified, else created. The state works once.',
      refuses: PROVIDER_SIGN_IN_REFUSES,
    })
    .input(fromWire(withBody(schemas.OAuthProviderPath, schemas.OAuthCallbackRequest)))
    .output(toWire(AuthResponse))
    .mutation(async ({ ctx, input }) => {
      const { code, state, deviceId = null, referralCode = null } = input;
      const browser = { secret: ctx.browser.readCookie(COOKIE), isSameOrigin: ctx.browser.isSameOrigin };
      const callback = { code, state, deviceId, referralCode, browser };
      return answerSignIn(ctx.app, await signInWithProvider(ctx.app, input.provider, callback), input);
    }),
});
