import { tooManyRequests } from '../../core/rate-limit.ts';
import { requestRotation } from '../../domain/identity/sessions/sessions.ts';
import {
  keptUserUnknown,
  mergeAccounts,
  mergeImpossible,
  mergeTokenUnknown,
  mergeTokenUsed,
  mergeUsersUnknown,
  previewMerge,
} from '../../domain/merge/merge-accounts.ts';
import { publicProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { userAnswer } from './auth-response.ts';
import { limitByAddress } from './limited-procedure.ts';
import { MergeExecution, MergePreviewResponse, MergeResponse, MergeTokenPath } from './merge.schemas.ts';

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
      openapi: { method: 'POST', path, tags, summary: 'Merge two accounts into one and sign in to it' },
      description:
        'Merges two accounts into the one that was signed in, and creates a session for it. Balances are added, identities, movements, tickets and referrals move; of two subscriptions the chosen one remains and the other is deleted in the panel. All sessions of both accounts end. The token works once.',
      refuses: [mergeImpossible, keptUserUnknown, mergeTokenUsed, tooManyRequests],
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
