import { onTestFinished } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { DAY_MS } from '../../src/core/clock.ts';
import { type ActorClient, adminClient } from './actors.ts';
import { type ApiClient, testServer, tokenClient } from './api.ts';
import { GB, GERMANY, type ProvisioningTest, unconfigured, withPanel } from './provisioning-setup.ts';

export const DUTCH_NODE = '40de0000-0000-4000-8000-000000000001';
export const GERMAN_NODE = '40de0000-0000-4000-8000-000000000002';
export const DUTCH_INBOUND = '1b0a4d00-0000-4000-8000-000000000001';
export const UNKNOWN_UUID = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
export const NOT_CONFIGURED = 'VPNPANEL_API_URL and VPNPANEL_API_KEY are not set';

export interface PanelAreas extends ProvisioningTest {
  token: Awaited<ReturnType<typeof tokenClient>>;
  admin: ActorClient;
  /** A user of the panel with this messenger id moved 10 GiB through the German node just now. */
  messengerId: number;
}

async function clientsOf(app: App, permissions = ['vpnpanel:*']): Promise<{ token: PanelAreas['token']; admin: ActorClient }> {
  const server = await testServer(app);
  onTestFinished(() => server.close());
  return { token: await tokenClient(app, server, 'panel operator'), admin: await adminClient(app, server, permissions) };
}

/** Clients of both areas of an app with its own panel. */
export async function panelAreas(permissions?: string[]): Promise<PanelAreas> {
  const t = await withPanel();
  const messengerId = 100500;
  const user = await t.adapter.createUser({
    username: 'mover',
    status: 'ACTIVE',
    expireAt: new Date(t.clock.now().getTime() + 30 * DAY_MS),
    trafficLimitBytes: 100 * GB,
    messengerId,
    squadUuids: [GERMANY],
  });
  t.panel.addTraffic(user.uuid, 10 * GB);
  return { ...t, ...(await clientsOf(t.app, permissions)), messengerId };
}

/** Clients of both areas of an app without a panel. */
export async function areasWithoutPanel(): Promise<{ token: ApiClient; admin: ActorClient }> {
  return clientsOf(unconfigured((await withPanel()).app));
}

export interface AuditRow {
  userId: number | null;
  actorName: string | null;
  action: string;
  resourceId: string | null;
  status: string;
  requestPath: string;
  details: Record<string, unknown>;
}

/** The newest row of the audit log about a path. */
export async function lastAudit(app: App, path: string): Promise<AuditRow | undefined> {
  const [row] = await app.db.sql<AuditRow>(
    'SELECT * FROM admin_audit_log WHERE request_path = $1 ORDER BY created_at DESC, id DESC LIMIT 1',
    [path],
  );
  return row;
}
