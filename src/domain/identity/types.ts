import type { Rows } from '../../core/db/columns.ts';

export type { SessionUser, UserRecord } from './repo.ts';

export type UserStatus = Rows['User']['status'];

/** How an account was first created; never changed by linking (spec 01 section 1.1). */
type AuthType = Rows['User']['authType'];

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
