import { z } from 'zod';
import { tooManyRequests } from '../../core/rate-limit.ts';
import { requestRotation } from '../../domain/identity/sessions/sessions.ts';
import {
  keptUserUnknown,
  mergeAccounts,
  mergeImpossible,
  mergeNeedsFactorRemoved,
  mergeTokenUnknown,
  mergeTokenUsed,
  mergeUsersUnknown,
  previewMerge,
} from '../../domain/merge/merge-accounts.ts';
import { Timestamp } from '../shared.schemas.ts';
import { publicProcedure, router, SIGN_IN_GUARD } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { CabinetAuthUserResponse, RotateRefreshToken } from './auth.schemas.ts';
import { userAnswer } from './auth-response.ts';
import { limitByAddress } from './limited-procedure.ts';

/** Contract group `Cabinet Account Merge`. */

const MergeToken = z.string().min(32).max(64);

const MergeTokenPath = z.object({
  merge_token: MergeToken.describe('Token of the merge, as linking returned it. It is the credential of the request.'),
});

const MergeRequest = z
  .object({
    keep_subscription_from: z
      .int()
      .describe('Internal id of the account, one of the two, whose subscription remains where both have one.'),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .meta({ id: 'MergeRequest' });

const MergeExecution = withBody(MergeTokenPath, MergeRequest);

const MergePreviewSubscription = z
  .object({
    status: z
      .string()
      .describe(
        'Stored status of the subscription of the account: `active` (trials included), `pending` (ordered, not paid), `expired` (the end has passed), `limited` (traffic used up), `disabled` (access withdrawn) or `trial` (older trials).',
      ),
    is_trial: z.boolean().describe('Whether the subscription is a trial.'),
    end_date: Timestamp.nullish().describe('End of the subscription (UTC); null when there is none.'),
    traffic_limit_gb: z.number().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    traffic_used_gb: z.number().describe('Traffic used since the last reset in GB, as the panel reports it.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    autopay_enabled: z.boolean().describe('Whether the subscription is renewed automatically from the balance.'),
  })
  .meta({ id: 'MergePreviewSubscription' });

const MergePreviewUser = z
  .object({
    id: z.int().describe('Internal id of the user whose account is merged.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    auth_methods: z
      .string()
      .array()
      .describe('Ways to sign in to the account: `messenger`, `email` and names of linked providers.'),
    balance_kopeks: z.int().default(0).describe('Balance in kopeks; never negative.'),
    subscription: MergePreviewSubscription.nullish().describe('The subscription; null when there is none.'),
    created_at: Timestamp.nullish().describe('When the account was created (UTC).'),
  })
  .meta({ id: 'MergePreviewUser' });

const MergePreviewResponse = z
  .object({
    primary: MergePreviewUser.describe('The signed-in account, which remains.'),
    secondary: MergePreviewUser.describe('The other account, which is closed by the merge.'),
    expires_in_seconds: z.int().describe('Seconds until the merge token expires.'),
  })
  .meta({ id: 'MergePreviewResponse' });

const MergeResponse = z
  .object({
    success: z.boolean().describe('Always true: a merge that is refused is answered with an error status.'),
    access_token: z
      .string()
      .nullish()
      .describe('Access token (JWT) for the `Authorization` header; null when no session was created.'),
    refresh_token: z
      .string()
      .nullish()
      .describe(
        'Refresh token, valid for 7 days unless the session is ended. A refresh answers the same one. Where the sign-in asked for `rotate_refresh_token`, each refresh answers a new one; the old one ends shortly after, and its later use ends the session.',
      ),
    user: CabinetAuthUserResponse.nullish().describe('The user; null when the account no longer exists.'),
  })
  .meta({ id: 'MergeResponse' });

const tags: [string] = ['Cabinet Account Merge'];
const path = '/cabinet/auth/merge/{merge_token}';

/** The token is the only credential, so attempts are counted by client address. */
export const accountMergeRouter = router({
  preview: publicProcedure('cabinet')
    .meta({
      openapi: { method: 'GET', path, tags, summary: 'Both accounts of a merge that waits for confirmation' },
      description: 'Returns both accounts of a merge. The token stays valid.',
      refuses: [mergeTokenUnknown, mergeUsersUnknown, tooManyRequests],
    })
    .input(fromWire(MergeTokenPath))
    .output(toWire(MergePreviewResponse))
    .query(async ({ ctx, input }) => {
      await limitByAddress(ctx, 'merge/preview', 15);
      return previewMerge(ctx.app, input.mergeToken);
    }),

  execute: publicProcedure('cabinet')
    .meta({
      ...SIGN_IN_GUARD,
      openapi: { method: 'POST', path, tags, summary: 'Merge two accounts into one and sign in to it' },
      description:
        'Merges two accounts into the one that was signed in, and creates a session for it. Balances are added, identities, movements, tickets and referrals move; of two subscriptions the chosen one remains and the other is deleted in the panel. All sessions of both accounts end. The token works once.',
      refuses: [mergeImpossible, mergeNeedsFactorRemoved, keptUserUnknown, mergeTokenUsed, tooManyRequests],
    })
    .input(fromWire(MergeExecution))
    .output(toWire(MergeResponse))
    .mutation(async ({ ctx, input }) => {
      await limitByAddress(ctx, 'merge/execute', 5);
      const request = { token: input.mergeToken, keepSubscriptionFrom: input.keepSubscriptionFrom };
      const { accessToken, refreshToken, user } = await mergeAccounts(ctx.app, request);
      if (input.rotateRefreshToken) await requestRotation(ctx.app, refreshToken);
      return { success: true, accessToken, refreshToken, user: userAnswer(user) };
    }),
});
