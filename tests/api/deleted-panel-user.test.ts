/** What clients are answered between the deletion of a panel user and the push that makes a new one (spec 06 section 12). */
import { expect, it, onTestFinished } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { refreshSubscription } from '../../src/domain/panel-events/process-event.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../src/domain/provisioning/request-provisioning.ts';
import { userClient } from '../support/actors.ts';
import { clientOf, testServer, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { deliver, PANEL_WEBHOOK_ON, panelBody, userData } from '../support/panel-events.ts';
import { aSubscription, readRow, withPanel } from '../support/provisioning-setup.ts';

async function aPushedOwner() {
  const t = await withPanel({ environment: PANEL_WEBHOOK_ON });
  const server = await testServer(t.app);
  onTestFinished(() => server.close());
  const api = await tokenClient(t.app, server);
  const owner = await userClient(t.app, server);
  const { id } = await aSubscription(t.app, { user: owner.user });
  await inTransaction(t.app, (tx) => requestProvisioning(tx, id));
  await pushSubscription(t.app, id);
  t.clock.advance(120_000);
  const { vpnpanelUuid } = await readRow(t.app, id);
  const panelUser = (await t.adapter.findByUuid(vpnpanelUuid!))!;
  const guest = clientOf(server);

  /** All answers that show the link, as one text. */
  async function shown(): Promise<string> {
    const replies = [
      await owner.get('/cabinet/subscription'),
      await owner.get('/cabinet/subscription/connection-link'),
      await owner.get('/cabinet/subscription/app-config'),
      await guest.post('/miniapp/subscription', { initData: initDataOf(t, owner.user) }),
      await api.get(`/subscriptions/${id}`),
      await api.get(`/subscriptions?user_id=${owner.user.id}`),
      await api.get(`/users/${owner.user.id}`),
    ];
    return JSON.stringify(replies.map(({ status, body }) => [status, body]));
  }
  const deleteAtPanel = () => t.adapter.deleteUser(panelUser.uuid);
  const report = () => deliver(t.app, panelBody('user.deleted', t.clock.now(), userData(panelUser)));
  const links = [panelUser.subscriptionUrl, panelUser.shortUuid, panelUser.uuid];
  return { t, id, owner, shown, deleteAtPanel, report, links };
}

type Owner = Awaited<ReturnType<typeof aPushedOwner>>;

async function expectNoLink({ shown, links }: Owner): Promise<void> {
  const text = await shown();
  for (const link of links) expect(text).not.toContain(link);
}

it('06 12: after user.deleted with paid time left no answer gives the dead link, and after the push all give the new one', async () => {
  const of = await aPushedOwner();
  expect(await of.shown()).toContain(of.links[0]);
  await of.deleteAtPanel();
  expect(await of.report()).toEqual(['recreated']);
  await expectNoLink(of);
  const { body } = await of.owner.get('/cabinet/subscription');
  expect(body.subscription).toMatchObject({ is_active: true, subscription_url: null });
  expect(await pushSubscription(of.t.app, of.id)).toBe('synced');
  const row = await readRow(of.t.app, of.id);
  expect(row.subscriptionUrl).toMatch(/^http/);
  expect(await of.shown()).toContain(row.subscriptionUrl);
  await expectNoLink(of);
});

it('06 12: the same while a push was waiting already, and while the panel is away for that push', async () => {
  const of = await aPushedOwner();
  await inTransaction(of.t.app, (tx) => requestProvisioning(tx, of.id));
  of.t.clock.advance(1_000);
  await of.deleteAtPanel();
  expect(await of.report()).toEqual(['older_than_push']);
  await expectNoLink(of);
  expect(await pushSubscription(of.t.app, of.id)).toBe('synced');
  expect((await readRow(of.t.app, of.id)).subscriptionUrl).toMatch(/^http/);
});

it('06 12: a late event about an earlier panel user leaves the new link', async () => {
  const of = await aPushedOwner();
  const happenedAt = of.t.clock.now();
  await of.deleteAtPanel();
  of.t.clock.advance(1_000);
  await inTransaction(of.t.app, (tx) => requestProvisioning(tx, of.id));
  await pushSubscription(of.t.app, of.id);
  const before = await readRow(of.t.app, of.id);
  of.t.clock.advance(120_000);
  const panelUser = (await of.t.adapter.findByUuid(before.vpnpanelUuid!))!;
  const former = { uuid: undefined, id: 17, shortUuid: undefined, subscriptionUrl: of.links[0] };
  await deliver(of.t.app, panelBody('user.deleted', happenedAt, userData(panelUser, former)));
  expect(await readRow(of.t.app, of.id)).toEqual(before);
});

it('06 12: a reading of the panel that finds the user absent removes the link before the push', async () => {
  const of = await aPushedOwner();
  await of.deleteAtPanel();
  await refreshSubscription(of.t.app, { userId: of.owner.user.id });
  expect((await readRow(of.t.app, of.id)).provisionState).toBe('pending');
  await expectNoLink(of);
});
