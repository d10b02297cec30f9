import { describe, expect, it } from 'vitest';
import { SANDBOX_APP_CONFIG_UUID } from '../../../packages/sandbox/src/panel/device-routes.ts';
import { aDraft, NETHERLANDS, START, startPanel, UNKNOWN_UUID } from '../../support/panel-setup.ts';

const range = { from: new Date('2026-02-20T00:00:00Z'), to: START };

describe.each(['uuid', 'number'] as const)('panel of the %s generation', (generation) => {
  it('gives its app configurations, and null for an unknown one', async () => {
    const { adapter } = await startPanel({ generation });
    expect(await adapter.listAppConfigs()).toEqual([{ uuid: SANDBOX_APP_CONFIG_UUID, name: 'Default', viewPosition: 1 }]);
    expect((await adapter.getAppConfig(SANDBOX_APP_CONFIG_UUID))?.config).toMatchObject({ platforms: { ios: {} } });
    expect(await adapter.getAppConfig(UNKNOWN_UUID)).toBeNull();
    await expect(adapter.getAppConfig('../users')).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('06 5: gives the traffic of each user through a node within the days', async () => {
    const { adapter, panel } = await startPanel({ generation });
    const [first, second] = await Promise.all(
      ['a', 'b'].map((name, index) =>
        adapter.createUser(
          aDraft({ username: `user_${name}`, messengerId: index + 1, email: `${name}@example.com`, squadUuids: [NETHERLANDS] }),
        ),
      ),
    );
    panel.addTraffic(panel.listUsers().find(({ username }) => username === 'user_a')!.uuid, 700);
    const node = (await adapter.listNodes())[0]!.uuid;
    expect(await adapter.listNodeUserBytes(node, range)).toEqual([{ userUuid: first!.uuid, totalBytes: 700 }]);
    expect(second!.uuid).not.toBe(first!.uuid);
    const before = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-01-20T00:00:00Z') };
    expect(await adapter.listNodeUserBytes(node, before)).toEqual([]);
  });

  it('a panel that is away throws, it never gives an empty list', async () => {
    const { adapter, panel } = await startPanel({ generation });
    const node = (await adapter.listNodes())[0]!.uuid;
    panel.faults.set({ status: 503 });
    for (const call of [() => adapter.listAppConfigs(), () => adapter.listNodeUserBytes(node, range)]) {
      await expect(call()).rejects.toMatchObject({ kind: 'unavailable' });
    }
  });
});
