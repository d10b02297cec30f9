import { describe, expect, it } from 'vitest';
import {
  applyCheck,
  type MaintenanceChange,
  type MaintenanceState,
  NO_MAINTENANCE,
  type PanelCheck,
} from '../../../src/domain/safety/maintenance.ts';

const now = new Date('2026-03-01T10:00:00Z');

function watch(checks: PanelCheck[], options: { mayStart?: boolean; from?: MaintenanceState } = {}) {
  let state = options.from ?? NO_MAINTENANCE;
  const changes: MaintenanceChange[][] = [];
  for (const check of checks) {
    const next = applyCheck(state, check, { mayStart: options.mayStart ?? true, now });
    state = next.state;
    changes.push(next.changes);
  }
  return { state, changes };
}

describe('the checks of the panel', () => {
  it('starts maintenance with the third failure in a row and ends it with the first success', () => {
    const down = watch(['down', 'down', 'down', 'down']);
    expect(down.changes).toEqual([['panel_down'], [], ['maintenance_on'], []]);
    expect(down.state).toMatchObject({ isActive: true, isAuto: true, failures: 4, panel: 'down', reason: 'panel_unavailable' });
    const up = watch(['up'], { from: down.state });
    expect(up.changes).toEqual([['panel_up', 'maintenance_off']]);
    expect(up.state).toMatchObject({ isActive: false, isAuto: false, failures: 0, panel: 'up', reason: null, since: null });
  });

  it('counts failures in a row only', () => {
    expect(watch(['down', 'down', 'up', 'down', 'down']).state).toMatchObject({ isActive: false, failures: 2 });
  });

  it('does not start by itself when it must not, but reports the failure', () => {
    const { state, changes } = watch(['down', 'down', 'down'], { mayStart: false });
    expect(state.isActive).toBe(false);
    expect(changes).toEqual([['panel_down'], [], []]);
  });

  it('never ends a maintenance that was switched on by hand', () => {
    const byHand: MaintenanceState = { ...NO_MAINTENANCE, isActive: true, reason: 'move', since: now.toISOString() };
    expect(watch(['down', 'down', 'down', 'down', 'up'], { from: byHand }).state).toMatchObject({
      isActive: true,
      isAuto: false,
      reason: 'move',
    });
  });

  it('does not count a panel that is not configured as a failure', () => {
    expect(watch(['unconfigured', 'unconfigured', 'unconfigured', 'unconfigured']).state).toMatchObject({
      isActive: false,
      failures: 0,
      panel: 'down',
    });
  });
});
