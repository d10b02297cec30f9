import { z } from 'zod';
import { CampaignSlug, ReferralCode, RotateRefreshToken } from './auth.schemas.ts';

/** Contract group `Cabinet OAuth`. */

export const OAuthProviderName = z.literal(['google', 'yandex', 'discord', 'vk']);

export const OAuthProviderPath = z.object({
  provider: OAuthProviderName.describe('Name of the provider: `google`, `yandex`, `discord` or `vk`.'),
});

/** The path that the contract leaves open; an unknown name is refused in the handler. */
export const OAuthStartPath = z.object({
  provider: z.string().describe('Name of the provider: `google`, `yandex`, `discord` or `vk`.'),
});

const OAuthProviderInfo = z
  .object({
    name: z.string().describe('Name of the provider in paths and requests.'),
    display_name: z.string().describe('Name of the provider for display.'),
  })
  .meta({ id: 'OAuthProviderInfo' });

export const OAuthProvidersResponse = z
  .object({ providers: OAuthProviderInfo.array().describe('Providers in the order of display.') })
  .meta({ id: 'OAuthProvidersResponse' });

export const OAuthAuthorizeResponse = z
  .object({
    authorize_url: z.string().describe('Address to send the browser to.'),
    state: z.string().describe('Random text that links the answer of the provider to this request. Valid for 10 minutes, once.'),
  })
  .meta({ id: 'OAuthAuthorizeResponse' });

export const ProviderCallback = z.object({
  code: z.string().min(1).max(2048).describe('Authorization code that the provider returned.'),
  state: z
    .string()
    .min(1)
    .max(128)
    .describe('Random text that links the answer of the provider to this request. Valid for 10 minutes, once.'),
  device_id: z.string().max(256).nullish().describe('Device id that VK ID returned with the code; null for other providers.'),
});

export const OAuthCallbackRequest = ProviderCallback.extend({
  campaign_slug: CampaignSlug.describe(
    'Start parameter of an advertising campaign. Its bonus is given once per account; if the bonus fails, the sign-in still succeeds.',
  ),
  referral_code: ReferralCode.describe(
    'Code of the inviting user. Used only when this request creates the account; an unknown code is ignored.',
  ),
  rotate_refresh_token: RotateRefreshToken.describe(
    'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
  ),
}).meta({ id: 'OAuthCallbackRequest', example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs' } });

/** Answer that the contract leaves without a type. */
export const OAuthStartAnswer = z.object({
  authorize_url: z.string().describe('Address to send the browser to.'),
  state: z.string().describe('Random text that links the answer of the provider to this request. Valid for 10 minutes, once.'),
});
