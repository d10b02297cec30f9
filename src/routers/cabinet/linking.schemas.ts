import { z } from 'zod';
import { INIT_DATA_EXAMPLE } from '../shared.schemas.ts';
import { OAuthProviderName, ProviderCallback } from './oauth.schemas.ts';

/** Contract group `Cabinet Account Linking` (spec 01 section 7). */

const LinkedProvider = z
  .object({
    provider: z
      .string()
      .describe(
        'Name of the provider: `google`, `yandex`, `discord` or `vk`; in lists of linked accounts also `messenger` and `email`.',
      ),
    linked: z.boolean().describe('Whether this way to sign in belongs to the account.'),
    identifier: z.string().nullish().describe('Id or address at the provider; null when not linked.'),
  })
  .meta({ id: 'LinkedProvider' });

export const LinkedProvidersResponse = z
  .object({ providers: LinkedProvider.array().describe('Providers in the order of display.') })
  .meta({ id: 'LinkedProvidersResponse' });

export const LinkInitResponse = z
  .object({
    authorize_url: z.string().describe('Address to send the browser to.'),
    state: z.string().describe('Random text that links the answer of the provider to this request. Valid for 10 minutes, once.'),
  })
  .meta({ id: 'LinkInitResponse' });

export const LinkCallbackRequest = ProviderCallback.extend({}).meta({
  id: 'LinkCallbackRequest',
  example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs' },
});

export const LinkCallbackResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().nullish().describe('`linked` or `already_linked`; null when a merge is required.'),
    merge_required: z
      .boolean()
      .default(false)
      .describe('Whether the identity belongs to another account, so that the two must be merged.'),
    merge_token: z.string().nullish().describe('Token of the merge, valid for 30 minutes; null when no merge is needed.'),
  })
  .meta({ id: 'LinkCallbackResponse' });

export const UnlinkResponse = z
  .object({ success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.') })
  .meta({ id: 'UnlinkResponse' });

const WIDGET_FIELDS = ['id', 'first_name', 'last_name', 'username', 'photo_url', 'auth_date', 'hash'] as const;

/** Exactly one proof: mini-app data, a token, or the widget's fields with id, auth_date and hash. */
export const LinkMessengerRequest = z
  .object({
    init_data: z
      .string()
      .max(4096)
      .nullish()
      .describe('Signed launch data of the messenger mini-app; authenticates the user. Null when another form is used.'),
    id_token: z.string().max(4096).nullish().describe('OpenID Connect token of the messenger (RS256). Accepted once.'),
    id: z.int().nullish().describe('Messenger id of the user, as the login widget returned it. Required with the widget form.'),
    first_name: z.string().max(256).nullish().describe('First name; null when unknown.'),
    last_name: z.string().max(256).nullish().describe('Last name; null when unknown.'),
    username: z.string().max(256).nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    photo_url: z
      .string()
      .max(2048)
      .nullish()
      .describe('Address of the profile picture, as the login widget returned it; part of the signed data.'),
    auth_date: z
      .int()
      .nullish()
      .describe('Time of the sign-in as Unix seconds, as the login widget returned it; part of the signed data.'),
    hash: z.string().min(64).max(64).nullish().describe('Signature of the login widget over the other fields.'),
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

export const ServerCompleteRequest = ProviderCallback.extend({
  provider: OAuthProviderName.nullish().describe('Provider of the sign-in; null to take it from the state.'),
}).meta({
  id: 'ServerCompleteRequest',
  example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs', provider: 'google' },
});

export const ServerCompleteResponse = LinkCallbackResponse.extend({
  provider: z
    .string()
    .describe(
      'Name of the provider: `google`, `yandex`, `discord` or `vk`; in lists of linked accounts also `messenger` and `email`.',
    ),
}).meta({
  id: 'ServerCompleteResponse',
});
