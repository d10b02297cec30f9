import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { TOP_LEVEL } from '../access/permission-catalogue.ts';
import { isConfigAdmin, readEffectiveAccess } from '../access/read-effective-access.ts';
import { readSessionUser } from './authenticate-user.ts';

export interface MyAccess {
  permissions: string[];
  roles: string[];
  level: number;
}

/** What the caller may do; a config admin without roles may do everything (spec 01 section 5.3). */
export async function readMyAccess(app: App, actor: UserActor): Promise<MyAccess> {
  const [user, access] = await Promise.all([readSessionUser(app, actor.userId), readEffectiveAccess(app, actor.userId)]);
  if (access.roleIds.length === 0 && user && isConfigAdmin(app, user)) {
    return { permissions: ['*:*'], roles: ['superadmin'], level: TOP_LEVEL };
  }
  return { permissions: access.permissions, roles: access.roles, level: access.level };
}

/** Whether the caller is a config admin or has a role with a level. */
export async function isAdmin(app: App, actor: UserActor): Promise<boolean> {
  const [user, access] = await Promise.all([readSessionUser(app, actor.userId), readEffectiveAccess(app, actor.userId)]);
  return access.level > 0 || (user !== null && isConfigAdmin(app, user));
}
