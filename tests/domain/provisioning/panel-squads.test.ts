import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import type { AuditFacts } from '../../../src/core/audit.ts';
import { DAY_MS } from '../../../src/core/clock.ts';
import { syncServers } from '../../../src/domain/catalog/server-sync.ts';
import {
  createSquad,
  deleteSquad,
  listPanelInbounds,
  listPanelSquads,
  listSquadsWithServers,
  readPanelSquad,
  readSquadWithServer,
  runSquadAction,
  type SquadAction,
  updateSquad,
} from '../../../src/domain/provisioning/squads/squads.ts';
import { aSubscription, GERMANY, NETHERLANDS, unconfigured, withPanel } from '../../support/provisioning-setup.ts';

const UNKNOWN = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
const DUTCH_INBOUND = '1b0a4d00-0000-4000-8000-000000000001';
const GERMAN_INBOUND = '1b0a4d00-0000-4000-8000-000000000002';
const admin = { kind: 'system', name: 'test' } as const;

/** The app of an administrator's request, and what it records in the audit log. */
function audited(app: App): { app: App; facts: AuditFacts } {
  const facts: AuditFacts = {};
  return { app: { ...app, audit: { record: (more) => void Object.assign(facts, more) } }, facts };
}

const act = (app: App, uuid: string, action: SquadAction, more: { name?: string; inboundUuids?: string[] } = {}) =>
  runSquadAction(app, admin, uuid, { action, name: more.name ?? null, inboundUuids: more.inboundUuids ?? null });

describe('reading squads', () => {
  it('shows the server beside its squad, and a squad without one', async () => {
    const t = await withPanel();
    await t.app.db.sql('DELETE FROM server_squads');
    await syncServers(t.app);
    await t.adapter.createInternalSquad({ name: 'Sweden', inboundUuids: [] });
    await t.app.db.sql(
      "UPDATE server_squads SET display_name = 'Holland', price_kopeks = 9900, description = 'd', sort_order = 4 WHERE squad_uuid = $1",
      [NETHERLANDS],
    );
    const listed = await listSquadsWithServers(t.app);
    expect(listed.map(({ squad, server }) => [squad.name, server?.displayName, server?.priceKopeks])).toEqual([
      ['Netherlands', 'Holland', 9900],
      ['Germany', 'Germany', 1000],
      ['Finland', 'Finland', 1000],
      ['Sweden', undefined, undefined],
    ]);
    expect((await listPanelSquads(t.app)).map((squad) => squad.inboundsCount)).toEqual([1, 1, 1, 0]);
    expect(await listPanelInbounds(t.app)).toHaveLength(3);
  });

  it('counts the active and trial subscriptions that have a squad', async () => {
    const t = await withPanel();
    await t.app.db.sql("UPDATE subscriptions SET connected_squads = '[]'");
    await aSubscription(t.app, { squads: [GERMANY] });
    await aSubscription(t.app, { squads: [GERMANY, NETHERLANDS], status: 'trial', isTrial: true });
    await aSubscription(t.app, { squads: [GERMANY], status: 'expired' });
    expect(await readSquadWithServer(t.app, GERMANY)).toMatchObject({ squad: { uuid: GERMANY }, activeSubscriptions: 2 });
    expect(await readPanelSquad(t.app, GERMANY)).toMatchObject({ name: 'Germany' });
  });

  it('08 P10: an unknown squad is 404, a panel that is down 502, also for lists', async () => {
    const t = await withPanel();
    await expect(readPanelSquad(t.app, UNKNOWN)).rejects.toMatchObject({ status: 404, detail: 'Squad not found' });
    await expect(readSquadWithServer(t.app, UNKNOWN)).rejects.toMatchObject({ status: 404, detail: 'Squad not found' });
    t.panel.faults.set({ status: 503 });
    await expect(readPanelSquad(t.app, GERMANY)).rejects.toMatchObject({ status: 502 });
    await expect(readSquadWithServer(t.app, GERMANY)).rejects.toMatchObject({ status: 502 });
    await expect(listPanelSquads(t.app)).rejects.toMatchObject({ status: 502 });
    await expect(listSquadsWithServers(t.app)).rejects.toMatchObject({ status: 502 });
    await expect(listPanelInbounds(t.app)).rejects.toMatchObject({ status: 502 });
  });
});

describe('changing squads', () => {
  it('creates one and answers it', async () => {
    const t = await withPanel();
    const { app, facts } = audited(t.app);
    const made = await createSquad(app, admin, { name: 'Sweden', inboundUuids: [DUTCH_INBOUND] });
    if (made.outcome !== 'done') throw new Error('not made');
    expect(await t.adapter.getInternalSquad(made.value.uuid)).toMatchObject({ name: 'Sweden', inboundsCount: 1 });
    const after = { name: 'Sweden', inbound_uuids: [DUTCH_INBOUND] };
    expect(facts).toEqual({ resourceId: made.value.uuid, before: null, after });
    const again = await createSquad(app, admin, { name: 'Sweden', inboundUuids: [] });
    expect(again).toEqual({ outcome: 'failed', reason: expect.stringContaining('already exists') });
    expect((await createSquad(app, admin, { name: '?', inboundUuids: [] })).outcome).toBe('failed');
    expect(await listPanelSquads(t.app)).toHaveLength(4);
  });

  it('changes name and inbounds, each alone, with both states on record', async () => {
    const t = await withPanel();
    const { app, facts } = audited(t.app);
    expect(await updateSquad(app, admin, GERMANY, { name: 'Berlin' })).toMatchObject({ outcome: 'done' });
    expect(facts).toEqual({
      resourceId: GERMANY,
      before: { name: 'Germany', inbound_uuids: [GERMAN_INBOUND] },
      after: { name: 'Berlin', inbound_uuids: [GERMAN_INBOUND] },
    });
    await updateSquad(app, admin, GERMANY, { inboundUuids: [DUTCH_INBOUND, GERMAN_INBOUND] });
    expect(await t.adapter.getInternalSquad(GERMANY)).toMatchObject({ name: 'Berlin', inboundsCount: 2 });
    await updateSquad(app, admin, GERMANY, { inboundUuids: [] });
    expect(await t.adapter.getInternalSquad(GERMANY)).toMatchObject({ name: 'Berlin', inboundsCount: 0 });
    const calls = t.panel.calls().length;
    expect(await updateSquad(app, admin, GERMANY, {})).toEqual({ outcome: 'failed', reason: 'No update data provided' });
    expect(t.panel.calls()).toHaveLength(calls);
  });

  it('a deleted squad is removed from its users at once and from the servers only with a later sync', async () => {
    const t = await withPanel();
    await t.app.db.sql('DELETE FROM server_squads');
    await syncServers(t.app);
    const draft = { username: 'holder', status: 'ACTIVE', squadUuids: [GERMANY, NETHERLANDS] } as const;
    const expireAt = new Date(t.clock.now().getTime() + 30 * DAY_MS);
    const user = await t.adapter.createUser({ ...draft, squadUuids: [...draft.squadUuids], expireAt });
    const { app, facts } = audited(t.app);
    expect(await deleteSquad(app, admin, GERMANY)).toEqual({ outcome: 'done', value: true });
    expect(facts).toMatchObject({ resourceId: GERMANY, before: { name: 'Germany' }, after: null });
    expect((await t.adapter.findByUuid(user.uuid))?.squads).toEqual([{ uuid: NETHERLANDS, name: 'Netherlands' }]);
    expect(await t.app.db.sql('SELECT squad_uuid FROM server_squads WHERE squad_uuid = $1', [GERMANY])).toHaveLength(1);
    expect(await deleteSquad(app, admin, GERMANY)).toEqual({ outcome: 'absent' });
    expect(facts.after).toEqual({ success: false, reason: 'Squad not found' });
  });

  it('adds every user of the panel and removes them again', async () => {
    const t = await withPanel();
    const expireAt = new Date(t.clock.now().getTime() + 30 * DAY_MS);
    for (const username of ['one', 'two', 'three'])
      await t.adapter.createUser({ username: `user_${username}`, status: 'ACTIVE', expireAt });
    const { app, facts } = audited(t.app);
    const members = async () => (await t.adapter.getInternalSquad(GERMANY))?.membersCount;
    expect(await act(app, GERMANY, 'add_all_users')).toEqual({ outcome: 'done', value: true });
    expect(await members()).toBe(3);
    expect(facts).toMatchObject({ resourceId: GERMANY, before: { members: 0 }, after: { all_users: 'added' } });
    expect(await act(app, GERMANY, 'remove_all_users')).toEqual({ outcome: 'done', value: true });
    expect(await members()).toBe(0);
    expect(facts).toMatchObject({ before: { members: 3 }, after: { all_users: 'removed' } });
  });

  it('runs the other actions by name, and refuses them without required fields', async () => {
    const t = await withPanel();
    expect(await act(t.app, GERMANY, 'rename', { name: 'Berlin' })).toMatchObject({ outcome: 'done' });
    expect(await act(t.app, GERMANY, 'update_inbounds', { inboundUuids: [DUTCH_INBOUND] })).toMatchObject({ outcome: 'done' });
    expect(await t.adapter.getInternalSquad(GERMANY)).toMatchObject({ name: 'Berlin', inbounds: [{ uuid: DUTCH_INBOUND }] });
    const noName = { status: 400, detail: 'Name is required for rename' };
    await expect(act(t.app, GERMANY, 'rename')).rejects.toMatchObject(noName);
    await expect(act(t.app, GERMANY, 'rename', { name: '  ' })).rejects.toMatchObject(noName);
    const noInbounds = { status: 400, detail: 'Inbound UUIDs are required for update_inbounds' };
    await expect(act(t.app, GERMANY, 'update_inbounds')).rejects.toMatchObject(noInbounds);
    await expect(act(t.app, GERMANY, 'update_inbounds', { inboundUuids: [] })).rejects.toMatchObject(noInbounds);
    expect(await act(t.app, GERMANY, 'delete')).toMatchObject({ outcome: 'done' });
    expect(await act(t.app, GERMANY, 'delete')).toEqual({ outcome: 'absent' });
  });

  const ACTIONS: [SquadAction, { name?: string; inboundUuids?: string[] }][] = [
    ['add_all_users', {}],
    ['remove_all_users', {}],
    ['delete', {}],
    ['rename', { name: 'Berlin' }],
    ['update_inbounds', { inboundUuids: [DUTCH_INBOUND] }],
  ];
  it.each(ACTIONS)('%s of an unknown squad, of a panel that is down, and without a panel', async (action, more) => {
    const t = await withPanel();
    const before = await listPanelSquads(t.app);
    const { app, facts } = audited(t.app);
    expect(await act(app, UNKNOWN, action, more)).toEqual({ outcome: 'absent' });
    t.panel.faults.set({ status: 500 });
    const failed = await act(app, GERMANY, action, more);
    expect(failed).toEqual({ outcome: 'failed', reason: expect.stringContaining('VPN panel') });
    expect(facts).toMatchObject({ resourceId: GERMANY, after: { success: false } });
    t.panel.faults.set({});
    expect(await listPanelSquads(t.app)).toEqual(before);
    await expect(act(unconfigured(t.app), GERMANY, action, more)).rejects.toMatchObject({ status: 503 });
  });

  it('without a panel every read and change is 503', async () => {
    const app = unconfigured((await withPanel()).app);
    const refused = { status: 503, detail: 'VPNPANEL_API_URL and VPNPANEL_API_KEY are not set' };
    const calls = [
      () => listPanelSquads(app),
      () => listSquadsWithServers(app),
      () => readPanelSquad(app, GERMANY),
      () => readSquadWithServer(app, GERMANY),
      () => listPanelInbounds(app),
      () => createSquad(app, admin, { name: 'Sweden', inboundUuids: [] }),
      () => updateSquad(app, admin, GERMANY, {}),
      () => deleteSquad(app, admin, GERMANY),
      () => act(app, GERMANY, 'rename'),
    ];
    for (const call of calls) await expect(call(), String(call)).rejects.toMatchObject(refused);
  });
});
