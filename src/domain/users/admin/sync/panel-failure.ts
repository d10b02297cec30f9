import type { App } from '../../../../core/app.ts';
import { type AppError, refuse } from '../../../../core/errors.ts';
import { isPanelError } from '../../../provisioning/ports.ts';

/** @throws AppError 503 naming what is missing */
export function requirePanel(app: App): void {
  const problem = app.ports.panel.configurationError();
  if (problem !== null) throw refuse('panel_not_configured', 503, problem || 'VpnPanel API not configured');
}

/** Runs calls to the panel; what goes wrong there is a documented 500 (spec 01 section 11.3). @throws AppError 500 'Sync error: …' */
export async function callingPanel<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isPanelError(error)) throw syncError(error.message, error);
    throw error;
  }
}

export function syncError(text: string, cause?: unknown): AppError {
  return refuse('sync_error', 500, `Sync error: ${text}`, { cause });
}
