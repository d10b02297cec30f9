import type { App } from '../../../core/app.ts';
import { isRowId } from '../../../core/row-id.ts';
import { userNotFound } from '../../identity/errors.ts';
import type { UserView } from '../types.ts';
import { findUserId, findViewByEitherId, findViewById, findViewByMessengerId } from './view-repo.ts';

/**
 * One user. The number is tried as a messenger id first, then as an internal id (spec 01 section 10).
 * @throws AppError 404 'User not found'
 */
export async function readUser(app: App, number: number): Promise<UserView> {
  const { messengerId, userId } = eitherId(number);
  const view = await findViewByEitherId(app.db, messengerId, userId, app.clock.now());
  if (!view) throw userNotFound();
  return view;
}

/** @throws AppError 404 'User not found' */
export async function readUserByMessengerId(app: App, messengerId: number): Promise<UserView> {
  const view = await findViewByMessengerId(app.db, messengerId, app.clock.now());
  if (!view) throw userNotFound();
  return view;
}

/** The user whose internal id is known. @throws AppError 404 'User not found' */
export async function readUserById(app: App, id: number): Promise<UserView> {
  const view = await findViewById(app.db, id, app.clock.now());
  if (!view) throw userNotFound();
  return view;
}

/** The internal id behind a `{user_id}`, by the rule of `readUser`. @throws AppError 404 'User not found' */
export async function resolveUserId(app: App, number: number): Promise<number> {
  const { messengerId, userId } = eitherId(number);
  const id = await findUserId(app.db, messengerId, userId);
  if (id === null) throw userNotFound();
  return id;
}

/** What a `{user_id}` may be: a messenger id, or else an internal id; null = the number cannot be an internal id. */
export function eitherId(number: number): { messengerId: number; userId: number | null } {
  return { messengerId: number, userId: isRowId(number) ? number : null };
}
