/** A panel that is replaced in place by another version (spec 10 V1). */
import { describe, expect, it } from 'vitest';
import { isPanelError } from '../../../src/domain/provisioning/ports.ts';
import { aDraft, GERMANY, startPanel } from '../../support/panel-setup.ts';

describe.each([
  ['uuid', 'number'],
  ['number', 'uuid'],
] as const)('spec 10 V1: a panel of the generation %s is replaced in place by one of %s', (before, after) => {
  async function replaced() {
    const t = await startPanel({ generation: before });
    const users = [];
    for (let id = 1; id <= 3; id++) users.push(await t.adapter.createUser(aDraft({ username: `user_${id}`, messengerId: id })));
    // The version is known from here on.
    expect(await t.adapter.findByMessengerId(1)).not.toBeNull();
    return { ...t, users };
  }

  it('at once: look-ups find the users by their new handles, and no old handle is called absent', async () => {
    const { adapter, panel, users } = await replaced();
    panel.addDevice(panel.listUsers().find((user) => user.username === 'user_1')!.uuid, 'device');
    panel.replaceBy(after);
    const found = await adapter.findByMessengerId(1);
    expect(found).toMatchObject({ username: 'user_1', shortUuid: users[0]!.shortUuid });
    expect(found!.uuid).not.toBe(users[0]!.uuid);
    for (const call of [
      () => adapter.findByUuid(users[0]!.uuid),
      () => adapter.listDevices(users[0]!.uuid),
      () => adapter.updateUser({ uuid: users[0]!.uuid, trafficLimitBytes: 1 }),
      () => adapter.deleteUser(users[0]!.uuid),
      () => adapter.disableUser(users[0]!.uuid),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: 'unavailable', isOtherGeneration: true });
    }
    expect(await adapter.listDevices(found!.uuid)).toMatchObject([{ hwid: 'device' }]);
    expect(await adapter.updateUser({ uuid: found!.uuid, trafficLimitBytes: 7 })).toMatchObject({ trafficLimitBytes: 7 });
  });

  it('whichever operation comes first', async () => {
    for (const first of ['findByEmail', 'findByUuid', 'listDevices', 'deleteUser', 'listNodeTraffic', 'setSquads'] as const) {
      const { adapter, panel, users } = await replaced();
      panel.replaceBy(after);
      const uuid = users[1]!.uuid;
      const result = await {
        findByEmail: () => adapter.findByEmail('ivan@example.com').then((user) => user?.uuid !== undefined),
        findByUuid: () => adapter.findByUuid(uuid),
        listDevices: () => adapter.listDevices(uuid),
        deleteUser: () => adapter.deleteUser(uuid),
        listNodeTraffic: () => adapter.listNodeTraffic().then(() => true),
        setSquads: () => adapter.setSquadsOfUsers([uuid], [GERMANY]).then((count) => count === 0),
      }
        [first]()
        .catch((error: unknown) => (isPanelError(error) ? error.isOtherGeneration : error));
      expect({ first, result }).toEqual({ first, result: true });
      expect(panel.listUsers()).toHaveLength(3);
      await panel.close();
    }
  });

  it('while it does not tell its version nothing is final', async () => {
    const { adapter, panel, users } = await replaced();
    panel.replaceBy(after);
    panel.faults.set({ status: 404, path: '/api/system/metadata' });
    await expect(adapter.findByMessengerId(2)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(adapter.listDevices(users[0]!.uuid)).rejects.toMatchObject({ kind: 'unavailable' });
    panel.faults.set({});
    expect(await adapter.findByMessengerId(2)).toMatchObject({ username: 'user_2' });
  });

  it('after an outage or its own notice the version is read before anything is asked by it', async () => {
    const { adapter, panel } = await replaced();
    panel.faults.set({ status: 503 });
    await expect(adapter.findByMessengerId(1)).rejects.toMatchObject({ kind: 'unavailable' });
    panel.faults.set({});
    for (const forget of [() => undefined, () => adapter.forgetVersion()]) {
      forget();
      const seen = panel.calls().length;
      await adapter.findByMessengerId(1);
      expect(panel.calls()[seen]!.path).toBe('/api/system/metadata');
    }
  });

  it('an absence that the panel confirms by its version is final', async () => {
    const { adapter } = await replaced();
    expect(await adapter.findByMessengerId(404)).toBeNull();
    expect(await adapter.findByShortUuid('nobody')).toBeNull();
  });
});
