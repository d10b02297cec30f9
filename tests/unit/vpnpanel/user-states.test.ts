import { describe, expect, it } from 'vitest';
import type { SandboxPanel } from '../../../packages/sandbox/src/panel/sandbox-panel.ts';
import { addDays } from '../../../src/core/clock.ts';
import type { PanelUserPatch, PanelUserStatus, VpnPanelPort } from '../../../src/domain/provisioning/ports.ts';
import { aDraft, START, startPanel } from '../../support/panel-setup.ts';

const LIMIT = 1000;
const LATER = addDays(START, 90);

interface Started {
  adapter: VpnPanelPort;
  panel: SandboxPanel;
  clock: { move(ms: number): void };
}

/** A user in a state, as the panel itself reaches it. */
async function aUserIn(state: PanelUserStatus, { adapter, panel, clock }: Started): Promise<string> {
  const { uuid } = await adapter.createUser(aDraft({ trafficLimitBytes: LIMIT, expireAt: addDays(START, 1) }));
  if (state === 'LIMITED') panel.addTraffic(panel.listUsers()[0]!.uuid, LIMIT + 500);
  if (state === 'DISABLED') await adapter.disableUser(uuid);
  if (state === 'EXPIRED') clock.move(addDays(START, 2).getTime() - START.getTime());
  expect(await adapter.findByUuid(uuid)).toMatchObject({ status: state });
  return uuid;
}

type Call = (adapter: VpnPanelPort, uuid: string) => Promise<unknown>;
const patch = (fields: Omit<PanelUserPatch, 'uuid'>) => (adapter: VpnPanelPort, uuid: string) =>
  adapter.updateUser({ uuid, ...fields });

/** What each call leaves of a user who was ACTIVE, LIMITED, EXPIRED, DISABLED. */
const TABLE: [string, Call, PanelUserStatus, PanelUserStatus, PanelUserStatus, PanelUserStatus][] = [
  ['PATCH status ACTIVE', patch({ status: 'ACTIVE' }), 'ACTIVE', 'LIMITED', 'EXPIRED', 'ACTIVE'],
  ['PATCH status DISABLED', patch({ status: 'DISABLED' }), 'DISABLED', 'LIMITED', 'EXPIRED', 'DISABLED'],
  ['PATCH without a status', patch({ deviceLimit: 7 }), 'ACTIVE', 'LIMITED', 'EXPIRED', 'DISABLED'],
  ['PATCH of a later end', patch({ expireAt: LATER }), 'ACTIVE', 'LIMITED', 'ACTIVE', 'DISABLED'],
  ['the same with DISABLED', patch({ expireAt: LATER, status: 'DISABLED' }), 'DISABLED', 'LIMITED', 'EXPIRED', 'DISABLED'],
  ['PATCH of a raised limit', patch({ trafficLimitBytes: 9 * LIMIT }), 'ACTIVE', 'ACTIVE', 'EXPIRED', 'DISABLED'],
  ['PATCH of no limit', patch({ trafficLimitBytes: 0 }), 'ACTIVE', 'ACTIVE', 'EXPIRED', 'DISABLED'],
  ['the same with DISABLED', patch({ trafficLimitBytes: 0, status: 'DISABLED' }), 'DISABLED', 'ACTIVE', 'EXPIRED', 'DISABLED'],
  ['a limit still used up', patch({ trafficLimitBytes: LIMIT + 1 }), 'ACTIVE', 'LIMITED', 'EXPIRED', 'DISABLED'],
  ['enable', (adapter, uuid) => adapter.enableUser(uuid), 'ACTIVE', 'LIMITED', 'EXPIRED', 'ACTIVE'],
  ['disable', (adapter, uuid) => adapter.disableUser(uuid), 'DISABLED', 'DISABLED', 'DISABLED', 'DISABLED'],
  ['reset-traffic', (adapter, uuid) => adapter.resetTraffic(uuid), 'ACTIVE', 'ACTIVE', 'EXPIRED', 'DISABLED'],
];

const CASES = TABLE.flatMap(([name, call, active, limited, expired, disabled]) => [
  { name, call, from: 'ACTIVE' as const, to: active },
  { name, call, from: 'LIMITED' as const, to: limited },
  { name, call, from: 'EXPIRED' as const, to: expired },
  { name, call, from: 'DISABLED' as const, to: disabled },
]);

describe.each(['uuid', 'number'] as const)('08 P1: states of a user of the fake panel, %s generation', (generation) => {
  it.each(CASES)('$name: $from becomes $to', async ({ call, from, to }) => {
    const started = await startPanel({ generation });
    const uuid = await aUserIn(from, started);
    await call(started.adapter, uuid);
    expect(await started.adapter.findByUuid(uuid)).toMatchObject({ status: to });
  });
});
