export type UserStatus = 'active' | 'blocked' | 'deleted';

/** How an account was first created; never changed by linking (spec 01 section 1.1). */
export type AuthType = 'messenger' | 'email' | 'google' | 'yandex' | 'discord' | 'vk';

/** A user as use cases see it. Secrets (password and token hashes) stay in `identity/repo.ts`. */
export interface UserRecord {
  id: number;
  messengerId: number | null;
  authType: AuthType;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  status: UserStatus;
  language: string;
  balanceKopeks: number;
  referralCode: string;
  referredById: number | null;
  /** Always lower case. */
  email: string | null;
  /** True only after a secret sent to the address came back, or by a provider's verified claim (spec 01 H1). */
  emailVerified: boolean;
  hasPassword: boolean;
  googleId: string | null;
  yandexId: string | null;
  discordId: string | null;
  vkId: number | null;
  vpnpanelUuid: string | null;
  /** Primary promo group: the membership with the highest (priority, id). */
  promoGroupId: number | null;
  referralCommissionPercent: number | null;
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  restrictionReason: string | null;
  partnerStatus: string;
  hasHadPaidSubscription: boolean;
  hasMadeFirstTopup: boolean;
  cabinetLastLogin: Date | null;
  createdAt: Date;
  updatedAt: Date;
  lastActivity: Date | null;
}

/** What a new account starts with (spec 01 section 2.2). Names and language are cleaned by `createUser`. */
export interface NewUser {
  authType: AuthType;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  emailVerified: boolean;
  passwordHash: string | null;
  language: string | null;
  referredById: number | null;
  /** The caller has checked that it exists; absent = the default group. */
  promoGroupId?: number | null;
}

/** Facts of a session's user, kept for seconds under `user:<id>`. */
export interface SessionUser {
  id: number;
  status: UserStatus;
  messengerId: number | null;
  username: string | null;
  language: string;
  email: string | null;
  emailVerified: boolean;
  lastActivity: Date | null;
  /** Access tokens from before are void; null = all sessions were never ended at once. */
  sessionsEndedAt: Date | null;
}
