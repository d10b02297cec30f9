import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryStore } from '../../../packages/sandbox/src/panel/panel-state.ts';
import { startSandboxPanel } from '../../../packages/sandbox/src/panel/sandbox-panel.ts';
import { checkPanel } from '../../../src/cli/doctor/outside-checks.ts';
import { connectOutsideSystems } from '../../../src/composition/outside-systems.ts';
import type { App } from '../../../src/core/app.ts';
import { SECOND_MS } from '../../../src/core/clock.ts';
import { createMetrics } from '../../../src/core/metrics.ts';
import { syncServersOrFail } from '../../../src/domain/catalog/server-sync.ts';
import { listNodes } from '../../../src/domain/provisioning/nodes.ts';
import { listPanelSquads } from '../../../src/domain/provisioning/squads/squads.ts';
import { putSetting, resetSetting } from '../../../src/domain/settings/change-setting.ts';
import { aSubscription, type ProvisioningTest, withPort } from '../../support/provisioning-setup.ts';
import { run, startEmpty } from './panel-sync/setup.ts';

const editor = { kind: 'system' } as const;
const REFUSED = { status: 502, detail: 'VPN panel refused the credentials' };

/** The app with the adapters as the service connects them: the panel is the one of the settings. */
function asComposed({ app, clock }: ProvisioningTest): App {
  const metrics = createMetrics();
  const instance = {
    version: () => '',
    sandboxKinds: () => [],
    poolCounters: () => ({ size: 0, inUse: 0, waiting: 0 }),
    isReady: () => true,
    isStuck: () => false,
    clockSkewMs: () => 0,
  };
  const { env, settings, log } = app;
  const { panel, mail } = connectOutsideSystems({ env, db: app.db, settings, clock, log, metrics, sandbox: null, instance });
  onTestFinished(() => {
    metrics.close();
    mail.close();
  });
  return withPort(app, panel);
}

async function connectTo(app: App, url: string, key: string): Promise<void> {
  await putSetting(app, editor, 'VPNPANEL_API_URL', url);
  await putSetting(app, editor, 'VPNPANEL_API_KEY', key);
}

describe('the key or the address of the panel changes at run time', () => {
  it('reads, runs and doctor use the new ones without a restart', async () => {
    const t = await startEmpty();
    const app = asComposed(t);
    onTestFinished(async () => {
      for (const key of ['VPNPANEL_API_URL', 'VPNPANEL_API_KEY']) await resetSetting(t.app, editor, key);
    });
    await expect(listNodes(app)).rejects.toMatchObject({ status: 503 });

    await connectTo(app, t.panel.url, 'a-key-that-the-panel-does-not-know');
    await expect(listNodes(app)).rejects.toMatchObject(REFUSED);
    await expect(listPanelSquads(app)).rejects.toMatchObject(REFUSED);
    await expect(syncServersOrFail(app)).rejects.toMatchObject(REFUSED);
    await aSubscription(app);
    expect(await run(app, 'to_panel')).toMatchObject({ status: 'failed', error: REFUSED.detail });
    expect(await checkPanel({ ports: app.ports, sales: null })).toMatchObject([{ verdict: 'problem', detail: REFUSED.detail }]);

    await connectTo(app, t.panel.url, t.panel.apiKey);
    expect(await listNodes(app)).not.toEqual([]);
    expect((await syncServersOrFail(app)).total).toBe((await listPanelSquads(app)).length);
    t.clock.advance(SECOND_MS);
    expect(await run(app, 'to_panel')).toMatchObject({ status: 'completed', counts: { created: 1, errors: 0 } });
    expect(await checkPanel({ ports: app.ports, sales: null })).toMatchObject([{ verdict: 'ok' }, { verdict: 'ok' }]);

    const other = await startSandboxPanel({ state: createMemoryStore(), clock: t.clock });
    onTestFinished(() => other.close());
    await connectTo(app, other.url, other.apiKey);
    t.clock.advance(SECOND_MS);
    expect(await run(app, 'to_panel')).toMatchObject({ status: 'completed', counts: { created: 1, errors: 0 } });
    expect(other.listUsers()).toHaveLength(1);
  });
});
