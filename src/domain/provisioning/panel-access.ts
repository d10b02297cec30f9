import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { readState, writeStateIfChanged } from '../../core/service-state.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { isPanelError, PanelError, type PanelUser } from './ports.ts';

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
 * Reads one object or a list. A panel that returns no usable answer is 502 with the reason, never an absent object or an empty list
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
 * have is logged as an error and returns null, any other failure is 502 (08 P6, P10).
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

/**
 * Compares the status that the panel answered with the desired one, and enables or disables the user where they differ: a PATCH with
 * `DISABLED` changes nothing on a `LIMITED` or `EXPIRED` user, and one that raises the limit makes a `LIMITED` user `ACTIVE` (08 P1).
 * A desired `ACTIVE` accepts `LIMITED` while the traffic is used up, since the panel's own reset ends it.
 * @throws PanelError `unavailable` when the panel has another status afterwards, so that the push is repeated
 */
export async function enforceStatus(app: App, user: PanelUser, wanted: 'ACTIVE' | 'DISABLED'): Promise<PanelUser> {
  const { panel } = app.ports;
  if (isInForce(user, wanted)) return user;
  const changed = mustExist(await (wanted === 'ACTIVE' ? panel.enableUser(user.uuid) : panel.disableUser(user.uuid)));
  if (isInForce(changed, wanted)) return changed;
  throw new PanelError('unavailable', `VPN panel: the user is ${changed.status} and should be ${wanted}`);
}

function isInForce(user: PanelUser, wanted: 'ACTIVE' | 'DISABLED'): boolean {
  return user.status === wanted || (wanted === 'ACTIVE' && user.status === 'LIMITED' && isUsedUp(user));
}

function isUsedUp(user: PanelUser): boolean {
  return user.trafficLimitBytes > 0 && user.usedTrafficBytes >= user.trafficLimitBytes;
}

/** Of the subscription of a panel user. */
interface StoredLinks {
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
}

/**
 * The same user with its crypto link: a panel that does not return it is asked to encrypt the address; null when it cannot. Never throws.
 * @param stored one that is stored for the same address remains, and the panel is not asked
 */
export async function withCryptoLink(app: App, user: PanelUser, stored: StoredLinks | null = null): Promise<PanelUser> {
  if (user.cryptoLink !== null || user.subscriptionUrl === '') return user;
  if (stored?.subscriptionUrl === user.subscriptionUrl && stored.subscriptionCryptoLink !== null) return user;
  return { ...user, cryptoLink: await app.ports.panel.encryptLink(user.subscriptionUrl) };
}

/** The panel user was deleted between two calls; the next try starts from the look-up. */
export function mustExist(user: PanelUser | null): PanelUser {
  if (user) return user;
  throw new PanelError('unavailable', 'VPN panel: the user was deleted during the change', { status: 404 });
}

/**
 * What keeps every push from the panel: no settings, an address that does not answer, a key that it refuses. It is a property of the
 * installation, not of a subscription (08 P12).
 */
export type OutageReason = 'refused_key' | 'not_configured' | 'unavailable';

const KEY = 'panel:outage';

interface StoredOutage {
  reason: OutageReason | 'none';
}

/** Why this error concerns all subscriptions; null for one that concerns a single call. */
export function outageReasonOf(error: unknown): OutageReason | null {
  if (!isPanelError(error)) return null;
  if (error.kind === 'not_configured') return 'not_configured';
  if (error.status === 401 || error.status === 403) return 'refused_key';
  return error.kind === 'unavailable' && error.errorCode === null && error.status !== 404 ? 'unavailable' : null;
}

/** The outage that the reconciler has to see the end of; null = none. */
export async function readOutage(app: Pick<App, 'db'>): Promise<OutageReason | null> {
  const stored = await readState<StoredOutage>(app.db, KEY);
  return stored === null || stored.reason === 'none' ? null : stored.reason;
}

/** Records an outage. The administrators' chat gets one notice when the panel begins to refuse the key. */
export async function recordOutage(app: App, reason: OutageReason): Promise<void> {
  const known = await readOutage(app);
  if (known === reason || (known === 'refused_key' && reason === 'unavailable')) return;
  await inTransaction(app, async (t) => {
    if (!(await writeStateIfChanged(t.db, KEY, { reason })) || reason !== 'refused_key') return;
    t.log.error({ alarm: 'panel_refused_key' }, 'provisioning: the panel refuses the key; all pushes wait');
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
    if (chat === null) return;
    await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'panel.admin_refused_key', {}) });
  });
}

export async function endOutage(app: App): Promise<void> {
  await writeStateIfChanged(app.db, KEY, { reason: 'none' });
}
