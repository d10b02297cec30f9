import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { lockState, readState, writeState } from '../../core/service-state.ts';
import { configAdmins, isConfigAdmin } from '../access/effective-access.ts';
import type { SessionUser } from '../identity/types.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, text } from '../messaging/texts.ts';
import { definitionOf } from '../settings/catalogue/catalogue.ts';

export const maintenance = refusal('maintenance', 503, {
  code: 'maintenance',
  message: 'Maintenance is under way. The service will be back soon, thank you for your patience.',
  reason: null,
});

const STATE_KEY = 'maintenance';
/** A change reaches every instance with its commit; this is for a lost notification. */
const TRUST_MS = 5 * SECOND_MS;
const RETRY_PAUSE_MS = SECOND_MS;

/** The state that all instances share. Not for use inside a transaction. */
function readMaintenance(app: App): Promise<MaintenanceState> {
  return app.cache.read(STATE_KEY, TRUST_MS, async () => ({
    ...NO_MAINTENANCE,
    ...(await readState<Partial<MaintenanceState>>(app.db, STATE_KEY)),
  }));
}

/**
 * Row 8 of the cabinet gate: while maintenance is on, only config admins are served.
 * @throws AppError 503 {code: 'maintenance', message, reason}
 */
export async function assertNoMaintenance(app: App, user: SessionUser): Promise<void> {
  const notice = await readMaintenanceNotice(app, user.language);
  if (notice === null || isConfigAdmin(app, user)) return;
  throw maintenance({ detail: notice });
}

export type MaintenanceNotice = { code: 'maintenance'; message: string; reason: string | null };

/**
 * The answer to callers while maintenance is on: switched on by hand (also by the setting `MAINTENANCE_MODE`) the operator's message;
 * switched on by the checks a text with the time of the last check. Mini-app calls answer it to all users (spec 06 section 14).
 * @returns null = not on
 */
export async function readMaintenanceNotice(app: App, language: string | null): Promise<MaintenanceNotice | null> {
  const state = await readMaintenance(app);
  const byHand = app.settings.get('MAINTENANCE_MODE') || (state.isActive && !state.isAuto);
  if (byHand) {
    return { code: 'maintenance', message: operatorsMessage(app, language), reason: state.isAuto ? null : state.reason };
  }
  if (!state.isActive) return null;
  const checked = state.checkedAt === null ? '—' : `${state.checkedAt.slice(11, 16)} UTC`;
  return { code: 'maintenance', message: text(language, 'errors.maintenance_auto', { checked }), reason: state.reason };
}

/** What an operator wrote, as written; the text of this service, which nobody has changed, in the reader's language (spec 10 U7). */
function operatorsMessage(app: App, language: string | null): string {
  const message = app.settings.get('MAINTENANCE_MESSAGE');
  return message === definitionOf('MAINTENANCE_MESSAGE').default ? text(language, 'errors.maintenance') : message;
}

/** Switches maintenance on or off by hand, with the commit on every instance. @param reason shown to callers; null = none */
export async function setMaintenance(app: App, isActive: boolean, reason: string | null): Promise<void> {
  await changeState(app, (state, now) => ({
    state: { ...state, isActive, isAuto: false, reason: isActive ? reason : null, since: isActive ? now.toISOString() : null },
    changes: state.isActive === isActive ? [] : [isActive ? 'maintenance_on' : 'maintenance_off'],
  }));
}

/**
 * One check of the panel: a job every `MAINTENANCE_CHECK_INTERVAL` seconds. The third failure in a row switches maintenance on (with
 * `MAINTENANCE_AUTO_ENABLE`), the next success switches it off again. Administrators are notified of each change. With the checks
 * switched off, a maintenance that they had started ends.
 */
export async function watchPanel(app: App): Promise<void> {
  const isWatching = app.settings.get('MAINTENANCE_MONITORING_ENABLED');
  const check = isWatching ? await checkPanel(app) : 'unconfigured';
  const mayStart = app.settings.get('MAINTENANCE_AUTO_ENABLE');
  await changeState(app, (state, now) => applyCheck(state, check, { mayStart, now }));
}

/** Outside every transaction. */
async function checkPanel(app: App): Promise<PanelCheck> {
  const { panel } = app.ports;
  if (panel.configurationError() !== null) return 'unconfigured';
  const tries = app.settings.get('MAINTENANCE_RETRY_ATTEMPTS');
  for (let attempt = 1; attempt <= tries; attempt++) {
    if (attempt > 1) await delay(RETRY_PAUSE_MS);
    try {
      await panel.getSystemStats();
      return 'up';
    } catch (error) {
      app.log.warn({ err: error, attempt }, 'the check of the panel failed');
    }
  }
  return 'down';
}

type Transition = (state: MaintenanceState, now: Date) => { state: MaintenanceState; changes: MaintenanceChange[] };

/** Locks the row, so that concurrent checks of two instances are both counted. */
async function changeState(app: App, transition: Transition): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = { ...NO_MAINTENANCE, ...(await lockState<MaintenanceState>(t.db, STATE_KEY)) };
    const now = t.clock.now();
    const { state: changed, changes } = transition(before, now);
    const { state, notices } = selectNotices(changed, changes, now);
    await writeState(t.db, STATE_KEY, state);
    // Every check changes the time of the last check; other instances need to know only what changes their answers.
    if (before.isActive !== state.isActive || before.isAuto !== state.isAuto || before.reason !== state.reason) {
      await t.cache.forget(t, [STATE_KEY]);
    }
    for (const change of notices) await notifyAdmins(t, change);
  });
}

/** To the administrators' chat, topic of infrastructure; without one to each configured administrator. */
async function notifyAdmins(t: App, change: MaintenanceChange): Promise<void> {
  t.log.warn({ change }, 'maintenance: the state has changed');
  const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), `messages.watch_${change}`);
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
  const receivers = chat ? [chat] : [...configAdmins(t).messengerIds].map((messengerId) => ({ messengerId }));
  for (const receiver of receivers) await sendMessage(t, { ...receiver, html });
}

/** State of the maintenance mode and of the checks of the panel, shared by all instances. */
export interface MaintenanceState {
  isActive: boolean;
  /** Switched on by the checks, which also switch it off. */
  isAuto: boolean;
  /** Reason for the answer; null = none was given. */
  reason: string | null;
  /** ISO 8601; null while off. */
  since: string | null;
  /** `unknown` before the first check. */
  panel: 'unknown' | 'up' | 'down';
  /** Failed checks in a row. */
  failures: number;
  /** ISO 8601 of the last check. */
  checkedAt: string | null;
  /** ISO 8601 of the last notices that the panel is away, and that it is back. */
  notifiedAt: { panel_down?: string; panel_up?: string };
}

export const NO_MAINTENANCE: MaintenanceState = {
  isActive: false,
  isAuto: false,
  reason: null,
  since: null,
  panel: 'unknown',
  failures: 0,
  checkedAt: null,
  notifiedAt: {},
};

/** A panel that goes away and comes back all the time is reported at most this often. */
const NOTICE_PAUSE_MS = 5 * MINUTE_MS;

/** Failed checks in a row that switch maintenance on. */
const FAILURES_TO_START = 3;
const AUTO_REASON = 'panel_unavailable';

/** Result of one check of the panel. `unconfigured`: address or key is missing, no call was made. */
export type PanelCheck = 'up' | 'down' | 'unconfigured';

/** Changes that administrators are notified of. */
export type MaintenanceChange = 'panel_down' | 'panel_up' | 'maintenance_on' | 'maintenance_off';

/** The state after one more check. A panel that is not configured starts nothing and ends a maintenance that the checks had started. */
export function applyCheck(
  state: MaintenanceState,
  check: PanelCheck,
  options: { mayStart: boolean; now: Date },
): { state: MaintenanceState; changes: MaintenanceChange[] } {
  const checkedAt = options.now.toISOString();
  if (check !== 'down') {
    const isOver = state.isActive && state.isAuto;
    const next = { ...state, panel: check === 'up' ? ('up' as const) : ('down' as const), failures: 0, checkedAt };
    const changes: MaintenanceChange[] = [];
    if (check === 'up' && state.failures > 0) changes.push('panel_up');
    if (isOver) changes.push('maintenance_off');
    return { state: isOver ? { ...next, isActive: false, isAuto: false, reason: null, since: null } : next, changes };
  }
  const failures = state.failures + 1;
  const starts = options.mayStart && !state.isActive && failures >= FAILURES_TO_START;
  const next: MaintenanceState = { ...state, panel: 'down', failures, checkedAt };
  const changes: MaintenanceChange[] = [
    ...(failures === 1 ? (['panel_down'] as const) : []),
    ...(starts ? (['maintenance_on'] as const) : []),
  ];
  return { state: starts ? { ...next, isActive: true, isAuto: true, reason: AUTO_REASON, since: checkedAt } : next, changes };
}

/** Which changes are notified, and the state that records it: those of the mode always, those of the panel once in five minutes each. */
function selectNotices(
  state: MaintenanceState,
  changes: readonly MaintenanceChange[],
  now: Date,
): { state: MaintenanceState; notices: MaintenanceChange[] } {
  const notifiedAt = { ...state.notifiedAt };
  const notices = changes.filter((change) => {
    if (change !== 'panel_down' && change !== 'panel_up') return true;
    const last = notifiedAt[change];
    if (last !== undefined && now.getTime() - new Date(last).getTime() < NOTICE_PAUSE_MS) return false;
    notifiedAt[change] = now.toISOString();
    return true;
  });
  return { state: { ...state, notifiedAt }, notices };
}
