import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { refuse } from '../../../core/errors.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { effectiveSquadsOf, lockTariff } from '../../catalog/find-tariff.ts';
import { squadsOrFirstAvailable } from '../rules/replace.ts';
import type { Subscription } from '../types.ts';
import { insertManually } from './manual-changes.ts';
import type { ActionRequest } from './types.ts';

const DEFAULT_DAYS = 30;
const DEFAULT_TRAFFIC_GB = 100;
const DEFAULT_DEVICES = 1;

/**
 * Gives a locked user without subscription one, without charging: what the request says, else the tariff's terms, else 30 days,
 * 100 GB and one device (spec 01 section 11.2). Without a tariff it opens the first available server.
 * @throws AppError 404 'Tariff not found'
 */
export async function createSubscription(t: App, userId: number, request: ActionRequest): Promise<Subscription> {
  const tariff = request.tariffId === null ? null : await lockTariff(t, request.tariffId);
  if (request.tariffId !== null && !tariff) throw refuse('tariff_not_found', 404, 'Tariff not found');
  const now = t.clock.now();
  return insertManually(t, userId, {
    status: 'active',
    isTrial: request.isTrial ?? false,
    startDate: now,
    endDate: addDays(now, request.days ?? DEFAULT_DAYS),
    trafficLimitGb: request.trafficLimitGb ?? tariff?.trafficLimitGb ?? DEFAULT_TRAFFIC_GB,
    trafficUsedGb: 0,
    deviceLimit: request.deviceLimit ?? tariff?.deviceLimit ?? DEFAULT_DEVICES,
    connectedSquads: tariff ? await effectiveSquadsOf(t, tariff) : squadsOrFirstAvailable([], await listSquads(t)),
    tariffId: tariff?.id ?? null,
  });
}
