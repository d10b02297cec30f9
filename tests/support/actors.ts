import type { FastifyInstance } from 'fastify';
import type { App } from '../../src/core/app.ts';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { type ApiClient, clientOf } from './api.ts';
import { aUser, type BuiltUser, unique } from './builders.ts';

export interface ActorClient extends ApiClient {
  user: BuiltUser;
  accessToken: string;
}

async function signedIn(app: App, server: FastifyInstance, user: BuiltUser): Promise<ActorClient> {
  const session = await openSession(app, user.id);
  return { ...clientOf(server, { authorization: `Bearer ${session.accessToken}` }), user, accessToken: session.accessToken };
}

/** A signed-in user of the cabinet. */
export async function userClient(
  app: App,
  server: FastifyInstance,
  fields: Parameters<typeof aUser>[1] = {},
): Promise<ActorClient> {
  return signedIn(app, server, await aUser(app, fields));
}

/** A signed-in user with one role that has exactly these permissions. */
export async function adminClient(
  app: App,
  server: FastifyInstance,
  permissions: readonly string[],
  level = 100,
): Promise<ActorClient> {
  const user = await aUser(app);
  await giveRole(app, user.id, permissions, { level });
  return signedIn(app, server, user);
}

/** Assigns a role with exactly these permissions to a user. @param options.at a long time ago, as approvers need it (spec 01 section 4.8) */
export async function giveRole(
  app: App,
  userId: number,
  permissions: readonly string[],
  { level = 100, by = null, at = new Date(0) }: { level?: number; by?: number | null; at?: Date } = {},
): Promise<void> {
  await app.db.sql(
    `WITH role AS (INSERT INTO admin_roles (name, level, permissions) VALUES ($1, $2::int, $3::jsonb) RETURNING id)
     INSERT INTO user_roles (user_id, role_id, assigned_by, assigned_at)
     SELECT $4::int, role.id, $5::int, $6::timestamptz FROM role RETURNING id`,
    [`role ${unique()}`, level, JSON.stringify(permissions), userId, by, at],
  );
}
