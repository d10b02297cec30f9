import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { storableText } from '../../core/db/storable-text.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import type { TextParams } from '../messaging/texts.ts';
import { isPanelError, type PanelUser } from '../provisioning/ports.ts';
import { alarmFilter, type FastCheck, fastCheckOf, gbText, sendFoundAlarms } from './check-traffic.ts';
import { insertViolations, storeSnapshots } from './repo.ts';

/** The panel returns at most so many users a page. */
const MAX_PAGE = 1_000;
/** The settings have no upper bound. */
const MAX_AT_ONCE = 50;
const MAX_VALID_MS = 365 * DAY_MS;
/** Messages are for the heaviest few: of the others only so many are stored. */
const MAX_KEPT = 1_000;

/**
 * Compares the used traffic of every panel user with the last reading, which is stored, and tells the administrators who used too much
 * since (job `traffic.fast-check`). Where the panel does not answer any more, it ends with what it has found; each user's next reading is
 * compared with the last one of that user. What is found is written with the readings: a process that ends before the messages loses none.
 */
export async function checkUsedTraffic(app: App, signal: AbortSignal): Promise<void> {
  const check = fastCheckOf(app.settings);
  if (check === null || app.ports.panel.configurationError() !== null) return;
  await storeIncreases(app, check, await nodeNames(app), signal);
  await sendFoundAlarms(app, app.clock.now());
}

async function nodeNames(app: App): Promise<ReadonlyMap<string, string>> {
  try {
    return new Map((await app.ports.panel.listNodes()).map(({ uuid, name }) => [uuid, name]));
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return new Map();
  }
}

/** Stores the heaviest increases of those whom the settings do not leave out. Reads some pages of the panel's users at once. */
async function storeIncreases(
  app: App,
  check: FastCheck,
  names: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const { panel } = app.ports;
  const { excludedUsers, countsNode } = alarmFilter(app.settings);
  const size = Math.min(app.settings.get('TRAFFIC_CHECK_BATCH_SIZE'), MAX_PAGE);
  const validMs = Math.min(app.settings.get('TRAFFIC_SNAPSHOT_TTL_HOURS') * HOUR_MS, MAX_VALID_MS);
  /** Bytes of the heaviest ones, the heaviest first. */
  let heaviest: number[] = [];

  const readPage = async (start: number): Promise<number> => {
    const { users, total } = await panel.listUsers({ start, size });
    const now = app.clock.now();
    const timestamps = { now, validFrom: addMs(now, -validMs), refreshBefore: addMs(now, -validMs / 4) };
    const rows = users.map(({ uuid, usedTrafficBytes }) => ({ panelUuid: uuid, usedBytes: usedTrafficBytes }));
    const byUuid = new Map(users.map((user) => [user.uuid.toLowerCase(), user]));
    const stored = await inTransaction(app, async (t) => {
      const increases = await storeSnapshots(t.db, rows, { ...timestamps, thresholdBytes: check.thresholdBytes });
      const violations = increases.flatMap(({ panelUuid, increaseBytes: bytes }) => {
        const user = byUuid.get(panelUuid);
        const isCounted = user && !excludedUsers.has(panelUuid) && countsNode(user.lastConnectedNodeUuid);
        const isHeavy = heaviest.length < MAX_KEPT || bytes > heaviest.at(-1)!;
        return isCounted && isHeavy ? [{ panelUuid, bytes, texts: textsOf(user, bytes, check, names) }] : [];
      });
      await insertViolations(t.db, violations, now);
      return violations;
    });
    heaviest = [...heaviest, ...stored.map(({ bytes }) => bytes)].sort((a, b) => b - a).slice(0, MAX_KEPT);
    return total;
  };

  /** Number of all users; 0 = no further page is to be read. */
  const pageOrEnd = async (start: number): Promise<number> => {
    try {
      return await readPage(start);
    } catch (error) {
      if (!isPanelError(error)) throw error;
      app.log.warn({ err: error, start }, 'traffic check: the panel gave no answer');
      return 0;
    }
  };

  // The first page says how many there are.
  let next = size;
  let end = await pageOrEnd(0);
  const work = async () => {
    for (let start = next; start < end && !signal.aborted; start = next) {
      next = start + size;
      end = Math.min(end, await pageOrEnd(start));
    }
  };
  const atOnce = Math.min(app.settings.get('TRAFFIC_CHECK_CONCURRENCY'), MAX_AT_ONCE);
  await Promise.all(Array.from({ length: atOnce }, work));
}

function textsOf(user: PanelUser, bytes: number, check: FastCheck, names: ReadonlyMap<string, string>): TextParams {
  return {
    user: storableText(nameOf(user)),
    uuid: user.uuid,
    node: storableText((user.lastConnectedNodeUuid !== null && names.get(user.lastConnectedNodeUuid)) || '—'),
    minutes: check.intervalMs / MINUTE_MS,
    used: gbText(bytes),
    threshold: gbText(check.thresholdBytes),
  };
}

function nameOf({ username, messengerId, email }: PanelUser): string {
  return [username, messengerId, email].filter((name) => name !== null).join(', ');
}
