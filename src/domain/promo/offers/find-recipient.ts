import type { App } from '../../../core/app.ts';
import { findUserByEmail, findUserById, findUserByMessengerId } from '../../identity/find-user.ts';
import type { UserRecord } from '../../identity/types.ts';
import { recipientNotFound, userMismatch } from './errors.ts';
import type { NamedUser } from './types.ts';

/**
 * The user that a Web API request names, in any status; null when it names no user (spec 04 section 9.3).
 * @throws AppError 404 'User not found' | 400 'Provided user_id does not match messenger_id'
 */
export async function findRecipient(app: App, named: Omit<NamedUser, 'email'>): Promise<UserRecord | null> {
  const { userId = null, messengerId = null } = named;
  if (userId === null && messengerId === null) return null;
  const user = userId === null ? await findUserByMessengerId(app, messengerId!) : await findUserById(app, userId);
  if (!user) throw recipientNotFound();
  if (messengerId !== null && user.messengerId !== messengerId) throw userMismatch('messenger_id');
  return user;
}

/**
 * The user that an administrator names (spec 04 section 9.4); the e-mail is used only without a messenger id.
 * @throws AppError 404 'User not found', 'User not found by messenger_id', 'User not found by email' | 400 when the user id is
 * another user's
 */
export async function findNamedUser(app: App, named: NamedUser): Promise<UserRecord | null> {
  const { userId = null, messengerId = null } = named;
  const email = named.email?.trim() || null;
  let user: UserRecord | null = null;
  if (messengerId !== null) {
    user = await findUserByMessengerId(app, messengerId);
    if (!user) throw recipientNotFound(' by messenger_id');
    if (userId !== null && user.id !== userId) throw userMismatch('messenger_id');
  } else if (email !== null) {
    user = await findUserByEmail(app, email);
    if (!user) throw recipientNotFound(' by email');
    if (userId !== null && user.id !== userId) throw userMismatch('email');
  } else if (userId !== null) {
    user = await findUserById(app, userId);
    if (!user) throw recipientNotFound();
  }
  return user;
}
