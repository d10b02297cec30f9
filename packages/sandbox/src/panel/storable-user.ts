import type { PanelErrorEntry } from './panel-errors.ts';
import { PanelRefusal } from './panel-route.ts';
import type { PanelState } from './panel-state.ts';

/** Above the 64-bit integers of the panel's database. */
const BIGINT_LIMIT = 2 ** 63;
const INT_LIMIT = 2 ** 31;

interface StoredFields {
  activeInternalSquads?: readonly string[];
  externalSquadUuid?: string | null;
  telegramId?: number | null;
  trafficLimitBytes?: number;
  hwidDeviceLimit?: number | null;
}

/**
 * Refuses what passes the panel's schema but not its database: squads that do not exist and numbers that do not fit. The panel
 * answers these with status 500 and the general code of the operation, whatever the cause (08 P3, P4).
 *
 * @param failure that code: A018 for a creation, A039 for a change, A088 for a change of many
 * @throws PanelRefusal
 */
export function checkStorable(state: PanelState, fields: StoredFields, failure: PanelErrorEntry): void {
  const { internalSquads, externalSquads } = state.meta;
  const external = fields.externalSquadUuid;
  const isStorable =
    (external == null || externalSquads.some(({ uuid }) => uuid === external)) &&
    (fields.activeInternalSquads ?? []).every((wanted) => internalSquads.some(({ uuid }) => uuid === wanted)) &&
    isInteger(fields.telegramId, BIGINT_LIMIT) &&
    isInteger(fields.trafficLimitBytes, BIGINT_LIMIT) &&
    isInteger(fields.hwidDeviceLimit, INT_LIMIT);
  if (!isStorable) throw new PanelRefusal(failure);
}

function isInteger(value: number | null | undefined, limit: number): boolean {
  return value == null || (Number.isInteger(value) && Math.abs(value) < limit);
}
