import type { App } from '../../../core/app.ts';
import { findUserById, findUserByMessengerId } from '../../identity/find-user.ts';
import type { UserRecord } from '../../identity/types.ts';
import { userNotFound } from '../read-user.ts';

/** The user behind `{user_id}` of an administrator's request: always the internal id. @throws AppError 404 'User not found' */
export async function requireUser(app: App, userId: number): Promise<UserRecord> {
  const user = await findUserById(app, userId);
  if (!user) throw userNotFound();
  return user;
}

/** @throws AppError 404 'User not found' */
export async function requireUserByMessengerId(app: App, messengerId: number): Promise<UserRecord> {
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) throw userNotFound();
  return user;
}
