import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { isPanelError, type PanelError } from './ports.ts';

const panelUnavailable = refusal('panel_unavailable', 502, 'VPN panel did not answer');

/** @throws AppError 503 naming the missing settings (spec 06 section 11) */
export function requirePanel(app: App): void {
  const problem = app.ports.panel.configurationError();
  if (problem !== null) throw notConfigured(problem);
}

export const notConfigured = refusal(
  'panel_not_configured',
  503,
  'VPNPANEL_API_URL and VPNPANEL_API_KEY are not set',
  (problem: string) => ({ detail: problem || 'VpnPanel API not configured' }),
);
export const PANEL_READ_REFUSALS = [notConfigured, panelUnavailable];

/**
 * Calls a configured panel and returns its failure.
 * @throws AppError 503 naming the missing settings, and every error that is not the panel's
 */
async function ask<T>(app: App, run: () => Promise<T>): Promise<{ value: T } | { failure: PanelError }> {
  requirePanel(app);
  try {
    return { value: await run() };
  } catch (error) {
    if (!isPanelError(error)) throw error;
    if (error.kind === 'not_configured') throw notConfigured(error.message);
    return { failure: error };
  }
}

/**
 * Reads one object or a list. A panel that gives no usable answer is 502 with the reason, never an absent object or an empty list
 * (08 P10).
 * @param failure text of the 502; without one the panel's error message
 * @throws AppError 503 naming the missing settings, 502
 */
export async function readOfPanel<T>(app: App, read: () => Promise<T>, failure?: string): Promise<T> {
  const answer = await ask(app, read);
  if ('value' in answer) return answer.value;
  throw panelUnavailable({ detail: failure ?? answer.failure.message, cause: answer.failure });
}

/**
 * Reads something that a page shows beside its subject and that only some versions of the panel have: a route that the panel does not
 * have is logged as an error and gives null, any other failure is 502 (08 P6, P10).
 * @param what is read, for the log
 * @throws AppError 503 naming the missing settings, 502
 */
export async function readPartOfPanel<T>(app: App, what: string, read: () => Promise<T>): Promise<T | null> {
  const answer = await ask(app, read);
  if ('value' in answer) return answer.value;
  const { status, message } = answer.failure;
  if (status !== 404) throw panelUnavailable({ detail: message, cause: answer.failure });
  app.log.error({ what, status }, 'vpnpanel: the panel does not have the route of this value, the page is shown without it');
  return null;
}

/** Result of a change at the panel. `absent`: it has no such object. */
export type PanelOutcome<T> = { outcome: 'done'; value: T } | { outcome: 'absent' } | { outcome: 'failed'; reason: string };

/**
 * Changes something at the panel. A failure is returned, since the two areas answer it differently.
 * @param run returns null for an object that the panel does not have
 * @throws AppError 503 naming the missing settings
 */
export async function askPanel<T>(app: App, run: () => Promise<T | null>): Promise<PanelOutcome<T>> {
  const answer = await ask(app, run);
  if ('value' in answer) return answer.value === null ? { outcome: 'absent' } : { outcome: 'done', value: answer.value };
  const { kind, status, errorCode, message } = answer.failure;
  app.log.warn({ kind, status, errorCode }, 'vpnpanel: a change was not made');
  return { outcome: 'failed', reason: message };
}
