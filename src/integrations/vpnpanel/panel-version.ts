import { isPanelError } from '../../domain/provisioning/ports.ts';
import { isRecord, type PanelTransport, panelPath } from './panel-transport.ts';

/** The panel's version; null for a panel that has no route for it or does not name one. */
export async function readPanelVersion(transport: PanelTransport): Promise<string | null> {
  try {
    const answer = await transport.call({ method: 'GET', path: panelPath('system', 'metadata'), idempotent: true });
    const version = answer.found && isRecord(answer.value) ? answer.value.version : null;
    return typeof version === 'string' && version.length <= 50 ? version : null;
  } catch (error) {
    if (isPanelError(error) && (error.status === 404 || error.status === 405 || error.status === 400)) return null;
    throw error;
  }
}
