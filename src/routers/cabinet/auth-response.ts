import type { TokenPair } from '../../domain/identity/sessions/types.ts';
import type { UserRecord } from '../../domain/identity/types.ts';

/** The signed-in user as every sign-in and `me` show it. */
export function toUserResponse(user: UserRecord) {
  return {
    id: user.id,
    messenger_id: user.messengerId,
    username: user.username,
    first_name: user.firstName,
    last_name: user.lastName,
    email: user.email,
    email_verified: user.emailVerified,
    balance_kopeks: user.balanceKopeks,
    balance_rubles: user.balanceKopeks / 100,
    referral_code: user.referralCode,
    language: user.language,
    created_at: user.createdAt,
    auth_type: user.authType,
  };
}

export function toTokenResponse(pair: TokenPair) {
  return {
    access_token: pair.accessToken,
    refresh_token: pair.refreshToken,
    token_type: 'bearer',
    expires_in: pair.expiresIn,
  };
}
