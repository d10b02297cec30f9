import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';
import { CabinetAuthUserResponse, RotateRefreshToken } from './auth.schemas.ts';

/** Contract group `Cabinet Account Merge` (spec 01 section 8). */

const MergeToken = z.string().min(32).max(64);

export const MergeTokenPath = z.object({ merge_token: MergeToken });

export const MergeRequest = z
  .object({ keep_subscription_from: z.int(), rotate_refresh_token: RotateRefreshToken })
  .meta({ id: 'MergeRequest' });

export const MergeExecution = withBody(MergeTokenPath, MergeRequest);

export const MergePreviewSubscription = z
  .object({
    status: z.string(),
    is_trial: z.boolean(),
    end_date: Moment.nullish(),
    traffic_limit_gb: z.number(),
    traffic_used_gb: z.number(),
    device_limit: z.int(),
    tariff_name: z.string().nullish(),
    autopay_enabled: z.boolean(),
  })
  .meta({ id: 'MergePreviewSubscription' });

export const MergePreviewUser = z
  .object({
    id: z.int(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    email: z.string().nullish(),
    auth_methods: z.string().array(),
    balance_kopeks: z.int().default(0),
    subscription: MergePreviewSubscription.nullish(),
    created_at: Moment.nullish(),
  })
  .meta({ id: 'MergePreviewUser' });

export const MergePreviewResponse = z
  .object({ primary: MergePreviewUser, secondary: MergePreviewUser, expires_in_seconds: z.int() })
  .meta({ id: 'MergePreviewResponse' });

export const MergeResponse = z
  .object({
    success: z.boolean(),
    access_token: z.string().nullish(),
    refresh_token: z.string().nullish(),
    user: CabinetAuthUserResponse.nullish(),
  })
  .meta({ id: 'MergeResponse' });
