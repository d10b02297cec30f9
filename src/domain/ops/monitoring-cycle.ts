import type { App } from '../../core/app.ts';
import { HOUR_MS } from '../../core/clock.ts';
import { recordMonitoring } from '../monitoring/monitoring-log.ts';
import { isPanelError } from '../provisioning/ports.ts';
import { monitoringIntervalMs } from '../subscriptions/settings.ts';

/**
 * Job `ops.monitoring-cycle`: the end of a monitoring cycle in the monitoring log, before it in the first cycle of an hour the state of the
 * panel (spec 06 section 14). The steps of the cycle are jobs of their own modules with rows of their own.
 */
export async function recordCycle(app: App): Promise<void> {
  const now = app.clock.now();
  if (now.getTime() % HOUR_MS < monitoringIntervalMs(app)) await recordPanel(app);
  await recordMonitoring(app, 'monitoring_cycle_completed', { timestamp: now.toISOString() });
}

async function recordPanel(app: App): Promise<void> {
  const { panel } = app.ports;
  if (panel.configurationError() !== null) return;
  try {
    // The panel's object as it came may contain more than counters.
    const { raw: _raw, ...stats } = await panel.getSystemStats();
    await recordMonitoring(app, 'vpnpanel_sync', { stats });
  } catch (error) {
    if (!isPanelError(error)) throw error;
    await recordMonitoring(app, 'vpnpanel_sync_error', { error: error.message });
  }
}
