import { tooManyRequests } from '../../core/rate-limit.ts';
import { isAdmin, readMyAccess } from '../../domain/identity/authenticate.ts';
import {
  cancelEmailChange,
  confirmEmailChange,
  EMAIL_CHANGE_REFUSES,
  EMAIL_CODE_REFUSES,
  EMAIL_LINK_REFUSES,
  linkEmail,
  noPendingChange,
  RESEND_REFUSES,
  readEmailChange,
  requestEmailChange,
  resendVerification,
  VERIFICATION_REFUSES,
  verifyEmail,
} from '../../domain/identity/email/email-address.ts';
import {
  PASSWORD_SIGN_IN_REFUSES,
  RESET_REFUSES,
  requestPasswordReset,
  resetPassword,
  signInWithPassword,
} from '../../domain/identity/email/password.ts';
import { REGISTRATION_REFUSES, registerAccount } from '../../domain/identity/email/register-account.ts';
import { requireUser } from '../../domain/identity/find-user.ts';
import {
  closeSession,
  refreshSession,
  refreshTokenInvalid,
  refreshTokenReused,
  refreshTokenRevoked,
} from '../../domain/identity/sessions/sessions.ts';
import { registerReferralAtSignIn } from '../../domain/referrals/register-referral.ts';
import { cabinetProcedure, freshCabinetProcedure, publicProcedure, router, SIGN_IN_GUARD } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import * as schemas from './auth.schemas.ts';
import { deepLinkRouter, linkTokenSignIn, messengerSignIn } from './auth-messenger.router.ts';
import { userAnswer } from './auth-response.ts';
import { answerSignIn } from './campaign-bonus.ts';
import { limitedProcedure } from './limited-procedure.ts';

const tags: [string] = ['Cabinet Auth'];
const post = <P extends string>(path: P, summary: string, description: string) => ({
  openapi: { method: 'POST' as const, path: `/cabinet/auth/${path}` as const, tags, summary },
  description,
});
const get = <P extends string>(path: P, summary: string, description: string) => ({
  openapi: { method: 'GET' as const, path: `/cabinet/auth/${path}` as const, tags, summary },
  description,
});

const emailChangeRouter = router({
  request: freshCabinetProcedure
    .meta({
      ...post(
        'email/change',
        'Change the own e-mail',
        'Changes the own address. A verified address stays until the code that is mailed to the new one is entered; an unverified address is replaced at once and a verification link is mailed.',
      ),
      refuses: EMAIL_CHANGE_REFUSES,
    })
    .input(fromWire(schemas.EmailChangeRequest))
    .output(toWire(schemas.EmailChangeResponse))
    .mutation(async ({ ctx, input }) => {
      const change = await requestEmailChange(ctx.app, ctx.actor, input);
      const message = change.isReplaced
        ? 'Email replaced, verification sent to new address'
        : 'Verification code sent to new email';
      return { message, newEmail: change.newEmail, expiresInMinutes: change.expiresInMinutes };
    }),

  verify: cabinetProcedure
    .meta({
      ...post(
        'email/change/verify',
        'Enter the code that was mailed to the new e-mail',
        'Completes the change of the own address by the mailed code.',
      ),
      refuses: EMAIL_CODE_REFUSES,
    })
    .input(fromWire(schemas.EmailChangeVerifyRequest))
    .output(toWire(schemas.EmailChangedAnswer))
    .mutation(async ({ ctx, input }) => {
      const newEmail = await confirmEmailChange(ctx.app, ctx.actor, input.code);
      return { message: 'Email changed successfully', newEmail };
    }),

  cancel: cabinetProcedure
    .meta({
      ...post('email/change/cancel', 'Drop a pending change of the e-mail', 'Cancels the pending change of the own address.'),
      refuses: [noPendingChange],
    })
    .output(toWire(schemas.MessageAnswer))
    .mutation(async ({ ctx }) => {
      await cancelEmailChange(ctx.app, ctx.actor);
      return { message: 'Email change cancelled' };
    }),

  status: cabinetProcedure
    .meta(get('email/change/status', 'Pending change of the e-mail', 'Returns whether a change of the own address is pending.'))
    .output(toWire(schemas.EmailChangeStatusAnswer))
    .query(async ({ ctx }) => {
      const change = await readEmailChange(ctx.app, ctx.actor);
      return { pending: change !== null, newEmail: change?.newEmail ?? null, expiresAt: change?.expiresAt ?? null };
    }),
});

const emailRouter = router({
  register: freshCabinetProcedure
    .meta({
      ...post(
        'email/register',
        'Link an e-mail and a password to the own account',
        'Links an e-mail address and a password to the own account. A verification link is mailed, unless verification is switched off.',
      ),
      refuses: EMAIL_LINK_REFUSES,
    })
    .input(fromWire(schemas.EmailRegisterRequest))
    .output(toWire(schemas.EmailLinkedAnswer))
    .mutation(async ({ ctx, input }) => {
      const { email, requiresVerification } = await linkEmail(ctx.app, ctx.actor, input);
      return { message: requiresVerification ? 'Verification email sent' : 'Email linked successfully', email };
    }),

  registerStandalone: limitedProcedure('email/register/standalone', 5)
    .meta({
      ...post(
        'email/register/standalone',
        'Create an account with e-mail and password',
        'Creates an account with e-mail address and password and mails a verification link. No session is created: the user signs in afterwards. Emits `user.created`.',
      ),
      refuses: [...REGISTRATION_REFUSES, tooManyRequests],
    })
    .input(fromWire(schemas.EmailRegisterStandaloneRequest))
    .output(toWire(schemas.RegisterResponse))
    .mutation(async ({ ctx, input }) => {
      const { userId, ...registered } = await registerAccount(ctx.app, input);
      if (input.referralCode) await registerReferralAtSignIn(ctx.app, userId, input.referralCode);
      return { message: 'Verification email sent. Please check your inbox.', ...registered };
    }),

  verify: limitedProcedure('email/verify', 10)
    .meta({
      ...SIGN_IN_GUARD,
      ...post(
        'email/verify',
        'Verify an e-mail by the link that was mailed, and sign in',
        'Verifies an address by the mailed token and signs in. If the panel has a subscription for the address, it is imported.',
      ),
      refuses: [...VERIFICATION_REFUSES, tooManyRequests],
    })
    .input(fromWire(schemas.EmailVerifyRequest))
    .output(toWire(schemas.AuthResponse))
    .mutation(async ({ ctx, input }) => answerSignIn(ctx.app, await verifyEmail(ctx.app, input.token), input)),

  resend: cabinetProcedure
    .meta({
      ...post(
        'email/resend',
        'Mail a new verification link',
        'Mails a new verification link to the own address; the old one stops working.',
      ),
      refuses: RESEND_REFUSES,
    })
    .output(toWire(schemas.MessageAnswer))
    .mutation(async ({ ctx }) => {
      await resendVerification(ctx.app, ctx.actor);
      return { message: 'Verification email sent' };
    }),

  login: limitedProcedure('email/login', 10)
    .meta({
      ...SIGN_IN_GUARD,
      ...post(
        'email/login',
        'Sign in with e-mail and password',
        'Signs in with e-mail address and password. The answers for an unknown address and a wrong password are the same.',
      ),
      refuses: [...PASSWORD_SIGN_IN_REFUSES, tooManyRequests],
    })
    .input(fromWire(schemas.EmailLoginRequest))
    .output(toWire(schemas.AuthResponse))
    .mutation(async ({ ctx, input }) => answerSignIn(ctx.app, await signInWithPassword(ctx.app, input), input)),

  change: emailChangeRouter,
});

const passwordRouter = router({
  forgot: limitedProcedure('password/forgot', 3)
    .meta({
      ...post(
        'password/forgot',
        'Ask for a link to set a new password',
        'Mails a link to set a new password, if an account has the address. The answer is the same for every address.',
      ),
      refuses: [tooManyRequests],
    })
    .input(fromWire(schemas.PasswordForgotRequest))
    .output(toWire(schemas.MessageAnswer))
    .mutation(async ({ ctx, input }) => {
      await requestPasswordReset(ctx.app, input.email);
      return { message: 'If the email exists, a password reset link has been sent' };
    }),

  reset: limitedProcedure('password/reset', 5)
    .meta({
      ...post(
        'password/reset',
        'Set a new password by the link that was mailed',
        'Sets a new password by the mailed token, which also verifies the address. All sessions of the account end.',
      ),
      refuses: [...RESET_REFUSES, tooManyRequests],
    })
    .input(fromWire(schemas.PasswordResetRequest))
    .output(toWire(schemas.MessageAnswer))
    .mutation(async ({ ctx, input }) => {
      await resetPassword(ctx.app, input);
      return { message: 'Password reset successfully' };
    }),
});

export const cabinetAuthRouter = router({
  ...messengerSignIn,
  ...linkTokenSignIn,
  deepLink: deepLinkRouter,

  refresh: publicProcedure('cabinet')
    .meta({
      ...post(
        'refresh',
        'Exchange a refresh token for new tokens',
        'Answers a new access token for a refresh token, and the same refresh token, which stays valid for its whole life. Where the sign-in asked for `rotate_refresh_token`, the refresh token is a new one: the old one works for a minute more, for parallel tabs; its use after that ends the session and all its tokens.',
      ),
      refuses: [refreshTokenInvalid, refreshTokenReused, refreshTokenRevoked],
    })
    .input(fromWire(schemas.RefreshTokenRequest))
    .output(toWire(schemas.CabinetAuthTokenResponse))
    .mutation(({ ctx, input }) => refreshSession(ctx.app, input.refreshToken)),

  logout: publicProcedure('cabinet')
    .meta(
      post(
        'logout',
        'End a session by its refresh token',
        'Ends the session of a refresh token. The answer for an unknown token is the same.',
      ),
    )
    .input(fromWire(schemas.RefreshTokenRequest))
    .output(toWire(schemas.MessageAnswer))
    .mutation(async ({ ctx, input }) => {
      await closeSession(ctx.app, input.refreshToken);
      return { message: 'Logged out successfully' };
    }),

  me: cabinetProcedure
    .meta(get('me', 'The signed-in user', 'Returns the signed-in user.'))
    .output(toWire(schemas.CabinetAuthUserResponse))
    .query(async ({ ctx }) => userAnswer(await requireUser(ctx.app, ctx.actor.userId))),

  permissions: cabinetProcedure
    .meta(
      get(
        'me/permissions',
        'What the signed-in user may do as an administrator',
        'Returns roles and permissions of the signed-in user, empty for a user who is no administrator.',
      ),
    )
    .output(toWire(schemas.MyPermissionsAnswer))
    .query(async ({ ctx }) => {
      const { permissions, roles, level } = await readMyAccess(ctx.app, ctx.actor);
      return { permissions, roles, roleLevel: level };
    }),

  isAdmin: cabinetProcedure
    .meta(
      get(
        'me/is-admin',
        'Is the signed-in user an administrator?',
        'Returns whether the signed-in user is an administrator by configuration or by a role.',
      ),
    )
    .output(toWire(schemas.IsAdminAnswer))
    .query(async ({ ctx }) => ({ isAdmin: await isAdmin(ctx.app, ctx.actor) })),

  email: emailRouter,
  password: passwordRouter,
});
