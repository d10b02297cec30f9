import { z } from 'zod';
import { INIT_DATA_EXAMPLE, Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Auth`: sign-in, sessions, own e-mail and password. */

const NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;

export const CampaignSlug = z.string().min(1).max(64).regex(NAME_PATTERN).nullish();
export const ReferralCode = z.string().max(32).regex(NAME_PATTERN).nullish();
const NewPassword = z.string().min(8).max(128);
const MailedToken = z.string().max(2048);
/** Part of each request that signs in (spec 10 U2). */
export const RotateRefreshToken = z.boolean().optional();

export const MessengerAuthRequest = z
  .object({
    init_data: z.string().max(4096).describe('Signed launch data of the messenger mini-app; authenticates the user.'),
    campaign_slug: CampaignSlug.describe(
      'Start parameter of an advertising campaign. Its bonus is given once per account; if the bonus fails, the sign-in still succeeds.',
    ),
    referral_code: ReferralCode.describe(
      'Code of the inviting user. Used only when this request creates the account; an unknown code is ignored.',
    ),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .meta({ id: 'MessengerAuthRequest', example: { init_data: INIT_DATA_EXAMPLE, campaign_slug: 'spring' } });

export const MessengerWidgetAuthRequest = z
  .object({
    id: z.int().describe('Messenger id of the user, as the login widget returned it.'),
    first_name: z.string().max(64).describe('First name.'),
    last_name: z.string().max(64).nullish().describe('Last name; null when unknown.'),
    username: z.string().max(32).nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    photo_url: z
      .string()
      .max(512)
      .nullish()
      .describe('Address of the profile picture, as the login widget returned it; part of the signed data.'),
    auth_date: z.int().describe('Time of the sign-in as Unix seconds, as the login widget returned it; part of the signed data.'),
    hash: z.string().min(64).max(64).describe('Signature of the login widget over the other fields.'),
    campaign_slug: CampaignSlug.describe(
      'Start parameter of an advertising campaign. Its bonus is given once per account; if the bonus fails, the sign-in still succeeds.',
    ),
    referral_code: ReferralCode.describe(
      'Code of the inviting user. Used only when this request creates the account; an unknown code is ignored.',
    ),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
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
    id_token: z.string().max(4096).describe('OpenID Connect token of the messenger (RS256). Accepted once.'),
    campaign_slug: CampaignSlug.describe(
      'Start parameter of an advertising campaign. Its bonus is given once per account; if the bonus fails, the sign-in still succeeds.',
    ),
    referral_code: ReferralCode.describe(
      'Code of the inviting user. Used only when this request creates the account; an unknown code is ignored.',
    ),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .meta({
    id: 'MessengerOIDCAuthRequest',
    example: { id_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMDAyMDAzMDAifQ.c2lnbmF0dXJl' },
  });

export const EmailRegisterRequest = z
  .object({
    email: z.email().describe('E-mail address.'),
    password: NewPassword.describe('Password in clear, 8 to 128 characters for a new one. Stored as a hash only.'),
  })
  .meta({ id: 'EmailRegisterRequest', example: { email: 'anna@example.com', password: 'correct horse battery' } });

export const EmailRegisterStandaloneRequest = z
  .object({
    email: z.email().describe('E-mail address.'),
    password: NewPassword.describe('Password in clear, 8 to 128 characters for a new one. Stored as a hash only.'),
    first_name: z.string().max(64).nullish().describe('First name; null when unknown.'),
    language: z
      .string()
      .max(5)
      .regex(/^[a-z]{2}$/)
      .default('ru')
      .describe('Two-letter language code, for example `ru` or `en`.'),
    referral_code: ReferralCode.describe('Code of the inviting user; an unknown code is ignored.'),
  })
  .meta({
    id: 'EmailRegisterStandaloneRequest',
    example: { email: 'anna@example.com', password: 'correct horse battery', first_name: 'Anna', language: 'en' },
  });

export const EmailVerifyRequest = z
  .object({
    token: MailedToken.describe('Token of the mailed verification link; valid for 24 hours.'),
    campaign_slug: CampaignSlug.describe(
      'Start parameter of an advertising campaign. Its bonus is given once per account; if the bonus fails, the sign-in still succeeds.',
    ),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .meta({ id: 'EmailVerifyRequest', example: { token: 'kq3V0cF1xZr8Yw5tB2nM7uLs' } });

export const EmailLoginRequest = z
  .object({
    email: z.email().describe('E-mail address.'),
    password: z.string().min(1).max(128).describe('Password in clear, 8 to 128 characters for a new one. Stored as a hash only.'),
    campaign_slug: CampaignSlug.describe(
      'Start parameter of an advertising campaign. Its bonus is given once per account; if the bonus fails, the sign-in still succeeds.',
    ),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .meta({ id: 'EmailLoginRequest', example: { email: 'anna@example.com', password: 'correct horse battery' } });

export const RefreshTokenRequest = z
  .object({
    refresh_token: z
      .string()
      .max(2048)
      .describe(
        'Refresh token, valid for 7 days unless the session is ended. A refresh answers the same one. Where the sign-in asked for `rotate_refresh_token`, each refresh answers a new one; the old one ends shortly after, and its later use ends the session.',
      ),
  })
  .meta({ id: 'RefreshTokenRequest', example: { refresh_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl' } });

export const AutoLoginRequest = z
  .object({
    token: z.string().max(2048).describe('One-time token that a purchase on a sales page returned.'),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .meta({ id: 'AutoLoginRequest', example: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl' } });

export const DeepLinkPollRequest = z
  .object({
    token: z.string().min(16).max(128).describe('Token that the request for a sign-in returned.'),
    campaign_slug: CampaignSlug.describe(
      'Start parameter of an advertising campaign. Its bonus is given once per account; if the bonus fails, the sign-in still succeeds.',
    ),
    rotate_refresh_token: RotateRefreshToken.describe(
      'Whether each refresh answers a new refresh token and a later use of an old one ends the session. For clients that store each new one; default false.',
    ),
  })
  .meta({ id: 'DeepLinkPollRequest', example: { token: 'kq3V0cF1xZr8Yw5tB2nM7uLs' } });

export const DeepLinkTokenResponse = z
  .object({
    token: z.string().describe('Token of the sign-in; part of the bot link `?start=webauth_{token}`.'),
    bot_username: z.string().describe('User name of the bot that confirms the sign-in.'),
    expires_in: z.int().describe('Seconds in which the sign-in must be confirmed in the bot.'),
  })
  .meta({ id: 'DeepLinkTokenResponse' });

export const PasswordForgotRequest = z
  .object({ email: z.email().describe('E-mail address.') })
  .meta({ id: 'PasswordForgotRequest' });

export const PasswordResetRequest = z
  .object({
    token: MailedToken.describe('Token of the mailed link; valid for one hour.'),
    password: NewPassword.describe('Password in clear, 8 to 128 characters for a new one. Stored as a hash only.'),
  })
  .meta({ id: 'PasswordResetRequest', example: { token: 'kq3V0cF1xZr8Yw5tB2nM7uLs', password: 'correct horse battery' } });

export const EmailChangeRequest = z
  .object({ new_email: z.email().describe('New e-mail address.') })
  .meta({ id: 'EmailChangeRequest' });

export const EmailChangeVerifyRequest = z
  .object({
    code: z
      .string()
      .min(6)
      .max(6)
      .regex(/^\d{6}$/)
      .describe('Code of six digits that was mailed to the new address.'),
  })
  .meta({ id: 'EmailChangeVerifyRequest', example: { code: '402913' } });

export const CabinetAuthUserResponse = z
  .object({
    id: z.int().describe('Internal id of the signed-in user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    email_verified: z.boolean().default(false).describe('Whether the address is verified.'),
    balance_kopeks: z.int().default(0).describe('Balance in kopeks; never negative.'),
    balance_rubles: z.number().default(0).describe('Balance in rubles: kopeks / 100.'),
    referral_code: z.string().nullish().describe('Code of the account for invitations; null while it has none.'),
    language: z.string().default('ru').describe('Two-letter language code, for example `ru` or `en`.'),
    created_at: Timestamp.describe('When the account was created (UTC).'),
    auth_type: z
      .string()
      .default('messenger')
      .describe(
        'How the account was first created: `messenger`, `email`, `google`, `yandex`, `discord` or `vk`. Linking does not change it.',
      ),
  })
  .meta({ id: 'CabinetAuthUserResponse' });

const CampaignBonusInfo = z
  .object({
    campaign_name: z.string().describe('Name of the campaign.'),
    bonus_type: z.string().describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    balance_kopeks: z
      .int()
      .default(0)
      .describe('Kopeks that the campaign added to the balance; 0 when the bonus is of another kind.'),
    subscription_days: z.int().nullish().describe('Days of the given subscription; null when the bonus is of another kind.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
  })
  .meta({ id: 'CampaignBonusInfo' });

export const CabinetAuthTokenResponse = z
  .object({
    access_token: z.string().describe('Access token (JWT) for the `Authorization` header.'),
    refresh_token: z
      .string()
      .describe(
        'Refresh token, valid for 7 days unless the session is ended. A refresh answers the same one. Where the sign-in asked for `rotate_refresh_token`, each refresh answers a new one; the old one ends shortly after, and its later use ends the session.',
      ),
    token_type: z.string().default('bearer').describe('Type of the access token in the `Authorization` header: always `bearer`.'),
    expires_in: z.int().describe('Seconds until the access token expires.'),
  })
  .meta({ id: 'CabinetAuthTokenResponse' });

export const AuthResponse = z
  .object({
    access_token: z.string().describe('Access token (JWT) for the `Authorization` header.'),
    refresh_token: z
      .string()
      .describe(
        'Refresh token, valid for 7 days unless the session is ended. A refresh answers the same one. Where the sign-in asked for `rotate_refresh_token`, each refresh answers a new one; the old one ends shortly after, and its later use ends the session.',
      ),
    token_type: z.string().default('bearer').describe('Type of the access token in the `Authorization` header: always `bearer`.'),
    expires_in: z.int().describe('Seconds until the access token expires.'),
    user: CabinetAuthUserResponse.describe('The user.'),
    campaign_bonus: CampaignBonusInfo.nullish().describe(
      'Bonus of the advertising campaign that this sign-in gave; null when there was none.',
    ),
  })
  .meta({ id: 'AuthResponse' });

export const RegisterResponse = z
  .object({
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    email: z.string().describe('Address that the verification link was sent to.'),
    requires_verification: z.boolean().default(true).describe('Whether the address must be verified before the first sign-in.'),
  })
  .meta({ id: 'RegisterResponse' });

export const EmailChangeResponse = z
  .object({
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    new_email: z.string().describe('New e-mail address.'),
    expires_in_minutes: z.int().describe('Minutes in which the mailed code is valid; 0 when the address was replaced at once.'),
  })
  .meta({ id: 'EmailChangeResponse' });

/** Answers that the contract leaves without a type. */
export const MessageAnswer = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
});
export const EmailLinkedAnswer = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  email: z.string().describe('E-mail address.'),
});
export const EmailChangedAnswer = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  new_email: z.string().describe('New e-mail address.'),
});
export const EmailChangeStatusAnswer = z.object({
  pending: z.boolean().describe('Whether a change of the address waits for its code.'),
  new_email: z.string().nullable().describe('New e-mail address; null when no change is pending.'),
  expires_at: Timestamp.nullable().describe('When the mailed code expires (UTC); null when no change is pending.'),
});
export const MyPermissionsAnswer = z.object({
  permissions: z.string().array().describe('Patterns of permissions (`section:action`, `section:*`, `*:*`) of the user.'),
  roles: z.string().array().describe('Names of the roles of the user.'),
  role_level: z.int().describe('Highest level of the roles of the user; 0 without a role.'),
});
export const IsAdminAnswer = z.object({
  is_admin: z.boolean().describe('Whether the user is an administrator.'),
});
