import type { AdminActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { forgetAccess } from '../../src/domain/access/effective-access.ts';
import { aUser, unique } from './builders.ts';

/** Assigns a user a role of that level. */
export async function giveRole(app: App, userId: number, level: number): Promise<void> {
  await app.db.sql(
    `WITH role AS (INSERT INTO admin_roles (name, level, permissions) VALUES ($1, $2::int, '["users:*"]') RETURNING id)
     INSERT INTO user_roles (user_id, role_id) SELECT $3::int, role.id FROM role RETURNING id`,
    [`role ${unique()}`, level, userId],
  );
  await forgetAccess(app, [userId]);
}

/** An administrator by role. */
export async function anAdmin(app: App, level = 100): Promise<AdminActor> {
  const user = await aUser(app);
  await giveRole(app, user.id, level);
  return { kind: 'admin', userId: user.id, level, isConfigAdmin: false };
}

/** An administrator named in the configuration, who needs no role. */
export async function aConfigAdmin(app: App): Promise<AdminActor> {
  return { kind: 'admin', userId: (await aUser(app)).id, level: 999, isConfigAdmin: true };
}
