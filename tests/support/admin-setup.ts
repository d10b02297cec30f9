import type { App } from '../../src/core/app.ts';
import type { ActionRequest } from '../../src/domain/subscriptions/manual/run-action.ts';
import type { BuiltUser } from './builders.ts';

/** An action with nothing given but what is named. */
export function anAction(action: string, given: Partial<ActionRequest> = {}): ActionRequest {
  return { action, ...given };
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
