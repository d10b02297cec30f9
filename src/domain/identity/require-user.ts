import type { App } from '../../core/app.ts';
import { userNotFound } from './errors.ts';
import { findUserById, findUserByMessengerId } from './find-user.ts';
import type { UserRecord } from './types.ts';

/** Whether the account was erased: an administrator finds it no longer (spec 10 U8), only what the books say refers to it. */
const isErased = ({ id, referralCode }: UserRecord): boolean => referralCode === `erased:${id}`;

/** The user with this internal id, in any status but erased. @throws AppError 404 'User not found' */
export async function requireUser(app: App, userId: number): Promise<UserRecord> {
  const user = await findUserById(app, userId);
  if (!user || isErased(user)) throw userNotFound();
  return user;
}

/** The user with this messenger id, in any status. @throws AppError 404 'User not found' */
export async function requireUserByMessengerId(app: App, messengerId: number): Promise<UserRecord> {
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) throw userNotFound();
  return user;
}
