import type { UserRecord } from '../../domain/identity/types.ts';

/** The signed-in user as every sign-in and `me` answer it. */
export function userAnswer(user: UserRecord) {
  return { ...user, balanceRubles: user.balanceKopeks / 100 };
}
