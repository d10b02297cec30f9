import { tooManyRequests } from '../../core/rate-limit.ts';
import { AUTO_LOGIN_REFUSES, signInWithAutoLogin } from '../../domain/identity/auto-login/auto-login.ts';
import { BEGIN_REFUSES, POLL_REFUSES, pollDeepLink, requestDeepLink } from '../../domain/identity/deeplink-sign-in.ts';
import { userNotActive } from '../../domain/identity/errors.ts';
import {
  ID_TOKEN_REFUSES,
  INIT_DATA_REFUSES,
  signInWithIdToken,
  signInWithInitData,
  signInWithWidget,
  widgetDataInvalid,
} from '../../domain/identity/messenger-sign-in.ts';
import { router, SIGN_IN_GUARD } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import * as schemas from './auth.schemas.ts';
import { answerSignIn } from './campaign-bonus.ts';
import { limitedProcedure, limitedUnlessByToken } from './limited-procedure.ts';

const tags: [string] = ['Cabinet Auth'];
const post = <P extends string>(path: P, summary: string, description: string) => ({
  openapi: { method: 'POST' as const, path: `/cabinet/auth/${path}` as const, tags, summary },
  description,
});

/** Sign-ins by data that the messenger signed (spec 01 section 5.1). */
export const messengerSignIn = {
  messenger: limitedUnlessByToken('messenger', 10)
    .meta({
      ...SIGN_IN_GUARD,
      ...post(
        'messenger',
        "Sign in with the messenger mini-app's signed data",
        'Signs in with the launch data of the mini-app, at most 30 days old; an unknown user is created. Name and user name are refreshed. A referral code counts for a new user only; a campaign gives its bonus once per account. With a valid API token in `X-API-Key`, as a bot sends it, the attempts of the address are not limited.',
      ),
      refuses: [...INIT_DATA_REFUSES, tooManyRequests],
    })
    .input(fromWire(schemas.MessengerAuthRequest))
    .output(toWire(schemas.AuthResponse))
    .mutation(async ({ ctx, input }) => {
      const request = { initData: input.initData, referralCode: input.referralCode ?? null };
      return answerSignIn(ctx.app, await signInWithInitData(ctx.app, request), input);
    }),

  messengerWidget: limitedProcedure('messenger/widget', 10)
    .meta({
      ...SIGN_IN_GUARD,
      ...post(
        'messenger/widget',
        "Sign in with the messenger's login widget",
        'Signs in with the data of the login widget; an unknown user is created. Otherwise like the sign-in with launch data.',
      ),
      refuses: [widgetDataInvalid, userNotActive, tooManyRequests],
    })
    .input(schemas.MessengerWidgetAuthRequest)
    .output(toWire(schemas.AuthResponse))
    .mutation(async ({ ctx, input }) => {
      // The widget's fields keep their names, because the signature covers the names.
      const { campaign_slug, referral_code, rotate_refresh_token: rotateRefreshToken, ...data } = input;
      const signIn = await signInWithWidget(ctx.app, data, referral_code ?? null);
      return answerSignIn(ctx.app, signIn, { campaignSlug: campaign_slug, referralCode: referral_code, rotateRefreshToken });
    }),

  messengerOidc: limitedProcedure('messenger/oidc', 10)
    .meta({
      ...SIGN_IN_GUARD,
      ...post(
        'messenger/oidc',
        "Sign in with the messenger's OpenID Connect token",
        'Signs in with an OpenID Connect token of the messenger; an unknown user is created. A token is accepted once.',
      ),
      refuses: [...ID_TOKEN_REFUSES, userNotActive, tooManyRequests],
    })
    .input(fromWire(schemas.MessengerOIDCAuthRequest))
    .output(toWire(schemas.AuthResponse))
    .mutation(async ({ ctx, input }) => {
      const signIn = await signInWithIdToken(ctx.app, input.idToken, input.referralCode ?? null);
      return answerSignIn(ctx.app, signIn, input);
    }),
};

/** Sign-in by the link that a purchase shows to its new buyer (spec 01 section 5.3). */
export const linkTokenSignIn = {
  autoLogin: limitedProcedure('login/auto', 5)
    .meta({
      ...SIGN_IN_GUARD,
      ...post(
        'login/auto',
        'Sign in with the one-time token of a purchase',
        'Signs in with the token that a purchase on a sales page returned. The token works once.',
      ),
      refuses: [...AUTO_LOGIN_REFUSES, tooManyRequests],
    })
    .input(fromWire(schemas.AutoLoginRequest))
    .output(toWire(schemas.AuthResponse))
    .mutation(async ({ ctx, input }) => answerSignIn(ctx.app, await signInWithAutoLogin(ctx.app, input.token), input)),
};

/** A sign-in that is confirmed in the messenger's bot (spec 01 section 5.4). */
export const deepLinkRouter = router({
  request: limitedProcedure('deeplink/request', 10)
    .meta({
      ...post(
        'deeplink/request',
        'Begin a sign-in that is confirmed in the bot',
        'Begins a sign-in in a browser that the user confirms in the bot. Show the bot link with the token, then poll the outcome.',
      ),
      refuses: [...BEGIN_REFUSES, tooManyRequests],
    })
    .output(toWire(schemas.DeepLinkTokenResponse))
    .mutation(({ ctx }) => requestDeepLink(ctx.app, { ip: ctx.ip, device: ctx.userAgent })),

  poll: limitedProcedure('deeplink/poll', 60)
    .meta({
      ...SIGN_IN_GUARD,
      ...post(
        'deeplink/poll',
        'Ask whether the sign-in was confirmed; 202 while it was not',
        'Returns the outcome of a sign-in through the bot: 202 until the user confirms it, then the session, once; 410 when the token has expired or was used.',
      ),
      refuses: [...POLL_REFUSES, tooManyRequests],
    })
    .input(fromWire(schemas.DeepLinkPollRequest))
    .output(toWire(schemas.AuthResponse))
    .mutation(async ({ ctx, input }) => answerSignIn(ctx.app, await pollDeepLink(ctx.app, input.token), input)),
});
