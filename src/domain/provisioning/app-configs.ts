import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { drop, peek, put } from '../../core/short-lived.ts';
import { putSetting } from '../settings/change-setting.ts';
import type { SettingEditor } from '../settings/types.ts';
import { notConfigured, requirePanel } from './panel-access.ts';
import type { PanelAppConfig } from './panel-objects.ts';
import { isPanelError } from './ports.ts';

export const panelUnavailable = refusal(
  'panel_unavailable',
  502,
  'Failed to fetch config from VpnPanel: VPN panel: Server error (A<id>)',
);
export const invalidUuid = refusal('invalid_uuid', 400, 'Invalid UUID format');
export const appConfigNotSet = refusal('app_config_not_set', 400, 'VpnPanel subscription config is not configured');
export const appConfigNotFound = refusal('app_config_not_found', 404, 'Subscription config not found');

/** The configuration of the panel's subscription page that connection guides are made from (spec 02 section 11, spec 06 section 11). */

const SETTING = 'CABINET_VPNPANEL_SUB_CONFIG';
const UUID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An instance reads the copy of all instances again after this time. */
const LOCAL_COPY_MS = 10 * SECOND_MS;

const copyKey = (uuid: string) => `app_config:${uuid}`;

/** Reads from the panel for an administrator, who sees why it failed (spec 08 P10). */
async function orReason<T>(app: App, failure: string, read: () => Promise<T>): Promise<T> {
  requirePanel(app);
  try {
    return await read();
  } catch (error) {
    if (!isPanelError(error)) throw error;
    if (error.kind === 'not_configured') throw notConfigured(error.message);
    throw panelUnavailable({ detail: `${failure}: ${error.message}`, cause: error });
  }
}

/** The panel's own object. */
export type AppConfigContent = Record<string, unknown>;

/** The configuration in force; null = none. A blank setting is none. */
export function chosenAppConfig(app: App): string | null {
  return app.settings.get(SETTING)?.trim() || null;
}

/**
 * Chooses a configuration. Whether the panel has it is not checked.
 * @param uuid blank or null = none
 * @returns the uuid as sent, also where the environment sets another one
 * @throws AppError 400 'Invalid UUID format'
 */
export async function chooseAppConfig(app: App, editor: SettingEditor, uuid: string | null): Promise<string | null> {
  const chosen = uuid?.trim() || null;
  if (chosen !== null && !UUID_FORM.test(chosen)) throw invalidUuid();
  const before = chosenAppConfig(app);
  await putSetting(app, editor, SETTING, chosen);
  for (const key of new Set([before, chosen])) if (key !== null) await forgetCopy(app, key);
  return chosen;
}

/** What the panel has, in its order. @throws AppError 503 not configured | 502 with the reason */
export async function listAppConfigs(app: App): Promise<PanelAppConfig[]> {
  return orReason(app, 'Failed to fetch configs from VpnPanel', () => app.ports.panel.listAppConfigs());
}

/**
 * The chosen configuration, read from the panel again.
 * @throws AppError 400 none is chosen | 404 the panel does not have it | 503 not configured | 502 with the reason
 */
export async function readChosenAppConfig(app: App): Promise<PanelAppConfig & { config: AppConfigContent | null }> {
  const uuid = chosenAppConfig(app);
  if (uuid === null) throw appConfigNotSet();
  const found = await orReason(app, 'Failed to fetch config from VpnPanel', () => app.ports.panel.getAppConfig(uuid));
  if (found === null) throw appConfigNotFound();
  return found;
}

/**
 * The content of the chosen configuration for connection guides, from the copy that all instances share while it is younger than
 * APP_CONFIG_CACHE_TTL seconds: so guides are served while the panel is away, and a change of the uuid is in effect at once, because the
 * copy is found by uuid.
 * @returns null: none is chosen, the panel does not have it, or gave no answer
 */
export async function readAppConfigContent(app: App): Promise<AppConfigContent | null> {
  const uuid = chosenAppConfig(app);
  if (uuid === null || !UUID_FORM.test(uuid)) return null;
  const ttlSeconds = app.settings.get('APP_CONFIG_CACHE_TTL');
  const localMs = Math.min(LOCAL_COPY_MS, ttlSeconds * SECOND_MS);
  try {
    return await app.cache.read(copyKey(uuid), localMs, async () => {
      const copy = await peek<AppConfigContent>(app, copyKey(uuid));
      return copy ?? fetchContent(app, uuid, ttlSeconds);
    });
  } catch (error) {
    if (error instanceof NoContent) return null;
    throw error;
  }
}

/** Thrown so that the absence of a configuration is never cached. */
class NoContent extends Error {}

async function fetchContent(app: App, uuid: string, ttlSeconds: number): Promise<AppConfigContent> {
  const found = await app.ports.panel.getAppConfig(uuid).catch((error: unknown) => {
    if (!isPanelError(error)) throw error;
    app.log.warn(
      { kind: error.kind, status: error.status },
      'vpnpanel: the configuration of connection guides could not be read',
    );
    throw new NoContent('the panel gave no answer', { cause: error });
  });
  if (!found?.config) throw new NoContent('the panel has no such configuration');
  if (ttlSeconds > 0) await put(app, copyKey(uuid), found.config, ttlSeconds);
  return found.config;
}

async function forgetCopy(app: App, uuid: string): Promise<void> {
  await drop(app, copyKey(uuid));
  await app.cache.forget(app, [copyKey(uuid)]);
}
