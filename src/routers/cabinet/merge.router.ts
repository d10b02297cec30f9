import { mergeAccounts } from '../../domain/merge/merge-accounts.ts';
import { previewMerge } from '../../domain/merge/preview-merge.ts';
import type { MergePreviewUser } from '../../domain/merge/types.ts';
import { publicProcedure, router } from '../trpc.ts';
import { toUserResponse } from './auth-response.ts';
import { limitByAddress } from './limited-procedure.ts';
import { MergeExecution, MergePreviewResponse, MergeResponse, MergeTokenPath } from './merge.schemas.ts';

const tags: [string] = ['Cabinet Account Merge'];
const path = '/cabinet/auth/merge/{merge_token}';

function toPreviewUser(user: MergePreviewUser) {
  const { subscription } = user;
  return {
    id: user.id,
    username: user.username,
    first_name: user.firstName,
    email: user.email,
    auth_methods: user.authMethods,
    balance_kopeks: user.balanceKopeks,
    subscription: subscription && {
      status: subscription.status,
      is_trial: subscription.isTrial,
      end_date: subscription.endDate,
      traffic_limit_gb: subscription.trafficLimitGb,
      traffic_used_gb: subscription.trafficUsedGb,
      device_limit: subscription.deviceLimit,
      tariff_name: subscription.tariffName,
      autopay_enabled: subscription.autopayEnabled,
    },
    created_at: user.createdAt,
  };
}

/** The token is the only credential, so guessing is counted by client address. */
export const accountMergeRouter = router({
  preview: publicProcedure('cabinet')
    .meta({ openapi: { method: 'GET', path, tags, summary: 'Both accounts of a merge that waits for confirmation' } })
    .input(MergeTokenPath)
    .output(MergePreviewResponse)
    .query(async ({ ctx, input }) => {
      await limitByAddress(ctx, 'merge/preview', 15);
      const preview = await previewMerge(ctx.app, input.merge_token);
      return {
        primary: toPreviewUser(preview.primary),
        secondary: toPreviewUser(preview.secondary),
        expires_in_seconds: preview.expiresInSeconds,
      };
    }),

  execute: publicProcedure('cabinet')
    .meta({ openapi: { method: 'POST', path, tags, summary: 'Merge two accounts into one and sign in to it' } })
    .input(MergeExecution)
    .output(MergeResponse)
    .mutation(async ({ ctx, input }) => {
      await limitByAddress(ctx, 'merge/execute', 5);
      const request = { token: input.merge_token, keepSubscriptionFrom: input.keep_subscription_from };
      const { accessToken, refreshToken, user } = await mergeAccounts(ctx.app, request);
      return { success: true, access_token: accessToken, refresh_token: refreshToken, user: toUserResponse(user) };
    }),
});
