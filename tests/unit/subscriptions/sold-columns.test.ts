import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { columnOf } from '../../../src/core/db/columns.ts';
import type { SubscriptionChanges } from '../../../src/domain/subscriptions/types.ts';

/** Every column that a rule may set; the compiler asks for a new one. */
const CHANGEABLE: Record<keyof SubscriptionChanges, true> = {
  status: true,
  isTrial: true,
  startDate: true,
  endDate: true,
  trafficLimitGb: true,
  trafficUsedGb: true,
  purchasedTrafficGb: true,
  trafficResetAt: true,
  deviceLimit: true,
  connectedSquads: true,
  tariffId: true,
  isDailyPaused: true,
  cancelEndedAutopay: true,
  cancelPausedDaily: true,
  lastDailyChargeAt: true,
  subscriptionUrl: true,
  subscriptionCryptoLink: true,
  vpnpanelShortUuid: true,
  autopayEnabled: true,
  autopayDaysBefore: true,
};

it('a sale writes every column that a rule may set', () => {
  const sql = readFileSync(join(import.meta.dirname, '..', '..', '..', 'prisma', 'sql', 'sales.sql'), 'utf8');
  const written = [...sql.matchAll(/(\w+) = v_new\.\1\b/g)].map(([, column]) => column);
  const wanted = (Object.keys(CHANGEABLE) as (keyof SubscriptionChanges)[]).map((field) => columnOf('Subscription', field));
  expect(wanted.filter((column) => !written.includes(column))).toEqual([]);
});
