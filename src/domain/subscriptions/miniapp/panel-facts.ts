import type { App } from '../../../core/app.ts';
import type { PanelDevice, PanelSubscriptionInfo } from '../../provisioning/panel-objects.ts';
import type { PanelUser } from '../../provisioning/ports.ts';

const BYTES_PER_GB = 1024 ** 3;

/** What the panel says of a user; null and empty where it did not answer. */
export interface PanelFacts {
  user: PanelUser | null;
  info: PanelSubscriptionInfo | null;
  devices: PanelDevice[];
}

export const NO_PANEL_FACTS: PanelFacts = { user: null, info: null, devices: [] };

/** Asks the panel, all calls at once and outside of any transaction. A call that fails leaves its part out (spec 02 section 12.3). */
export async function readPanelFacts(app: App, panelUuid: string | null, shortUuid: string | null): Promise<PanelFacts> {
  const { panel } = app.ports;
  if (panel.configurationError() !== null) return NO_PANEL_FACTS;
  const orElse = async <T>(call: Promise<T> | null, fallback: T): Promise<T> => {
    try {
      return call === null ? fallback : await call;
    } catch (error) {
      app.log.warn({ err: error }, 'the panel did not answer a mini-app');
      return fallback;
    }
  };
  const [user, info, devices] = await Promise.all([
    orElse(panelUuid === null ? null : panel.findByUuid(panelUuid), null),
    orElse(shortUuid === null ? null : panel.getSubscriptionInfo(shortUuid), null),
    orElse(panelUuid === null ? null : panel.listDevices(panelUuid), []),
  ]);
  return { user, info, devices };
}

/** Bytes of the panel as GB (base 1024). */
export const gigabytesOf = (bytes: number): number => bytes / BYTES_PER_GB;
