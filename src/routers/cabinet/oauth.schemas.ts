import { z } from 'zod';
import { literalTexts } from '../../core/zod-structure.ts';
import { CampaignSlug, ReferralCode, RotateRefreshToken } from './auth.schemas.ts';

/** Contract group `Cabinet OAuth` (spec 01 section 6). */

export const OAuthProviderName = literalTexts(['google', 'yandex', 'discord', 'vk']);

export const OAuthProviderPath = z.object({ provider: OAuthProviderName });

/** The path that the contract leaves open; an unknown name is refused in the handler. */
export const OAuthStartPath = z.object({ provider: z.string() });

export const OAuthProviderInfo = z.object({ name: z.string(), display_name: z.string() }).meta({ id: 'OAuthProviderInfo' });

export const OAuthProvidersResponse = z.object({ providers: OAuthProviderInfo.array() }).meta({ id: 'OAuthProvidersResponse' });

export const OAuthAuthorizeResponse = z
  .object({ authorize_url: z.string(), state: z.string() })
  .meta({ id: 'OAuthAuthorizeResponse' });

export const ProviderCallback = z.object({
  code: z.string().min(1).max(2048),
  state: z.string().min(1).max(128),
  device_id: z.string().max(256).nullish(),
});

export const OAuthCallbackRequest = ProviderCallback.extend({
  campaign_slug: CampaignSlug,
  referral_code: ReferralCode,
  rotate_refresh_token: RotateRefreshToken,
}).meta({ id: 'OAuthCallbackRequest', example: { code: '4/0AY0e-g7X', state: 'kq3V0cF1xZr8Yw5tB2nM7uLs' } });

/** Answer that the contract leaves without a type. */
export const OAuthStartAnswer = z.object({ authorize_url: z.string(), state: z.string() });
