import { z } from 'zod';
import { INIT_DATA_EXAMPLE, Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Auth`: sign-in, sessions, own e-mail and password (spec 01 section 5). */

const NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;

export const CampaignSlug = z.string().min(1).max(64).regex(NAME_PATTERN).nullish();
export const ReferralCode = z.string().max(32).regex(NAME_PATTERN).nullish();
const NewPassword = z.string().min(8).max(128);
const MailedToken = z.string().max(2048);
/** Part of each request that signs in (spec 10 U2). */
export const RotateRefreshToken = z.boolean().optional();

export const MessengerAuthRequest = z
  .object({
    init_data: z.string().max(4096),
    campaign_slug: CampaignSlug,
    referral_code: ReferralCode,
    rotate_refresh_token: RotateRefreshToken,
  })
  .meta({ id: 'MessengerAuthRequest', example: { init_data: INIT_DATA_EXAMPLE, campaign_slug: 'spring' } });

export const MessengerWidgetAuthRequest = z
  .object({
    id: z.int(),
    first_name: z.string().max(64),
    last_name: z.string().max(64).nullish(),
    username: z.string().max(32).nullish(),
    photo_url: z.string().max(512).nullish(),
    auth_date: z.int(),
    hash: z.string().min(64).max(64),
    campaign_slug: CampaignSlug,
    referral_code: ReferralCode,
    rotate_refresh_token: RotateRefreshToken,
  })
  .meta({
    id: 'MessengerWidgetAuthRequest',
    example: {
      id: 100200300,
      first_name: 'Anna',
      username: 'anna_k',
      auth_date: 1767225600,
      hash: '3f2b1c0e8a77'.padEnd(64, '0'),
    },
  });

export const MessengerOIDCAuthRequest = z
  .object({
    id_token: z.string().max(4096),
    campaign_slug: CampaignSlug,
    referral_code: ReferralCode,
    rotate_refresh_token: RotateRefreshToken,
  })
  .meta({
    id: 'MessengerOIDCAuthRequest',
    example: { id_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMDAyMDAzMDAifQ.c2lnbmF0dXJl' },
  });

export const EmailRegisterRequest = z
  .object({ email: z.email(), password: NewPassword })
  .meta({ id: 'EmailRegisterRequest', example: { email: 'anna@example.com', password: 'correct horse battery' } });

export const EmailRegisterStandaloneRequest = z
  .object({
    email: z.email(),
    password: NewPassword,
    first_name: z.string().max(64).nullish(),
    language: z
      .string()
      .max(5)
      .regex(/^[a-z]{2}$/)
      .default('ru'),
    referral_code: ReferralCode,
  })
  .meta({
    id: 'EmailRegisterStandaloneRequest',
    example: { email: 'anna@example.com', password: 'correct horse battery', first_name: 'Anna', language: 'en' },
  });

export const EmailVerifyRequest = z
  .object({ token: MailedToken, campaign_slug: CampaignSlug, rotate_refresh_token: RotateRefreshToken })
  .meta({ id: 'EmailVerifyRequest', example: { token: 'kq3V0cF1xZr8Yw5tB2nM7uLs' } });

export const EmailLoginRequest = z
  .object({
    email: z.email(),
    password: z.string().min(1).max(128),
    campaign_slug: CampaignSlug,
    rotate_refresh_token: RotateRefreshToken,
  })
  .meta({ id: 'EmailLoginRequest', example: { email: 'anna@example.com', password: 'correct horse battery' } });

export const RefreshTokenRequest = z
  .object({ refresh_token: z.string().max(2048) })
  .meta({ id: 'RefreshTokenRequest', example: { refresh_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl' } });

export const AutoLoginRequest = z
  .object({ token: z.string().max(2048), rotate_refresh_token: RotateRefreshToken })
  .meta({ id: 'AutoLoginRequest', example: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl' } });

export const DeepLinkPollRequest = z
  .object({ token: z.string().min(16).max(128), campaign_slug: CampaignSlug, rotate_refresh_token: RotateRefreshToken })
  .meta({ id: 'DeepLinkPollRequest', example: { token: 'kq3V0cF1xZr8Yw5tB2nM7uLs' } });

export const DeepLinkTokenResponse = z
  .object({ token: z.string(), bot_username: z.string(), expires_in: z.int() })
  .meta({ id: 'DeepLinkTokenResponse' });

export const PasswordForgotRequest = z.object({ email: z.email() }).meta({ id: 'PasswordForgotRequest' });

export const PasswordResetRequest = z
  .object({ token: MailedToken, password: NewPassword })
  .meta({ id: 'PasswordResetRequest', example: { token: 'kq3V0cF1xZr8Yw5tB2nM7uLs', password: 'correct horse battery' } });

export const EmailChangeRequest = z.object({ new_email: z.email() }).meta({ id: 'EmailChangeRequest' });

export const EmailChangeVerifyRequest = z
  .object({
    code: z
      .string()
      .min(6)
      .max(6)
      .regex(/^\d{6}$/),
  })
  .meta({ id: 'EmailChangeVerifyRequest', example: { code: '402913' } });

export const CabinetAuthUserResponse = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    email: z.string().nullish(),
    email_verified: z.boolean().default(false),
    balance_kopeks: z.int().default(0),
    balance_rubles: z.number().default(0),
    referral_code: z.string().nullish(),
    language: z.string().default('ru'),
    created_at: Moment,
    auth_type: z.string().default('messenger'),
  })
  .meta({ id: 'CabinetAuthUserResponse' });

export const CampaignBonusInfo = z
  .object({
    campaign_name: z.string(),
    bonus_type: z.string(),
    balance_kopeks: z.int().default(0),
    subscription_days: z.int().nullish(),
    tariff_name: z.string().nullish(),
  })
  .meta({ id: 'CampaignBonusInfo' });

export const CabinetAuthTokenResponse = z
  .object({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.string().default('bearer'),
    expires_in: z.int(),
  })
  .meta({ id: 'CabinetAuthTokenResponse' });

export const AuthResponse = z
  .object({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.string().default('bearer'),
    expires_in: z.int(),
    user: CabinetAuthUserResponse,
    campaign_bonus: CampaignBonusInfo.nullish(),
  })
  .meta({ id: 'AuthResponse' });

export const RegisterResponse = z
  .object({ message: z.string(), email: z.string(), requires_verification: z.boolean().default(true) })
  .meta({ id: 'RegisterResponse' });

export const EmailChangeResponse = z
  .object({ message: z.string(), new_email: z.string(), expires_in_minutes: z.int() })
  .meta({ id: 'EmailChangeResponse' });

/** Answers that the contract leaves without a type. */
export const MessageAnswer = z.object({ message: z.string() });
export const EmailLinkedAnswer = z.object({ message: z.string(), email: z.string() });
export const EmailChangedAnswer = z.object({ message: z.string(), new_email: z.string() });
export const EmailChangeStatusAnswer = z.object({
  pending: z.boolean(),
  new_email: z.string().nullable(),
  expires_at: Moment.nullable(),
});
export const MyPermissionsAnswer = z.object({
  permissions: z.string().array(),
  roles: z.string().array(),
  role_level: z.int(),
});
export const IsAdminAnswer = z.object({ is_admin: z.boolean() });
