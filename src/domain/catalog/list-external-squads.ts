import type { App } from '../../core/app.ts';
import { isPanelFailure, panelUnavailable } from './server-sync.ts';

/**
 * External squads of the panel for the tariff form (spec 02 section 10); none while no panel is configured.
 * @throws AppError 502 with the reason when the panel returns no list (08 P10)
 */
export async function listExternalSquads(app: App): Promise<{ uuid: string; name: string; membersCount: number }[]> {
  if (app.ports.panel.configurationError() !== null) return [];
  return app.ports.panel.listExternalSquads().catch((error: unknown) => {
    if (!isPanelFailure(error)) throw error;
    throw panelUnavailable({ detail: error.message, cause: error });
  });
}
