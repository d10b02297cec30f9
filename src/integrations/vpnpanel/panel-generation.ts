import { isPanelError, PanelError } from '../../domain/provisioning/ports.ts';
import { isRecord, type PanelTransport, panelPath } from './panel-transport.ts';

/**
 * Two generations of the panel's interface are in use. Up to version 2 a user is addressed by uuid and found by messenger id and
 * e-mail directly (spec 06 section 9). From version 3 on users have only a number, found through the filtered list, and the
 * panel no longer encrypts links.
 */
export type PanelGeneration = 'uuid' | 'number';

const CACHED_MS = 10 * 60_000;
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Version 8 (free layout) uuids whose last group is the number: the domain keeps one kind of handle for both generations. */
const NUMBER_PREFIX = '00000000-0000-8000-8000-';
const LARGEST_NUMBER = 2 ** 48 - 1;

export function isUuid(text: string): boolean {
  return UUID_PATTERN.test(text);
}

/** Handle of a user that the panel identifies by number only. Webhook handlers use it too. @throws RangeError for no such number */
export function uuidFromPanelNumber(id: number): string {
  if (!Number.isSafeInteger(id) || id < 1 || id > LARGEST_NUMBER) throw new RangeError('not a panel user number');
  return NUMBER_PREFIX + id.toString(16).padStart(12, '0');
}

/** The reverse; null for a uuid of an older panel, which a newer one does not have. */
export function panelNumberFromUuid(uuid: string): number | null {
  if (!uuid.toLowerCase().startsWith(NUMBER_PREFIX)) return null;
  const id = Number.parseInt(uuid.slice(NUMBER_PREFIX.length), 16);
  return id > 0 ? id : null;
}

/** Checks a uuid before it is used in a path or body. @throws PanelError `rejected` */
export function requireUuid(uuid: string): string {
  if (!isUuid(uuid)) throw new PanelError('rejected', 'VPN panel call refused: not a uuid');
  return uuid;
}

/** @property hasRealtime whether nodes have the route of their current traffic; version 2.7 no longer has it (08 P6) */
export interface PanelVersion {
  generation: PanelGeneration;
  hasRealtime: boolean;
}

/**
 * Reads the panel's version once per address and ten minutes, so that an update of the panel is noticed without a restart. A
 * panel that does not answer its version is of the older generation.
 */
export function createVersionCache(transport: PanelTransport, monotonicMs: () => number): () => Promise<PanelVersion> {
  let known: { baseUrl: string; until: number; version: Promise<PanelVersion> } | null = null;
  return () => {
    const baseUrl = transport.baseUrl();
    if (known && known.baseUrl === baseUrl && known.until > monotonicMs()) return known.version;
    const entry = { baseUrl, until: monotonicMs() + CACHED_MS, version: askVersion(transport) };
    known = entry;
    entry.version.catch(() => {
      if (known === entry) known = null;
    });
    return entry.version;
  };
}

async function askVersion(transport: PanelTransport): Promise<PanelVersion> {
  try {
    const answer = await transport.call({
      method: 'GET',
      path: panelPath('system', 'metadata'),
      idempotent: true,
      isOptional: true,
    });
    const version = answer.found && isRecord(answer.value) ? answer.value.version : null;
    return versionOf(typeof version === 'string' ? version : '');
  } catch (error) {
    // No answer or wrong credentials do not show the version; the next call fails in the same way.
    const isUnknownPath = isPanelError(error) && (error.status === 404 || error.status === 405 || error.status === 400);
    if (isUnknownPath) return versionOf('');
    throw error;
  }
}

function versionOf(text: string): PanelVersion {
  const [major = 0, minor = 0] = (/^v?(\d+)(?:\.(\d+))?/i.exec(text)?.slice(1) ?? []).map((digits) => Number(digits ?? 0));
  return { generation: major >= 3 ? 'number' : 'uuid', hasRealtime: major < 2 || (major === 2 && minor < 7) };
}
