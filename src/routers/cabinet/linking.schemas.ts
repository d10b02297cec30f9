import { z } from 'zod';
import { INIT_DATA_EXAMPLE } from '../shared.schemas.ts';
import { OAuthProviderName, ProviderCallback } from './oauth.schemas.ts';

/** Contract group `Cabinet Account Linking` (spec 01 section 7). */

export const LinkedProvider = z
  .object({ provider: z.string(), linked: z.boolean(), identifier: z.string().nullish() })
  .meta({ id: 'LinkedProvider' });

export const LinkedProvidersResponse = z.object({ providers: LinkedProvider.array() }).meta({ id: 'LinkedProvidersResponse' });

export const LinkInitResponse = z.object({ authorize_url: z.string(), state: z.string() }).meta({ id: 'LinkInitResponse' });

export const LinkCallbackRequest = ProviderCallback.extend({}).meta({
  id: 'LinkCallbackRequest',
  example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs' },
});

export const LinkCallbackResponse = z
  .object({
    success: z.boolean(),
    message: z.string().nullish(),
    merge_required: z.boolean().default(false),
    merge_token: z.string().nullish(),
  })
  .meta({ id: 'LinkCallbackResponse' });

export const UnlinkResponse = z.object({ success: z.boolean() }).meta({ id: 'UnlinkResponse' });

const WIDGET_FIELDS = ['id', 'first_name', 'last_name', 'username', 'photo_url', 'auth_date', 'hash'] as const;

/** Exactly one proof: mini-app data, a token, or the widget's fields with id, auth_date and hash. */
export const LinkMessengerRequest = z
  .object({
    init_data: z.string().max(4096).nullish(),
    id_token: z.string().max(4096).nullish(),
    id: z.int().nullish(),
    first_name: z.string().max(256).nullish(),
    last_name: z.string().max(256).nullish(),
    username: z.string().max(256).nullish(),
    photo_url: z.string().max(2048).nullish(),
    auth_date: z.int().nullish(),
    hash: z.string().min(64).max(64).nullish(),
  })
  .superRefine((body, ctx) => {
    const isThere = (name: keyof typeof body) => body[name] !== null && body[name] !== undefined;
    const hasWidget = WIDGET_FIELDS.some(isThere);
    const proofs = [isThere('init_data'), isThere('id_token'), hasWidget].filter(Boolean).length;
    if (proofs !== 1) {
      ctx.addIssue({ code: 'custom', message: 'Provide exactly one of init_data, id_token or the login widget fields' });
    } else if (hasWidget && !(isThere('id') && isThere('auth_date') && isThere('hash'))) {
      ctx.addIssue({ code: 'custom', message: 'The login widget fields need id, auth_date and hash' });
    }
  })
  .meta({ id: 'LinkMessengerRequest', example: { init_data: INIT_DATA_EXAMPLE } });

export const ServerCompleteRequest = ProviderCallback.extend({ provider: OAuthProviderName.nullish() }).meta({
  id: 'ServerCompleteRequest',
  example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs', provider: 'google' },
});

export const ServerCompleteResponse = LinkCallbackResponse.extend({ provider: z.string() }).meta({
  id: 'ServerCompleteResponse',
});
