import { z } from 'zod';
import { PROOF_REFUSES, proveAgain, readFreshSignIn } from '../../domain/identity/sessions/fresh-sign-in.ts';
import { INIT_DATA_EXAMPLE, Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { AuthenticatorCode, PasskeyAnswer, RecoveryCode } from './factor-forms.schemas.ts';
import { limitByAddress } from './limited-procedure.ts';

/** Not in the contract: proves in a session that began long ago who the user is (spec 01 section 4.6). */

const FreshSignInResponse = z
  .object({
    is_required: z
      .boolean()
      .describe('Whether an administrator needs a recent proof for what cannot be undone: `FRESH_SIGN_IN_MINUTES` is not 0.'),
    fresh_until: Timestamp.nullable().describe(
      'Until when (UTC) the proof of this access token is recent enough; null where it is not, or none is required.',
    ),
    methods: z
      .enum(['password', 'messenger', 'totp', 'passkey', 'recovery_code'])
      .array()
      .describe(
        'How this user can prove it in the session: who has a second factor, by that only. Where none is listed, another sign-in is the way.',
      ),
  })
  .meta({ id: 'FreshSignInResponse' });

const FreshSignInRequest = z
  .object({
    password: z.string().max(128).nullish().describe('Password of the account. Null when another form is used.'),
    init_data: z
      .string()
      .max(4096)
      .nullish()
      .describe(
        'Launch data of the mini-app, signed within the last `FRESH_SIGN_IN_MINUTES` (10 minutes where that is 0). Null when another form is used.',
      ),
    code: AuthenticatorCode.nullish().describe('Six digits of the authenticator app. Null when another form is used.'),
    recovery_code: RecoveryCode.nullish().describe('A recovery code. Null when another form is used.'),
    passkey: PasskeyAnswer.nullish().describe(
      '`toJSON()` of what `navigator.credentials.get` returned for the options of `POST /cabinet/auth/second-factor/challenge`. Null when another form is used.',
    ),
  })
  .superRefine((forms, ctx) => {
    if (Object.values(forms).filter((form) => form != null).length !== 1)
      ctx.addIssue({ code: 'custom', message: 'Provide exactly one of password, init_data, code, recovery_code and passkey' });
  })
  .meta({ id: 'FreshSignInRequest', example: { init_data: INIT_DATA_EXAMPLE } });

const FreshTokenResponse = z
  .object({
    access_token: z
      .string()
      .describe('Access token (JWT) of the same session, with the time of the proof. The refresh token stays the same.'),
    expires_in: z.int().describe('Seconds until the access token expires.'),
  })
  .meta({ id: 'FreshTokenResponse' });

const tags: [string] = ['Cabinet Fresh Sign-in'];
const path = '/cabinet/auth/fresh-sign-in';

export const freshSignInRouter = router({
  status: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path, tags, summary: 'Is the last proof of the session recent enough?' },
      description:
        'Returns whether administrators need a recent proof of who they are for what cannot be undone, until when the one of this access token counts, and how it can be given again.',
    })
    .output(toWire(FreshSignInResponse))
    .query(({ ctx }) => readFreshSignIn(ctx.app, ctx.actor)),

  prove: cabinetProcedure
    .use(async ({ ctx, next }) => {
      await limitByAddress(ctx, 'fresh-sign-in', 10);
      return next();
    })
    .meta({
      openapi: { method: 'POST', path, tags, summary: 'Prove again who you are' },
      description:
        'Proves in the session who the user is: by the second factor where he has one, else by the password or by recent launch data of the mini-app. Answers an access token with which operations that need it are accepted; send them again with it. At most 10 attempts of an account in 15 minutes.',
      refuses: PROOF_REFUSES,
    })
    .input(FreshSignInRequest)
    .output(toWire(FreshTokenResponse))
    .mutation(({ ctx, input: { init_data: initData, recovery_code: recoveryCode, ...forms } }) =>
      proveAgain(ctx.app, ctx.actor, { ...forms, initData, recoveryCode }),
    ),
});
