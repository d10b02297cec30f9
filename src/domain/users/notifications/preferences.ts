import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Changes } from '../../../core/changes.ts';
import { userNotFound } from '../../identity/errors.ts';
import {
  type NotificationPreferences,
  PREFERENCE_NAMES,
  readPreferences,
  storedPreferenceName,
} from '../../identity/notification-preferences.ts';
import { findPreferences, mergePreferences } from './repo.ts';

/** No news any more, for a user who need not be signed in. */
export async function switchOffNews(t: App, userId: number): Promise<void> {
  await mergePreferences(t.db, userId, { [storedPreferenceName('newsEnabled')]: false }, t.clock.now());
}

/** What the user wants to be notified of. @throws AppError 404 for a user who was deleted meanwhile */
export async function readMyPreferences(app: App, actor: UserActor): Promise<NotificationPreferences> {
  const found = await findPreferences(app.db, actor.userId);
  if (found === null) throw userNotFound();
  return readPreferences(found.stored);
}

/**
 * Changes the preferences that are sent; null and absent ones stay. The next notice follows them (spec 05 section 9.1).
 * @returns all of them
 */
export async function changeMyPreferences(
  app: App,
  actor: UserActor,
  changes: Changes<NotificationPreferences>,
): Promise<NotificationPreferences> {
  const sent = PREFERENCE_NAMES.flatMap((name) => {
    const value = changes[name];
    return value == null ? [] : [[storedPreferenceName(name), value] as const];
  });
  if (sent.length === 0) return readMyPreferences(app, actor);
  const merged = await mergePreferences(app.db, actor.userId, Object.fromEntries(sent), app.clock.now());
  if (merged === null) throw userNotFound();
  return readPreferences(merged.stored);
}
