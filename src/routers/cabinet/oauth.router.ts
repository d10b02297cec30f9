import { ValidationError } from '../../core/errors.ts';
import { urlSafeToken } from '../../core/random.ts';
import { expectedValues, validationIssue } from '../../core/validation-messages.ts';
import { listOAuthProviders } from '../../domain/identity/oauth/list-providers.ts';
import { signInWithProvider } from '../../domain/identity/oauth/sign-in-with-provider.ts';
import { beginOAuth } from '../../domain/identity/oauth/state.ts';
import { isOAuthProvider, OAUTH_PROVIDERS, type OAuthProvider } from '../../domain/identity/oauth/types.ts';
import type { Context } from '../context.ts';
import { publicProcedure, router } from '../trpc.ts';
import { AuthResponse } from './auth.schemas.ts';
import { answerSignIn } from './campaign-bonus.ts';
import * as schemas from './oauth.schemas.ts';

const tags: [string] = ['Cabinet OAuth'];
/** Holds a secret that a sign-in under way is bound to (spec 01 H19). */
const COOKIE = 'oauth_browser';
const COOKIE_BYTES = 32;
const COOKIE_SECONDS = 600;

/** A browser that began a sign-in a moment ago keeps its secret, so that two tabs do not shut each other out. */
async function start(ctx: Context, provider: OAuthProvider) {
  const browserSecret = ctx.browser.readCookie(COOKIE) ?? urlSafeToken(ctx.app.random, COOKIE_BYTES);
  const { authorizeUrl, state } = await beginOAuth(ctx.app, provider, { browserSecret });
  ctx.browser.setCookie(COOKIE, browserSecret, COOKIE_SECONDS);
  return { authorize_url: authorizeUrl, state };
}

function knownProvider(name: string): OAuthProvider {
  if (isOAuthProvider(name)) return name;
  const expected = expectedValues(OAUTH_PROVIDERS);
  throw new ValidationError([validationIssue('enum', ['path', 'provider'], name, { expected })]);
}

export const oauthRouter = router({
  providers: publicProcedure('cabinet')
    .meta({ openapi: { method: 'GET', path: '/cabinet/auth/oauth/providers', tags, summary: 'Providers to sign in with' } })
    .output(schemas.OAuthProvidersResponse)
    .query(({ ctx }) => ({
      providers: listOAuthProviders(ctx.app).map(({ name, displayName }) => ({ name, display_name: displayName })),
    })),

  authorize: publicProcedure('cabinet')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/auth/oauth/{provider}/authorize',
        tags,
        summary: 'Begin a sign-in over a provider',
      },
    })
    .input(schemas.OAuthProviderPath)
    .output(schemas.OAuthAuthorizeResponse)
    .query(({ ctx, input }) => start(ctx, input.provider)),

  start: publicProcedure('cabinet')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/auth/oauth/{provider}', tags, summary: 'Begin a sign-in over a provider' },
    })
    .input(schemas.OAuthStartPath)
    .output(schemas.OAuthStartAnswer)
    .query(({ ctx, input }) => start(ctx, knownProvider(input.provider))),

  callback: publicProcedure('cabinet')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/auth/oauth/{provider}/callback',
        tags,
        summary: 'End a sign-in over a provider',
      },
    })
    .input(schemas.OAuthProviderPath.extend(schemas.OAuthCallbackRequest.shape))
    .output(AuthResponse)
    .mutation(async ({ ctx, input }) => {
      const { code, state, device_id, referral_code } = input;
      const browser = { secret: ctx.browser.readCookie(COOKIE), isSameOrigin: ctx.browser.isSameOrigin };
      const callback = { code, state, deviceId: device_id ?? null, referralCode: referral_code ?? null, browser };
      return answerSignIn(ctx.app, await signInWithProvider(ctx.app, input.provider, callback), input);
    }),
});
