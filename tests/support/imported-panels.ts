/** Panels that know the users of an imported database, as the existing product had left them there. */
import { type StoredUser, seedMeta } from '../../packages/sandbox/src/panel/panel-data.ts';
import { createMemoryStore } from '../../packages/sandbox/src/panel/panel-state.ts';
import { type SandboxPanel, startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import type { App } from '../../src/core/app.ts';
import { createVpnPanelAdapter } from '../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import type { Imported } from './imported-databases.ts';
import { createPlainHttpClient } from './plain-http-client.ts';
import { withPort } from './provisioning-setup.ts';

interface Linked {
  id: number;
  uuid: string;
  /** Of a panel that addresses users by number. */
  number: number | null;
  messengerId: number | null;
  shortUuid: string | null;
  endDate: Date;
  isLive: boolean;
}

/** @returns the panel, and the imported service with it */
export async function panelOf(
  { app, rows, clock }: Imported,
  generation: 'uuid' | 'number',
): Promise<{ panel: SandboxPanel; app: App }> {
  const linked = await rows<Linked>(
    `SELECT u.id, u.vpnpanel_uuid AS uuid, u.messenger_id, s.vpnpanel_short_uuid AS short_uuid, s.end_date,
       CASE WHEN u.vpnpanel_uuid::text LIKE '00000000-0000-8000-8000-%' THEN ('x' || right(u.vpnpanel_uuid::text, 12))::bit(48)::bigint END AS number,
       u.status = 'active' AND s.status IN ('active', 'trial', 'limited') AS is_live
     FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.vpnpanel_uuid IS NOT NULL`,
  );
  const squads = await rows<{ uuid: string; name: string }>('SELECT squad_uuid AS uuid, display_name AS name FROM server_squads');
  const store = createMemoryStore();
  const users = linked.map((user) => storedUser(user, clock.now().toISOString()));
  await store.save('panel/users/0', users);
  const meta = seedMeta(clock.now());
  const internalSquads = squads.map((squad) => ({
    ...squad,
    viewPosition: 1,
    inboundUuids: meta.internalSquads[0]!.inboundUuids,
  }));
  const nextId = Math.max(...users.map(({ id }) => id)) + 1;
  await store.save('panel/meta', { ...meta, shards: [0], internalSquads, nextId });
  const panel = await startSandboxPanel({ state: store, clock, generation });
  const connection = { baseUrl: panel.url, apiKey: panel.apiKey };
  const port = createVpnPanelAdapter({
    http: createPlainHttpClient({ retries: 0 }),
    connection: () => ({ ...NO_OTHER_ACCESS, ...connection }),
  });
  return { panel, app: withPort(app, port) };
}

const NO_OTHER_ACCESS = { authType: 'api_key', username: null, password: null, caddyToken: null, secretKey: null } as const;

function storedUser({ id, uuid, number, messengerId, shortUuid, endDate, isLive }: Linked, now: string): StoredUser {
  return {
    ...{
      id: number ?? 1_000_000 + id,
      uuid: number === null ? uuid : crypto.randomUUID(),
      shortUuid: shortUuid ?? `short-${id}`,
    },
    ...{
      username: `vpn_${id}`,
      status: isLive ? 'ACTIVE' : 'DISABLED',
      expireAt: endDate.toISOString(),
      telegramId: messengerId,
    },
    ...{ trafficLimitBytes: 0, trafficLimitStrategy: 'NO_RESET', usedTrafficBytes: 0, lifetimeUsedTrafficBytes: 0 },
    ...{ email: null, description: null, tag: null, hwidDeviceLimit: null, externalSquadUuid: null, squadUuids: [], devices: [] },
    ...{
      trojanPassword: 'trojan',
      vlessUuid: crypto.randomUUID(),
      ssPassword: 'ss',
      subRevokedAt: null,
      lastTrafficResetAt: null,
    },
    ...{ createdAt: now, updatedAt: now, onlineAt: null, firstConnectedAt: null },
  };
}
