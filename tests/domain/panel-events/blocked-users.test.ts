/** Events of the panel about users who are blocked or deleted (spec 08 P15): their access stays ended, their term stays theirs. */
import { describe, expect, it } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import { SECOND_MS } from '../../../src/core/clock.ts';
import { refreshSubscription } from '../../../src/domain/panel-events/process-event.ts';
import { changeUserStatus } from '../../../src/domain/users/account/change-account.ts';
import { resetSubscription } from '../../../src/domain/users/removal.ts';
import { anAdmin } from '../../support/admins.ts';
import { aProvisioned, deliver, PANEL_WEBHOOK_ON, type Provisioned, panelBody, userData } from '../../support/panel-events.ts';
import { runPanelJobs } from '../../support/panel-jobs.ts';
import { GB, type ProvisioningTest, readRow, withPanel } from '../../support/provisioning-setup.ts';

interface BlockedCustomer {
  t: ProvisioningTest;
  admin: AdminActor;
  sub: Provisioned;
}

/** A customer with a paid term, blocked or marked as deleted here, and disabled at the panel. */
async function aBlockedCustomer(status: 'blocked' | 'deleted' = 'blocked'): Promise<BlockedCustomer> {
  const t = await withPanel({ environment: PANEL_WEBHOOK_ON });
  const admin = await anAdmin(t.app);
  const sub = await aProvisioned(t);
  await changeUserStatus(t.app, admin, sub.user.id, status, null);
  await runPanelJobs(t.app);
  return { t, admin, sub };
}

/** Reports the panel user as the panel has it now, `lateMs` after our last change. */
async function report({ t, sub }: BlockedCustomer, event: string, lateMs: number): Promise<string[]> {
  const panelUser = (await t.adapter.findByUuid(sub.panelUser.uuid))!;
  return deliver(t.app, panelBody(event, new Date(t.clock.now().getTime() + lateMs), userData(panelUser)));
}

const atPanel = async ({ t, sub }: BlockedCustomer) => (await t.adapter.findByUuid(sub.panelUser.uuid))!;

async function expectAccessAfterUnblocking({ t, admin, sub }: BlockedCustomer): Promise<void> {
  t.clock.advance(120 * SECOND_MS);
  await changeUserStatus(t.app, admin, sub.user.id, 'active', null);
  await runPanelJobs(t.app);
  const { endDate } = await readRow(t.app, sub.id);
  expect(endDate).toEqual(sub.panelUser.expireAt);
  expect(await t.adapter.findByUuid(sub.panelUser.uuid)).toMatchObject({ status: 'ACTIVE', expireAt: endDate });
}

describe.each(['blocked', 'deleted'] as const)('08 P15: events about a %s user', (status) => {
  it.each([
    ['user.disabled', -SECOND_MS],
    ['user.disabled', 2 * SECOND_MS],
    ['user.modified', 2 * SECOND_MS],
    ['user.expired', 2 * SECOND_MS],
    ['user.limited', 2 * SECOND_MS],
  ] as const)(
    '%s, which our own change has caused, %i ms after it: the term stays, and unblocking returns it',
    async (event, late) => {
      const customer = await aBlockedCustomer(status);
      const { t, sub } = customer;
      const before = await readRow(t.app, sub.id);
      await report(customer, event, late);
      t.clock.advance(66 * SECOND_MS);
      await refreshSubscription(t.app, { userId: sub.user.id });
      const { status: statusNow, endDate } = await readRow(t.app, sub.id);
      expect({ statusNow, endDate }).toEqual({ statusNow: before.status, endDate: before.endDate });
      await expectAccessAfterUnblocking(customer);
    },
  );

  it.each(['user.enabled', 'user.modified', 'user.traffic_reset'])(
    '%s with access at the panel: it is disabled again',
    async (event) => {
      const customer = await aBlockedCustomer(status);
      const { t, sub } = customer;
      t.clock.advance(120 * SECOND_MS);
      await t.adapter.updateUser({ uuid: sub.panelUser.uuid, expireAt: sub.panelUser.expireAt });
      await t.adapter.enableUser(sub.panelUser.uuid);
      expect((await atPanel(customer)).status).toBe('ACTIVE');
      expect(await report(customer, event, 0)).toEqual(['pushed_again']);
      await runPanelJobs(t.app);
      expect((await atPanel(customer)).status).toBe('DISABLED');
      // What this push causes is reported as well, and is the end of it.
      expect(await report(customer, 'user.modified', 2 * SECOND_MS)).not.toContain('pushed_again');
      await expectAccessAfterUnblocking(customer);
    },
  );

  it('user.enabled without a subscription here: it is disabled again', async () => {
    const customer = await aBlockedCustomer(status);
    const { t, admin, sub } = customer;
    await resetSubscription(t.app, admin, sub.user.id, { disablesInPanel: false, reason: null });
    t.clock.advance(120 * SECOND_MS);
    await t.adapter.updateUser({ uuid: sub.panelUser.uuid, expireAt: sub.panelUser.expireAt });
    await t.adapter.enableUser(sub.panelUser.uuid);
    expect(await report(customer, 'user.enabled', 0)).toEqual(['removed_again']);
    await runPanelJobs(t.app);
    expect((await atPanel(customer)).status).toBe('DISABLED');
    expect(await report(customer, 'user.disabled', SECOND_MS)).toEqual(['no_subscription']);
  });

  it('user.limited: access that the next traffic reset would open is ended', async () => {
    const customer = await aBlockedCustomer(status);
    const { t, sub } = customer;
    t.clock.advance(120 * SECOND_MS);
    await t.adapter.updateUser({ uuid: sub.panelUser.uuid, expireAt: sub.panelUser.expireAt });
    await t.adapter.enableUser(sub.panelUser.uuid);
    t.panel.addTraffic(sub.panelUser.uuid, 101 * GB);
    expect((await atPanel(customer)).status).toBe('LIMITED');
    expect(await report(customer, 'user.limited', 0)).toEqual(['pushed_again']);
    await runPanelJobs(t.app);
    expect((await atPanel(customer)).status).toBe('DISABLED');
  });
});
