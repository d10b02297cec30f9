import { beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import type { Rows } from '../../../src/core/db/columns.ts';
import { findSquadsByUuid, listAvailableSquads, listSquads } from '../../../src/domain/catalog/find-squads.ts';
import {
  applyPanelSquads,
  syncServers,
  syncServersOnce,
  syncServersOrFail,
  syncServersOrRefuse,
} from '../../../src/domain/catalog/server-sync.ts';
import { recountServerUsers } from '../../../src/domain/catalog/servers.ts';
import { PanelError, type VpnPanelPort } from '../../../src/domain/provisioning/ports.ts';
import { aUser } from '../../support/builders.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;

beforeEach(async () => {
  ({ app } = await testApp());
  await app.db.sql('DELETE FROM server_squads');
  await app.db.sql('DELETE FROM tariffs');
});

const squads = (...uuids: string[]) => uuids.map((uuid) => ({ uuid, name: `Squad ${uuid}` }));

/** The app with a panel that answers the list of squads so, and no other call. */
function withSquads(
  listInternalSquads: () => Promise<{ uuid: string; name: string }[]>,
  configurationError: string | null = null,
): App {
  const panel = { configurationError: () => configurationError, listInternalSquads } as unknown as VpnPanelPort;
  return { ...app, ports: { ...app.ports, panel } };
}

async function aTariff(allowed: string[], fields: { isTrial?: boolean; external?: string } = {}): Promise<number> {
  const row = await storeRow(app, 'Tariff', {
    name: 'T',
    allowedSquads: allowed,
    isTrialAvailable: fields.isTrial ?? false,
    externalSquadUuid: fields.external ?? null,
  });
  return row.id;
}

async function aHolder(uuids: string[], status: Rows['Subscription']['status'] = 'active'): Promise<number> {
  const user = await aUser(app);
  const row = await storeRow(app, 'Subscription', {
    userId: user.id,
    status,
    endDate: new Date(Date.now() + 86_400_000),
    connectedSquads: uuids,
  });
  return row.id;
}

describe('server sync', () => {
  it('08 P5: the servers of the very first list are on sale and open to trials, so that the default tariff sells something', async () => {
    await applyPanelSquads(app, squads('a'));
    await applyPanelSquads(app, squads('a', 'b'));
    const flags = (await listSquads(app)).map(({ squadUuid, isAvailable, isTrialEligible }) => [
      squadUuid,
      isAvailable,
      isTrialEligible,
    ]);
    expect(flags).toEqual([
      ['a', true, true],
      ['b', false, false],
    ]);
  });

  it('creates unavailable servers of the default group after the first list, then refreshes only the panel name', async () => {
    await applyPanelSquads(app, squads('z'));
    await app.db.sql("UPDATE server_squads SET sort_order = 9 WHERE squad_uuid = 'z'");
    expect(await applyPanelSquads(app, squads('a', 'b', 'z'))).toEqual({ created: 2, updated: 0, removed: 0 });
    const [server] = await listSquads(app);
    expect(server).toMatchObject({
      squadUuid: 'a',
      displayName: 'Squad a',
      originalName: 'Squad a',
      priceKopeks: 1000,
      isAvailable: false,
    });
    expect(server!.allowedPromoGroupIds).toHaveLength(1);
    await app.db.sql("UPDATE server_squads SET display_name = 'Ours', price_kopeks = 5 WHERE squad_uuid = 'a'");
    const renamed = [{ uuid: 'a', name: 'New' }, ...squads('b', 'z')];
    expect(await applyPanelSquads(app, renamed)).toEqual({ created: 0, updated: 1, removed: 0 });
    expect(await findSquadsByUuid(app, ['a', 'unknown'])).toMatchObject([
      { displayName: 'Ours', originalName: 'New', priceKopeks: 5 },
    ]);
  });

  it('takes a server that is on sale off sale first and deletes it only when it is still missing', async () => {
    await applyPanelSquads(app, squads('a', 'b'));
    await app.db.sql('UPDATE server_squads SET is_available = true');
    const subscription = await aHolder(['a', 'b']);
    for (const { id } of await listSquads(app))
      await storeRow(app, 'SubscriptionServer', { subscriptionId: subscription, serverSquadId: id });
    const tariff = await aTariff(['a', 'b']);
    expect(await applyPanelSquads(app, squads('a'))).toEqual({ created: 0, updated: 1, removed: 0 });
    expect((await listAvailableSquads(app)).map((server) => server.squadUuid)).toEqual(['a']);
    expect(await applyPanelSquads(app, squads('a'))).toEqual({ created: 0, updated: 0, removed: 1 });
    expect((await listSquads(app)).map((server) => server.squadUuid)).toEqual(['a']);
    const [row] = await app.db.sql(
      `SELECT s.connected_squads, t.allowed_squads, t.is_active, (SELECT count(*)::int FROM subscription_servers) AS links
       FROM subscriptions s, tariffs t WHERE s.id = $1::int AND t.id = $2::int`,
      [subscription, tariff],
    );
    expect(row).toEqual({ connectedSquads: ['a'], allowedSquads: ['a'], isActive: true, links: 1 });
  });

  it('switches off a tariff that loses its last squad instead of selling every server (spec 02 H17)', async () => {
    await applyPanelSquads(app, squads('a', 'b'));
    const loser = await aTariff(['b'], { isTrial: true });
    const open = await aTariff([]);
    await applyPanelSquads(app, squads('a'));
    await applyPanelSquads(app, squads('a'));
    const rows = await app.db.sql('SELECT id, allowed_squads, is_active, is_trial_available FROM tariffs ORDER BY id');
    expect(rows).toEqual([
      { id: loser, allowedSquads: [], isActive: false, isTrialAvailable: false },
      { id: open, allowedSquads: [], isActive: true, isTrialAvailable: false },
    ]);
  });

  it('keeps a missing server that is the external squad of a tariff', async () => {
    const external = 'e87e4a00-0000-4000-8000-000000000001';
    await applyPanelSquads(app, squads('a', external));
    await aTariff([], { external });
    expect(await applyPanelSquads(app, squads('a'))).toEqual({ created: 0, updated: 0, removed: 0 });
    expect(await listSquads(app)).toHaveLength(2);
  });

  it('changes nothing when the panel is down or lists nothing (spec 02 H17)', async () => {
    await applyPanelSquads(app, squads('a'));
    const down = () => Promise.reject(new PanelError('rejected', 'VPN panel refused the credentials'));
    for (const [list, reason] of [
      [() => Promise.resolve([]), null],
      [down, 'VPN panel refused the credentials'],
    ] as const) {
      const broken = withSquads(list);
      expect(await syncServers(broken)).toEqual({ outcome: 'no_list', reason });
      await expect(syncServersOrFail(broken)).rejects.toMatchObject({
        status: 502,
        detail: reason ?? 'The VPN panel has no squads',
      });
      await expect(syncServersOrRefuse(broken)).rejects.toMatchObject({
        status: 500,
        detail: 'Failed to fetch squads from VpnPanel',
      });
    }
    await expect(applyPanelSquads(app, [])).rejects.toThrow('An empty list of squads');
    expect(await listSquads(app)).toHaveLength(1);
  });

  it('names what is missing when no panel is set up', async () => {
    const without = withSquads(() => Promise.resolve([]), 'VPNPANEL_API_URL is not set');
    await expect(syncServersOrFail(without)).rejects.toMatchObject({ status: 503, detail: 'VPNPANEL_API_URL is not set' });
    await expect(syncServersOrRefuse(without)).rejects.toMatchObject({ status: 400, detail: 'VpnPanel is not configured' });
  });

  it('fills an empty table at start and leaves a filled one alone', async () => {
    await syncServersOnce(app);
    const found = await listSquads(app);
    expect(found.length).toBeGreaterThan(0);
    await syncServersOnce(withSquads(() => Promise.resolve(squads('other'))));
    expect(await listSquads(app)).toEqual(found);
  });
});

describe('counters', () => {
  it('spec 02 H20: are what the active and trial subscriptions hold, whatever changes', async () => {
    await applyPanelSquads(app, squads('a', 'b', 'c'));
    await app.db.sql('DELETE FROM subscriptions');
    await aHolder(['a', 'b']);
    await aHolder(['a'], 'trial');
    await aHolder(['a'], 'expired');
    const counted = async () => (await listSquads(app)).map((server) => [server.squadUuid, server.currentUsers]);
    const right = [
      ['a', 2],
      ['b', 1],
      ['c', 0],
    ];
    expect(await counted()).toEqual(right);
    const [holder] = await app.db.sql<{ id: number }>(`SELECT id FROM subscriptions WHERE connected_squads = '["a", "b"]'`);
    const set = (change: string) =>
      app.db.sql(`UPDATE subscriptions SET ${change} WHERE id = $1::int RETURNING id`, [holder!.id]);
    await set(`connected_squads = '["b", "c", "c"]'`);
    expect(await counted()).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ]);
    await set(`status = 'limited'`);
    expect((await counted()).map(([, users]) => users)).toEqual([1, 0, 0]);
    await set(`status = 'active', connected_squads = '["a", "b"]'`);
    expect(await counted()).toEqual(right);
    await storeRows(app, 'SquadCounter', [
      { squadUuid: 'a', users: 99 },
      { squadUuid: 'gone', users: 5 },
    ]);
    expect(await recountServerUsers(app)).toBe(3);
    expect(await counted()).toEqual(right);
  });
});
