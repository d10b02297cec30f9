/** How an event finds its user (spec 08 section 1). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryStore } from '../../../packages/sandbox/src/panel/panel-state.ts';
import { startSandboxPanel } from '../../../packages/sandbox/src/panel/sandbox-panel.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { aUser } from '../../support/builders.ts';
import { aProvisioned, deliver, PANEL_WEBHOOK_ON, type Provisioned, panelBody, userData } from '../../support/panel-events.ts';
import { connectionTo } from '../../support/panel-setup.ts';
import { createPlainHttpClient } from '../../support/plain-http-client.ts';
import { aSubscription, type ProvisioningTest, readRow, withPanel, withPort } from '../../support/provisioning-setup.ts';

const start = () => withPanel({ environment: PANEL_WEBHOOK_ON });
const stateOf = (t: ProvisioningTest, id: number) => readRow(t.app, id);
/** Sends an event about this panel user, as of now. */
const report = (t: ProvisioningTest, event: string, { panelUser }: Provisioned, changes: object = {}) =>
  deliver(t.app, panelBody(event, t.clock.now(), userData(panelUser, changes)));

describe('08 1: both generations find the user by what is there', () => {
  it('version 3: by the number alone', async () => {
    const t = await start();
    const panel = await startSandboxPanel({ state: createMemoryStore(), clock: t.clock, generation: 'number' });
    onTestFinished(() => panel.close());
    const adapter = createVpnPanelAdapter({ http: createPlainHttpClient({ retries: 0 }), connection: () => connectionTo(panel) });
    const sub = await aProvisioned({ ...t, panel, adapter, app: withPort(t.app, adapter) });
    const data = userData(sub.panelUser, { telegramId: null, shortUuid: undefined, email: null, status: 'LIMITED' });
    expect(data).not.toHaveProperty('uuid');
    expect(await deliver(t.app, panelBody('user.limited', t.clock.now(), data))).toEqual(['applied']);
    expect((await stateOf(t, sub.id)).status).toBe('limited');
  });

  it.each([
    ['uuid', { telegramId: null, shortUuid: undefined, email: null }],
    ['short uuid', { uuid: undefined, id: 4711, telegramId: null, email: null }],
    ['messenger id', { uuid: undefined, id: undefined, shortUuid: undefined, email: null }],
    ['confirmed e-mail', { uuid: undefined, id: undefined, shortUuid: undefined, telegramId: null }],
  ])('version 2: by %s', async (_name, changes) => {
    const t = await start();
    const user = await aUser(t.app, { email: `found-${t.clock.now().getTime()}-${Math.trunc(performance.now())}@example.com` });
    const sub = await aProvisioned(t, { user });
    expect(await report(t, 'user.limited', sub, { ...changes, status: 'LIMITED' })).toEqual(['applied']);
    expect((await stateOf(t, sub.id)).status).toBe('limited');
  });

  it("another person's messenger id on the linked panel user: nobody's", async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await aSubscription(t.app);
    expect(await report(t, 'user.disabled', sub, { telegramId: 1, status: 'DISABLED' })).toEqual(['unknown_user']);
  });
});
