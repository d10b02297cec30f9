import { isDeepStrictEqual } from 'node:util';
import { isPanelError, PanelError, type PanelGeneration } from '../../domain/provisioning/ports.ts';
import { isRecord, operation, type PanelOperation, type PanelTransport, panelPath } from './panel-transport.ts';

// Two generations of the panel's interface are in use. Up to version 2 a user is addressed by uuid and found by messenger id and
// e-mail directly (spec 06 section 9). From version 3 on users have only a number, found through the filtered list, and the
// panel no longer encrypts links.

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

/** What is known of the panel's version. */
export interface PanelVersions {
  /** The version to make calls by. */
  current(): Promise<PanelVersion>;
  /** Asks the panel by a request that begins now. */
  ask(): Promise<PanelVersion>;
  /** Asks again before the next call that depends on it: the panel says that it was started. */
  forget(): void;
}

/**
 * Reads the panel's version once per address and ten minutes, and again after every outage: the panel may have been replaced by another
 * version in place (spec 10 V1).
 */
export function createPanelVersions(transport: PanelTransport, monotonicMs: () => number): PanelVersions {
  let known: { baseUrl: string; outages: number; until: number; version: Promise<PanelVersion> } | null = null;
  const isCurrent = (entry: NonNullable<typeof known>) =>
    entry.baseUrl === transport.baseUrl() && entry.outages === transport.outages() && entry.until > monotonicMs();
  function ask(): Promise<PanelVersion> {
    const asked = operation.run({ version: null, isDoubtful: false }, () => askVersion(transport));
    const entry = {
      ...{ baseUrl: transport.baseUrl(), outages: transport.outages() },
      ...{ until: monotonicMs() + CACHED_MS, version: asked },
    };
    known = entry;
    asked.catch(() => {
      if (known === entry) known = null;
    });
    return asked;
  }
  return {
    async current() {
      const version = await (known && isCurrent(known) ? known.version : ask());
      const current = operation.getStore();
      if (current) current.version ??= version;
      return version;
    },
    ask,
    forget() {
      known = null;
    },
  };
}

const MAX_ROUNDS = 3;

/**
 * Carries out an operation of the port. Absence and a refusal are final only when the panel has still the version by which the operation was
 * made: a panel that was replaced in place does not know the routes and ids of the other version (spec 10 V1). After another answer the
 * version is asked for, and the operation is made again by the new one; what was refused so has had no effect.
 * @throws PanelError `unavailable` while the panel does not answer its version or changes it again and again
 */
export function confirmedByVersion<Args extends unknown[], T>(
  versions: PanelVersions,
  run: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  return async (...args) => {
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const seen: PanelOperation = { version: null, isDoubtful: false };
      const [result] = await operation.run(seen, () => Promise.allSettled([(async () => run(...args))()]));
      const isFinal = !seen.isDoubtful || seen.version === null || isDeepStrictEqual(seen.version, await versions.ask());
      if (!isFinal) continue;
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    }
    throw new PanelError('unavailable', 'VPN panel changes its version');
  };
}

/** A panel that has no route for its version is of the older generation; a proxy's page says nothing about the panel. */
async function askVersion(transport: PanelTransport): Promise<PanelVersion> {
  const text = await readPanelVersion(transport);
  return versionOf(text ?? '');
}

/** The panel's version; null for a panel that has no route for it or does not name one. @throws PanelError */
export async function readPanelVersion(transport: PanelTransport): Promise<string | null> {
  try {
    const path = panelPath('system', 'metadata');
    const answer = await transport.call({ method: 'GET', path, idempotent: true, isOptional: true });
    const version = answer.found && isRecord(answer.value) ? answer.value.version : null;
    return typeof version === 'string' && version.length <= 50 ? version : null;
  } catch (error) {
    if (isPanelError(error) && (error.status === 400 || error.status === 405)) return null;
    throw error;
  }
}

function versionOf(text: string): PanelVersion {
  const [major = 0, minor = 0] = (/^v?(\d+)(?:\.(\d+))?/i.exec(text)?.slice(1) ?? []).map((digits) => Number(digits ?? 0));
  return { generation: major >= 3 ? 'number' : 'uuid', hasRealtime: major < 2 || (major === 2 && minor < 7) };
}
