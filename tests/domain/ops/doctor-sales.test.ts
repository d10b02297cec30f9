import { beforeEach, describe, expect, it } from 'vitest';
import { checkSales, readSaleFacts } from '../../../src/cli/doctor/finding.ts';
import { checkPanel } from '../../../src/cli/doctor/outside-checks.ts';
import { syncServersOnce } from '../../../src/domain/catalog/server-sync.ts';
import {
  GERMANY,
  NETHERLANDS,
  PARTNERS,
  type ProvisioningTest,
  unconfigured,
  withPanel,
  withPort,
} from '../../support/provisioning-setup.ts';
import { aTariff } from '../../support/sale-samples.ts';

const UNKNOWN = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';

let t: ProvisioningTest;
beforeEach(async () => {
  t = await withPanel({ environment: { SALES_MODE: 'tariffs', TRIAL_DURATION_DAYS: '3' } });
  for (const table of ['subscriptions', 'tariffs', 'server_squads']) await t.app.db.sql(`DELETE FROM ${table}`);
});

/** What doctor says under each name. */
async function doctor(app = t.app) {
  const sales = await readSaleFacts(t.app);
  const findings = [...checkSales(sales), ...(await checkPanel({ ports: app.ports, sales }))];
  return new Map(findings.map((finding) => [finding.check, finding]));
}

describe('08 P5: doctor about what is sold', () => {
  it('finds nothing after the first synchronisation of an installation', async () => {
    await syncServersOnce(t.app);
    await aTariff(t.app, { allowed_squads: [] });
    const found = await doctor();
    for (const check of ['tariffs', 'trial', 'panel', 'panel version', 'panel squads']) {
      expect(found.get(check), check).toMatchObject({ verdict: 'ok' });
    }
  });

  it('a tariff and a trial without servers', async () => {
    await syncServersOnce(t.app);
    await aTariff(t.app, { name: 'Empty', allowed_squads: [] });
    await aTariff(t.app, { name: 'Off', allowed_squads: [], is_active: false });
    await aTariff(t.app, { name: 'Named', allowed_squads: [GERMANY] });
    await t.app.db.sql('UPDATE server_squads SET is_available = false, is_trial_eligible = false');
    const found = await doctor();
    expect(found.get('tariffs')).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/: Empty$/) });
    expect(found.get('trial')).toMatchObject({ verdict: 'problem', detail: 'gives no server' });
    await t.app.db.sql('UPDATE server_squads SET is_trial_eligible = true WHERE squad_uuid = $1', [NETHERLANDS]);
    expect((await doctor()).get('trial')).toMatchObject({ verdict: 'ok' });
  });

  it('only warns before the squads of the panel were read for the first time', async () => {
    await aTariff(t.app, { name: 'Empty', allowed_squads: [] });
    const found = await doctor();
    expect([found.get('tariffs')?.verdict, found.get('trial')?.verdict]).toEqual(['warning', 'warning']);
  });

  it('squads that nobody can use', async () => {
    await syncServersOnce(t.app);
    await t.app.db.sql('UPDATE server_squads SET is_available = false, is_trial_eligible = false WHERE squad_uuid = $1', [
      GERMANY,
    ]);
    await aTariff(t.app, { allowed_squads: [] });
    expect((await doctor()).get('panel squads')).toMatchObject({ verdict: 'warning', detail: 'nobody can use: Germany' });
    await aTariff(t.app, { allowed_squads: [GERMANY] });
    expect((await doctor()).get('panel squads')).toMatchObject({ verdict: 'ok' });
  });

  it('external squads of tariffs that the panel does not have', async () => {
    await aTariff(t.app, { name: 'Good', external_squad_uuid: PARTNERS });
    expect((await doctor()).get('external squads')).toMatchObject({ verdict: 'ok' });
    await aTariff(t.app, { name: 'Stale', external_squad_uuid: UNKNOWN });
    expect((await doctor()).get('external squads')).toMatchObject({
      verdict: 'warning',
      detail: `the panel does not have those of: Stale (${UNKNOWN})`,
    });
  });
});

describe('doctor about the panel', () => {
  it('a wrong key', async () => {
    t.panel.faults.set({ status: 401 });
    expect((await doctor()).get('panel')).toMatchObject({
      verdict: 'problem',
      detail: 'VPN panel refused the credentials',
      next: expect.stringContaining('VPNPANEL_API_KEY'),
    });
  });

  it('a missing address, and a panel that does not answer', async () => {
    expect((await doctor(unconfigured(t.app))).get('panel')).toMatchObject({
      verdict: 'problem',
      detail: expect.stringContaining('not set'),
    });
    t.panel.faults.set({ timeoutAfterEffect: true });
    expect((await doctor()).get('panel')).toMatchObject({
      verdict: 'problem',
      next: expect.stringContaining('VPNPANEL_API_URL'),
    });
  });

  it('a version that it does not know', async () => {
    const withVersion = (version: string | null) => withPort(t.app, { ...t.adapter, readVersion: async () => version });
    for (const version of ['2.7.4', '3.3.2', 'v3.0']) {
      expect((await doctor(withVersion(version))).get('panel version'), version).toMatchObject({
        verdict: 'ok',
        detail: version,
      });
    }
    for (const version of ['4.0.0', '1.9', 'latest', null]) {
      const found = (await doctor(withVersion(version))).get('panel version');
      expect(found, String(version)).toMatchObject({
        verdict: 'warning',
        detail: expect.stringContaining('known are 2.x and 3.x'),
      });
    }
    expect(await t.adapter.readVersion()).toMatch(/^\d+\.\d+/);
  });
});
