import { onTestFinished } from 'vitest';
import { createMemoryStore } from '../../packages/sandbox/src/panel/panel-state.ts';
import { type SandboxPanel, startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import type { App } from '../../src/core/app.ts';
import { addDays } from '../../src/core/clock.ts';
import type { VpnPanelPort } from '../../src/domain/provisioning/ports.ts';
import type { PanelConnection } from '../../src/integrations/vpnpanel/panel-connection.ts';
import { createVpnPanelAdapter } from '../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { aUser, type BuiltUser } from './builders.ts';
import { createPlainHttpClient } from './plain-http-client.ts';
import { type TestApp, type TestAppOptions, testApp } from './test-app.ts';

export const NETHERLANDS = '5a11ad00-0000-4000-8000-000000000001';
export const GERMANY = '5a11ad00-0000-4000-8000-000000000002';
export const PARTNERS = 'e87e4a00-0000-4000-8000-000000000001';
export const GB = 1024 ** 3;

export interface ProvisioningTest extends TestApp {
  panel: SandboxPanel;
  /** The real adapter on the fake panel; by default each call is sent once, so that a fault hits what the test means. */
  adapter: VpnPanelPort;
}

export type PanelTestOptions = TestAppOptions & { retries?: number; generation?: 'uuid' | 'number' };

/** An app whose panel belongs to this test alone. */
export async function withPanel(options: PanelTestOptions = {}): Promise<ProvisioningTest> {
  const t = await startAppWithPanel(options);
  onTestFinished(() => t.panel.close());
  return t;
}

/** The same for a whole file, which closes the panel. */
export async function startAppWithPanel(options: PanelTestOptions = {}): Promise<ProvisioningTest> {
  const t = await testApp(options);
  // What the last panel of this worker did says nothing about the new one.
  await t.app.db.sql(
    "DELETE FROM service_state WHERE key IN ('panel:outage', 'panel:import_seen') OR key LIKE 'panel:stale_external_squad:%'",
  );
  const panel = await startSandboxPanel({
    state: createMemoryStore(),
    clock: t.clock,
    ...(options.generation ? { generation: options.generation } : {}),
  });
  const adapter = createVpnPanelAdapter({
    http: createPlainHttpClient({ retries: options.retries ?? 0 }),
    connection: () => ({ ...NO_CONNECTION, baseUrl: panel.url, apiKey: panel.apiKey }),
  });
  return { ...t, panel, adapter, app: withPort(t.app, adapter) };
}

/** The app with another panel port. */
export function withPort(app: App, panel: VpnPanelPort): App {
  return { ...app, ports: { ...app.ports, panel } };
}

const NO_CONNECTION: PanelConnection = {
  baseUrl: null,
  apiKey: null,
  authType: 'api_key',
  username: null,
  password: null,
  caddyToken: null,
  secretKey: null,
};

/** The app with the real adapter on settings that lead nowhere. */
export function unconfigured(app: App, changes: Partial<PanelConnection> = {}): App {
  const connection = () => ({ ...NO_CONNECTION, ...changes });
  return withPort(app, createVpnPanelAdapter({ http: createPlainHttpClient({ retries: 0 }), connection }));
}

export interface BuiltSubscription {
  id: number;
  user: BuiltUser;
}

/** A paid subscription straight in the table. */
export async function aSubscription(
  app: App,
  fields: {
    user?: BuiltUser;
    status?: string;
    days?: number;
    trafficLimitGb?: number;
    squads?: string[];
    tariffId?: number;
    isTrial?: boolean;
  } = {},
): Promise<BuiltSubscription> {
  const user = fields.user ?? (await aUser(app));
  const now = app.clock.now();
  const [row] = await app.db.sql<{ id: number }>(
    `INSERT INTO subscriptions (user_id, status, is_trial, start_date, end_date, traffic_limit_gb, device_limit, connected_squads,
       tariff_id, created_at, updated_at)
     VALUES ($1::int, $2, $3::boolean, $4::timestamptz, $5::timestamptz, $6::int, 2, $7::jsonb, $8::int, $4::timestamptz, $4::timestamptz)
     RETURNING id`,
    [
      user.id,
      fields.status ?? 'active',
      fields.isTrial ?? false,
      now,
      addDays(now, fields.days ?? 30),
      fields.trafficLimitGb ?? 100,
      JSON.stringify(fields.squads ?? [NETHERLANDS]),
      fields.tariffId ?? null,
    ],
  );
  return { id: row!.id, user };
}

export interface ProvisionRow {
  status: string;
  endDate: Date;
  subscriptionUrl: string | null;
  vpnpanelShortUuid: string | null;
  subscriptionCryptoLink: string | null;
  connectedSquads: string[];
  provisionState: string;
  provisionVersion: number;
  provisionSyncedVersion: number;
  provisionError: string | null;
  provisionAttempts: number;
  provisionResetTraffic: boolean;
  provisionResetDevices: boolean;
  provisionLeaseUntil: Date | null;
  vpnpanelUuid: string | null;
}

export async function readRow(app: App, subscriptionId: number): Promise<ProvisionRow> {
  const [row] = await app.db.sql<ProvisionRow>(
    'SELECT s.*, u.vpnpanel_uuid FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.id = $1::int',
    [subscriptionId],
  );
  return row!;
}

export async function jobsOf(app: App, queue: string): Promise<{ data: unknown }[]> {
  return app.db.sql<{ data: unknown }>(
    "SELECT data FROM jobs.job WHERE name = $1 AND state = 'created' ORDER BY created_on, ctid",
    [queue],
  );
}
