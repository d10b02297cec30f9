import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { authorizeAdmin } from '../access/authorize-admin.ts';
import { authenticateUser, readSessionUser } from './authenticate-user.ts';
import { userNotFound } from './errors.ts';
import type { SessionUser } from './types.ts';

/**
 * The gate of the admin area: the cabinet gate first, then one permission (spec 01 section 4.5).
 * @param permission `section:action`
 * @throws AppError what `authenticateUser` throws | 403 'Permission denied: {reason}'
 */
export async function authenticateAdmin(
  app: App,
  credentials: { bearer: string | null; initData: string | null },
  permission: string,
  client: { ip: string | null; userAgent: string | null },
): Promise<AdminActor> {
  return authorizeAdmin(app, await identifyAdmin(app, credentials), permission, client.ip);
}

/** The first step of that gate: the user, so that a refusal of the second step is recorded with a name. */
export async function identifyAdmin(
  app: App,
  credentials: { bearer: string | null; initData: string | null },
): Promise<SessionUser> {
  const { userId } = await authenticateUser(app, credentials);
  const user = await readSessionUser(app, userId);
  if (!user) throw userNotFound();
  return user;
}
