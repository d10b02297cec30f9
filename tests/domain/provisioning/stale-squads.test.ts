import { describe, expect, it } from 'vitest';
import { checkProvisioning } from '../../../src/cli/doctor/content-checks.ts';
import type { App } from '../../../src/core/app.ts';
import type { Rows } from '../../../src/core/db/columns.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { PanelError, type PanelUserDraft, type PanelUserPatch } from '../../../src/domain/provisioning/ports.ts';
import { listStaleExternalSquads, pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import {
  aSubscription,
  GERMANY,
  jobsOf,
  NETHERLANDS,
  PARTNERS,
  type ProvisioningTest,
  readRow,
  withPanel,
  withPort,
} from '../../support/provisioning-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';

const GONE = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
const CHAT = { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: '-100500' };

async function aTariff(app: App, externalSquad: string | null, mode: Rows['Tariff']['trafficResetMode'] = null): Promise<number> {
  const row = await storeRow(app, 'Tariff', { name: 'Pro', externalSquadUuid: externalSquad, trafficResetMode: mode });
  return row.id;
}

async function pushNow(t: ProvisioningTest, id: number, app = t.app) {
  await inTransaction(app, (inner) => requestProvisioning(inner, id));
  expect(await pushSubscription(app, id)).toBe('synced');
  const row = await readRow(t.app, id);
  return (await t.adapter.findByUuid(row.vpnpanelUuid!))!;
}

/** The app on a panel that refuses unknown squads with this code, as the measured one does. */
function refusing(t: ProvisioningTest, errorCode: string): App {
  const check = (sent: Pick<PanelUserDraft | PanelUserPatch, 'squadUuids' | 'externalSquadUuid'>) => {
    const names = [...(sent.squadUuids ?? []), sent.externalSquadUuid];
    if (names.includes(GONE)) throw new PanelError('unavailable', 'VPN panel: Failed', { errorCode, status: 500 });
  };
  return withPort(t.app, {
    ...t.adapter,
    createUser: async (draft) => {
      check(draft);
      return t.adapter.createUser(draft);
    },
    updateUser: async (patch) => {
      check(patch);
      return t.adapter.updateUser(patch);
    },
  });
}

const noticesOf = async (app: App) =>
  (await jobsOf(app, 'messenger.send')).map(({ data }) => JSON.stringify(data)).filter((text) => text.includes('-100500'));

describe('08 P3: squads that the panel no longer has', () => {
  it.each(['A018', 'A039', 'A088', 'A777'])(
    'a first purchase with a stale external squad, refused with %s, is provisioned',
    async (code) => {
      const t = await withPanel({ environment: CHAT });
      const tariffId = await aTariff(t.app, GONE);
      const { id } = await aSubscription(t.app, { tariffId, squads: [NETHERLANDS, GERMANY] });
      const made = await pushNow(t, id, refusing(t, code));
      expect(made).toMatchObject({ status: 'ACTIVE', externalSquadUuid: null });
      expect(made.squads).toHaveLength(2);
      expect(t.panel.listUsers()).toHaveLength(1);
      expect(await listStaleExternalSquads(t.app.db, tariffId)).toEqual([{ tariffId, tariffName: 'Pro', squadUuid: GONE }]);
    },
  );

  it('also as the fake of the measured panel refuses it', async () => {
    const t = await withPanel();
    const tariffId = await aTariff(t.app, GONE);
    const { id } = await aSubscription(t.app, { tariffId });
    expect(await pushNow(t, id)).toMatchObject({ status: 'ACTIVE', externalSquadUuid: null });
    expect(t.panel.listUsers()).toHaveLength(1);
    expect(await listStaleExternalSquads(t.app.db, tariffId)).toHaveLength(1);
  });

  it('both kinds at once are left out, and the rest is sent', async () => {
    const t = await withPanel();
    const tariffId = await aTariff(t.app, GONE);
    const { id } = await aSubscription(t.app, { tariffId, squads: [NETHERLANDS, GONE] });
    expect(await pushNow(t, id, refusing(t, 'A018'))).toMatchObject({ squads: [{ uuid: NETHERLANDS }], externalSquadUuid: null });
  });

  it('a stale internal squad does not cost the external one', async () => {
    const t = await withPanel();
    const tariffId = await aTariff(t.app, PARTNERS);
    const { id } = await aSubscription(t.app, { tariffId, squads: [NETHERLANDS, GONE] });
    const made = await pushNow(t, id, refusing(t, 'A018'));
    expect(made).toMatchObject({ squads: [{ uuid: NETHERLANDS }], externalSquadUuid: PARTNERS });
    expect(await listStaleExternalSquads(t.app.db, tariffId)).toEqual([]);
  });

  it('a renewal with one is sent, and the former external squad ends', async () => {
    const t = await withPanel();
    const { id } = await aSubscription(t.app, { tariffId: await aTariff(t.app, PARTNERS) });
    expect(await pushNow(t, id)).toMatchObject({ externalSquadUuid: PARTNERS });
    const stale = await aTariff(t.app, GONE);
    await t.app.db.sql('UPDATE subscriptions SET tariff_id = $2::int, device_limit = 9 WHERE id = $1::int', [id, stale]);
    expect(await pushNow(t, id, refusing(t, 'A039'))).toMatchObject({ externalSquadUuid: null, deviceLimit: 9 });
  });

  it('administrators get one notice for a tariff and squad, and the record ends when the tariff is corrected', async () => {
    const t = await withPanel({ environment: CHAT });
    const before = (await noticesOf(t.app)).length;
    const tariffId = await aTariff(t.app, GONE);
    for (let count = 0; count < 3; count++) {
      await pushNow(t, (await aSubscription(t.app, { tariffId })).id, refusing(t, 'A018'));
    }
    const notices = await noticesOf(t.app);
    expect(notices).toHaveLength(before + 1);
    expect(notices.at(-1)).toContain(GONE);
    const finding = async () => (await checkProvisioning(t.database)).find(({ check }) => check === 'external squads');
    expect(await finding()).toMatchObject({
      verdict: 'warning',
      detail: expect.stringContaining(`tariff ${tariffId} "Pro": ${GONE}`),
    });
    await t.app.db.sql('UPDATE tariffs SET external_squad_uuid = $2::uuid WHERE id = $1::int', [tariffId, PARTNERS]);
    expect(await listStaleExternalSquads(t.app.db, tariffId)).toEqual([]);
  });

  it('a refusal for another reason is repeated as it is', async () => {
    const t = await withPanel();
    const { id } = await aSubscription(t.app, { tariffId: await aTariff(t.app, PARTNERS) });
    await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
    const failing = withPort(t.app, {
      ...t.adapter,
      createUser: () => Promise.reject(new PanelError('unavailable', 'VPN panel: no', { errorCode: 'A018', status: 500 })),
    });
    await expect(pushSubscription(failing, id)).rejects.toMatchObject({ errorCode: 'A018' });
    expect(await pushNow(t, id)).toMatchObject({ externalSquadUuid: PARTNERS });
  });
});

describe('08 P9: the external squad', () => {
  it('ends with a switch to a tariff without one, and stays without a tariff', async () => {
    const t = await withPanel();
    const { id } = await aSubscription(t.app, { tariffId: await aTariff(t.app, PARTNERS) });
    expect(await pushNow(t, id)).toMatchObject({ externalSquadUuid: PARTNERS });
    await t.app.db.sql('UPDATE subscriptions SET tariff_id = NULL WHERE id = $1::int', [id]);
    expect(await pushNow(t, id)).toMatchObject({ externalSquadUuid: PARTNERS });
    await t.app.db.sql('UPDATE subscriptions SET tariff_id = $2::int WHERE id = $1::int', [id, await aTariff(t.app, null)]);
    expect(await pushNow(t, id)).toMatchObject({ externalSquadUuid: null });
  });
});

describe('08 P7: the traffic strategy', () => {
  it.each([
    [null, 'MONTH_ROLLING', 'MONTH_ROLLING'],
    [null, 'WEEK', 'MONTH'],
    ['MONTH_ROLLING', 'DAY', 'MONTH_ROLLING'],
    ['NO_RESET', 'MONTH_ROLLING', 'NO_RESET'],
  ] as const)('of tariff %s over %s at the panel is %s', async (mode, present, expected) => {
    const t = await withPanel();
    const { id } = await aSubscription(t.app, { tariffId: await aTariff(t.app, null, mode) });
    const { uuid } = await pushNow(t, id);
    expect(await t.adapter.updateUser({ uuid, trafficResetStrategy: present })).toMatchObject({ trafficResetStrategy: present });
    expect(await pushNow(t, id)).toMatchObject({ trafficResetStrategy: expected });
  });
});
