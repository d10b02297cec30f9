import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { forgetAccess } from '../../../src/domain/access/read-effective-access.ts';
import type { ActionRequest } from '../../../src/domain/subscriptions/manual/types.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';

/** Gives a user a role of that level. */
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

/** An action with nothing given but what is named. */
export function anAction(action: string, given: Partial<ActionRequest> = {}): ActionRequest {
  return {
    action,
    ...{ days: null, endDate: null, tariffId: null, trafficLimitGb: null, trafficUsedGb: null, autopayEnabled: null },
    ...{ trafficGb: null, trafficPurchaseId: null, isTrial: null, deviceLimit: null },
    ...given,
  };
}

export async function setUser(app: App, user: BuiltUser, columns: Record<string, unknown>): Promise<void> {
  const names = Object.keys(columns);
  await app.db.sql(
    `UPDATE users SET ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')} WHERE id = $1::int RETURNING id`,
    [user.id, ...Object.values(columns)],
  );
}

/** Names of the queues that got a job for this payload key. */
export async function jobsOf(app: App, key: string, value: string | number): Promise<string[]> {
  const rows = await app.db.sql<{ name: string }>('SELECT name FROM jobs.job WHERE data->>$1 = $2::text ORDER BY name', [
    key,
    String(value),
  ]);
  return rows.map((row) => row.name);
}
