/** Writes of administrators at the panel. */

import { unique } from '../support/builders.ts';
import { DUTCH_NODE } from '../support/vpnpanel-setup.ts';
import { ADMIN, type AdminWrite, aServer, type Fixture } from './admin-write-samples.ts';

async function aSquad({ app }: Fixture): Promise<string> {
  return (await app.ports.panel.createInternalSquad({ name: `Squad ${unique()}`, inboundUuids: [] })).uuid;
}

/** Runs over all users, whose audit row tells the numbers. */
const RUNS = [
  ...['from-panel', 'to-panel', 'servers', 'auto/run'],
  ...['subscriptions/validate', 'subscriptions/cleanup', 'subscriptions/statuses'],
];

const SYNC_WRITES: Record<string, AdminWrite> = Object.fromEntries(
  RUNS.map((path) => [
    `POST /vpnpanel/sync/${path}`,
    { kind: 'summary', request: async () => ({ path: `/vpnpanel/sync/${path}`, body: path === 'from-panel' ? {} : undefined }) },
  ]),
);

export const PANEL_WRITES: Record<string, AdminWrite> = {
  'POST /vpnpanel/nodes/{node_uuid}/action': {
    kind: 'change',
    request: async ({ app }) => {
      await app.ports.panel.disableNode(DUTCH_NODE);
      return { path: `/vpnpanel/nodes/${DUTCH_NODE}/action`, body: { action: 'enable' } };
    },
  },
  'POST /stats/nodes/{node_uuid}/restart': {
    kind: 'summary',
    request: async () => ({ path: `/stats/nodes/${DUTCH_NODE}/restart` }),
  },
  'POST /stats/nodes/{node_uuid}/toggle': {
    kind: 'change',
    request: async ({ app }) => {
      await app.ports.panel.enableNode(DUTCH_NODE);
      return { path: `/stats/nodes/${DUTCH_NODE}/toggle` };
    },
  },
  'POST /vpnpanel/nodes/restart-all': { kind: 'summary', request: async () => ({ path: '/vpnpanel/nodes/restart-all' }) },
  'POST /vpnpanel/squads': {
    kind: 'creation',
    request: async () => ({ path: '/vpnpanel/squads', body: { name: `Squad${unique()}`, inbound_uuids: [] } }),
  },
  'PATCH /vpnpanel/squads/{squad_uuid}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/vpnpanel/squads/${await aSquad(fixture)}`, body: { name: `Renamed${unique()}` } }),
  },
  'DELETE /vpnpanel/squads/{squad_uuid}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/vpnpanel/squads/${await aSquad(fixture)}` }),
  },
  'POST /vpnpanel/squads/{squad_uuid}/action': {
    kind: 'change',
    request: async (fixture) => ({
      path: `/vpnpanel/squads/${await aSquad(fixture)}/action`,
      body: { action: 'rename', name: `Renamed${unique()}` },
    }),
  },
  'POST /vpnpanel/squads/migrate': {
    kind: 'summary',
    request: async (fixture) => {
      const uuids: string[] = [];
      for (const id of [await aServer(fixture), await aServer(fixture)]) {
        uuids.push((await fixture.boss.get(`${ADMIN}/servers/${id}`)).body.squad_uuid);
      }
      const [source_uuid, target_uuid] = uuids;
      return { path: '/vpnpanel/squads/migrate', body: { source_uuid, target_uuid } };
    },
  },
  'POST /vpnpanel/sync/auto/toggle': {
    kind: 'change',
    request: async ({ app }) => ({
      path: '/vpnpanel/sync/auto/toggle',
      body: { enabled: !app.settings.get('VPNPANEL_AUTO_SYNC_ENABLED') },
    }),
  },
  ...SYNC_WRITES,
};
