import { z } from 'zod';
import { tooManyRequests } from '../../core/rate-limit.ts';
import { userNotActive } from '../../domain/identity/errors.ts';
import {
  addPasskey,
  beginPasskey,
  beginTotp,
  confirmTotp,
  ENROL_REFUSES,
  factorNotFound,
  nameFactor,
  noFactorYet,
  passkeyInvalid,
  passkeyTaken,
  readFactors,
  readSessionChallenge,
  removeFactor,
  renewRecoveryCodes,
} from '../../domain/identity/second-factor/account-factors.ts';
import { factorInvalid } from '../../domain/identity/second-factor/show-factor.ts';
import { completeSignIn, readSignInChallenge, ticketInvalid } from '../../domain/identity/second-factor/sign-in.ts';
import { freshSignInRequired } from '../../domain/identity/sessions/fresh-sign-in.ts';
import { Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { AuthResponse, MessageAnswer, RotateRefreshToken } from './auth.schemas.ts';
import { answerSignIn } from './campaign-bonus.ts';
import { AuthenticatorCode, PasskeyAnswer, RecoveryCode } from './factor-forms.schemas.ts';
import { limitedProcedure } from './limited-procedure.ts';

/** Not in the contract: second factors of accounts (spec 01 section 4.7). */

const TICKET_EXAMPLE = 'Zx0pQ3mB9cTq7Lw2Vn5Rk8Ys1Hd4Jf6GaEuPoIiCvXz';
const PASSKEY_EXAMPLE = { id: 'q2vXcM3d', response: { clientDataJSON: 'eyJ0eXAi', attestationObject: 'o2NmbXRk' } };

const FactorName = z.string().trim().min(1).max(64);

const SecondFactor = z
  .object({
    id: z.int().describe('Id of the second factor.'),
    kind: z.enum(['passkey', 'totp']).describe('`passkey` (WebAuthn) or `totp`, an authenticator app.'),
    name: z.string().describe('Name that its owner gave it.'),
    created_at: Timestamp.describe('When it was added (UTC).'),
    last_used_at: Timestamp.nullable().describe('When it was shown last (UTC); null when it never was.'),
  })
  .meta({ id: 'SecondFactor' });

const SecondFactorsResponse = z
  .object({
    is_available: z.boolean().describe('Whether this account may add a second factor: `SECOND_FACTOR_FOR`.'),
    is_demanded: z.boolean().describe('Whether a role of the user demands one: without it the role gives nothing.'),
    is_shown: z.boolean().describe('Whether one was shown in this session.'),
    factors: SecondFactor.array().describe('The second factors, oldest first.'),
    recovery_codes_left: z.int().describe('Number of recovery codes that were not used.'),
  })
  .meta({ id: 'SecondFactorsResponse' });

const TotpBeginRequest = z
  .object({ name: FactorName.describe('Name for it, such as the device, 1 to 64 characters.') })
  .meta({ id: 'TotpBeginRequest', example: { name: 'Phone' } });

const TotpBeginResponse = z
  .object({
    secret: z.string().describe('Secret for the authenticator app (base32), shown this once.'),
    uri: z.string().describe('The same as an `otpauth://` address, to be shown as a QR code.'),
  })
  .meta({ id: 'TotpBeginResponse' });

const TotpConfirmRequest = z
  .object({ code: AuthenticatorCode.describe('Six digits that the authenticator app shows.') })
  .meta({ id: 'TotpConfirmRequest', example: { code: '492039' } });

const FactorAddedResponse = z
  .object({
    factor: SecondFactor.describe('The new second factor.'),
    recovery_codes: z
      .string()
      .array()
      .nullable()
      .describe(
        'Codes for the case that every factor is lost, each for one use, shown this once; null unless it is the first factor.',
      ),
    access_token: z.string().describe('Access token (JWT) of the same session, in which the factor counts as shown.'),
    expires_in: z.int().describe('Seconds until the access token expires.'),
  })
  .meta({ id: 'FactorAddedResponse' });

/** The forms of WebAuthn are those of the W3C, which browsers read as they are. */
const PasskeyOptions = z
  .looseObject({ challenge: z.string().describe('What is signed (base64url). It counts once, for five minutes.') })
  .meta({ id: 'PasskeyOptions' });

const PasskeyAddRequest = z
  .object({
    name: FactorName.describe('Name for it, such as the device, 1 to 64 characters.'),
    response: PasskeyAnswer.describe('`toJSON()` of what `navigator.credentials.create` returned.'),
  })
  .meta({ id: 'PasskeyAddRequest', example: { name: 'Key', response: PASSKEY_EXAMPLE } });

const FactorPath = z.object({ factor_id: z.int().min(1).max(2_147_483_647).describe('Id of the second factor.') });

const FactorRenameRequest = z
  .object({ name: FactorName.describe('New name, such as the device, 1 to 64 characters.') })
  .meta({ id: 'FactorRenameRequest', example: { name: 'Spare key' } });

const RecoveryCodesResponse = z
  .object({ recovery_codes: z.string().array().describe('The new codes, each for one use, shown this once.') })
  .meta({ id: 'RecoveryCodesResponse' });

const Ticket = z
  .string()
  .min(32)
  .max(64)
  .describe('`ticket` of the refusal `second_factor_required`; valid for 5 minutes, for one session.');

const SignInChallengeRequest = z
  .object({ ticket: Ticket })
  .meta({ id: 'SignInChallengeRequest', example: { ticket: TICKET_EXAMPLE } });

const SecondFactorSignInRequest = z
  .object({
    ticket: Ticket,
    code: AuthenticatorCode.nullish().describe('Six digits of the authenticator app. Null when another form is used.'),
    recovery_code: RecoveryCode.nullish().describe(
      'A recovery code; capitals, spaces and dashes do not matter. Null when another form is used.',
    ),
    passkey: PasskeyAnswer.nullish().describe(
      '`toJSON()` of what `navigator.credentials.get` returned. Null when another form is used.',
    ),
    campaign_slug: z
      .string()
      .nullish()
      .describe('Slug of the advertising campaign, as at the first part of the sign-in; null without one.'),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .superRefine(({ code, recovery_code, passkey }, ctx) => {
    if ([code, recovery_code, passkey].filter((form) => form != null).length !== 1)
      ctx.addIssue({ code: 'custom', message: 'Provide exactly one of code, recovery_code and passkey' });
  })
  .meta({ id: 'SecondFactorSignInRequest', example: { ticket: TICKET_EXAMPLE, code: '492039' } });

const tags: [string] = ['Cabinet Second Factor'];
const base = '/cabinet/auth/second-factor';

export const secondFactorRouter = router({
  list: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'Own second factors' },
      description: 'Lists the second factors of the account, with what is asked of its user.',
    })
    .output(toWire(SecondFactorsResponse))
    .query(({ ctx }) => readFactors(ctx.app, ctx.actor)),

  beginTotp: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/totp`, tags, summary: 'Begin to add an authenticator app' },
      description:
        'Makes a secret for an authenticator app. It counts once a code of it was entered; another beginning replaces it. Needs a proof of who the user is that is at most 10 minutes old, or `FRESH_SIGN_IN_MINUTES`.',
      refuses: ENROL_REFUSES,
    })
    .input(fromWire(TotpBeginRequest))
    .output(toWire(TotpBeginResponse))
    .mutation(({ ctx, input }) => beginTotp(ctx.app, ctx.actor, input.name)),

  confirmTotp: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/totp/confirm`, tags, summary: 'Add the authenticator app by a code of it' },
      description:
        'Adds the authenticator app that was begun. With the first factor come recovery codes, and all other sessions of the user end. The user is notified.',
      refuses: [...ENROL_REFUSES, factorInvalid],
    })
    .input(fromWire(TotpConfirmRequest))
    .output(toWire(FactorAddedResponse))
    .mutation(({ ctx, input }) => confirmTotp(ctx.app, ctx.actor, input.code)),

  beginPasskey: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/passkeys/options`, tags, summary: 'Begin to add a passkey' },
      description:
        'Answers what `navigator.credentials.create` needs (`PublicKeyCredential.parseCreationOptionsFromJSON`). Needs a recent proof, as an authenticator app.',
      refuses: ENROL_REFUSES,
    })
    .output(PasskeyOptions)
    .mutation(async ({ ctx }) => ({ ...(await beginPasskey(ctx.app, ctx.actor)) })),

  addPasskey: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/passkeys`, tags, summary: 'Add a passkey' },
      description:
        'Adds the passkey that the browser made. With the first factor come recovery codes, and all other sessions of the user end. The user is notified.',
      refuses: [...ENROL_REFUSES, passkeyInvalid, passkeyTaken],
    })
    .input(PasskeyAddRequest)
    .output(toWire(FactorAddedResponse))
    .mutation(({ ctx, input }) => addPasskey(ctx.app, ctx.actor, input)),

  rename: cabinetProcedure
    .meta({
      openapi: { method: 'PATCH', path: `${base}/{factor_id}`, tags, summary: 'Rename a second factor' },
      description:
        'Gives a second factor of the account another name. Needs a recent proof by a second factor. A repeat answers the same.',
      refuses: [freshSignInRequired, factorNotFound],
    })
    .input(fromWire(withBody(FactorPath, FactorRenameRequest)))
    .output(toWire(SecondFactor))
    .mutation(({ ctx, input }) => nameFactor(ctx.app, ctx.actor, input.factorId, input.name)),

  remove: cabinetProcedure
    .meta({
      openapi: { method: 'DELETE', path: `${base}/{factor_id}`, tags, summary: 'Remove a second factor' },
      description:
        'Removes a second factor of the account; with the last one its recovery codes. Needs a recent proof by a second factor. The user is notified.',
      refuses: [freshSignInRequired, factorNotFound],
    })
    .input(fromWire(FactorPath))
    .output(toWire(MessageAnswer))
    .mutation(async ({ ctx, input }) => {
      await removeFactor(ctx.app, ctx.actor, input.factorId);
      return { message: 'Second factor removed' };
    }),

  renewCodes: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/recovery-codes`, tags, summary: 'Make other recovery codes' },
      description:
        'Makes ten other recovery codes; those of before are void. Needs a recent proof by a second factor. The user is notified.',
      refuses: [freshSignInRequired, noFactorYet],
    })
    .output(toWire(RecoveryCodesResponse))
    .mutation(async ({ ctx }) => ({ recoveryCodes: await renewRecoveryCodes(ctx.app, ctx.actor) })),

  challenge: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/challenge`, tags, summary: 'What a passkey signs to prove again who you are' },
      description:
        'Answers what `navigator.credentials.get` needs (`PublicKeyCredential.parseRequestOptionsFromJSON`) for `POST /cabinet/auth/fresh-sign-in`.',
    })
    .output(PasskeyOptions)
    .mutation(async ({ ctx }) => ({ ...(await readSessionChallenge(ctx.app, ctx.actor)) })),

  signInChallenge: limitedProcedure('second-factor/challenge', 10)
    .meta({
      openapi: { method: 'POST', path: `${base}/sign-in/challenge`, tags, summary: 'What a passkey signs to complete a sign-in' },
      description:
        'Answers what `navigator.credentials.get` needs (`PublicKeyCredential.parseRequestOptionsFromJSON`). The ticket is the credential.',
      refuses: [ticketInvalid, tooManyRequests],
    })
    .input(fromWire(SignInChallengeRequest))
    .output(PasskeyOptions)
    .mutation(async ({ ctx, input }) => ({ ...(await readSignInChallenge(ctx.app, input.ticket)) })),

  signIn: limitedProcedure('second-factor/sign-in', 10)
    .meta({
      openapi: { method: 'POST', path: `${base}/sign-in`, tags, summary: 'Complete a sign-in by the second factor' },
      description:
        'Completes a sign-in that was refused with `second_factor_required`, by a code, a recovery code or a passkey. A code counts once. At most 10 attempts of an account in 15 minutes.',
      refuses: [ticketInvalid, factorInvalid, userNotActive, tooManyRequests],
    })
    .input(SecondFactorSignInRequest)
    .output(toWire(AuthResponse))
    .mutation(async ({ ctx, input }) => {
      const { ticket, code, recovery_code: recoveryCode, passkey } = input;
      const signIn = await completeSignIn(ctx.app, ticket, { code, recoveryCode, passkey });
      return answerSignIn(ctx.app, signIn, {
        campaignSlug: input.campaign_slug,
        rotateRefreshToken: input.rotate_refresh_token,
      });
    }),
});
