/** Values of events that the panel's own schema refuses, or that the database cannot hold. */
import { expect, it } from 'vitest';
import { aProvisioned, deliver, PANEL_WEBHOOK_ON, panelBody, userData } from '../../support/panel-events.ts';
import { GB, readRow, withPanel } from '../../support/provisioning-setup.ts';

it.each([
  { expireAt: '9999-12-31T23:59:59-14:00' },
  { expireAt: '0000-01-01T00:00:00Z' },
  { expireAt: '0001-01-01T00:00:00+14:00' },
  { shortUuid: 7 },
  { hwidDeviceLimit: 1e308 },
  { userTraffic: { usedTrafficBytes: -1 } },
  { status: 'constructor' },
])('%o is left out, and the rest of the event applies', async (changes) => {
  const t = await withPanel({ environment: PANEL_WEBHOOK_ON });
  const sub = await aProvisioned(t);
  const { endDate } = await readRow(t.app, sub.id);
  const data = userData(sub.panelUser, { ...changes, trafficLimitBytes: 50 * GB });
  expect(await deliver(t.app, panelBody('user.modified', t.clock.now(), data))).toEqual(['applied']);
  expect(await readRow(t.app, sub.id)).toMatchObject({ endDate, status: 'active', trafficLimitGb: 50, trafficUsedGb: 0 });
});
